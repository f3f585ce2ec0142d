/* The load map of a text input: which module an address lies in; see stack_input.h. */
#include <string.h>

#include "base/array.h"
#include "stacks/stack_reader.h"

enum { RANGES_MAX = 1 << 14 };

void stack_input_addresses(struct stack_input *input)
{
    input->addresses = true;
}

/* Ranges are sorted by their start. A range that begins where another one does replaces it. */
bool input_map_module(struct stack_input *input, const struct module *module, uint64_t base_va,
                      uint64_t bytes)
{
    uint32_t at = input->range_count;

    if (bytes == 0 || base_va > UINT64_MAX - bytes || input->range_count == RANGES_MAX)
        return false;
    if (!ARENA_ROOM(&input->arena, input->ranges, input->range_room,
                    (uint64_t)input->range_count + 1))
        return false;
    while (at > 0 && input->ranges[at - 1].start_va > base_va)
        at--;
    if (at > 0 && input->ranges[at - 1].start_va == base_va) {
        at--;
    } else {
        memmove(input->ranges + at + 1, input->ranges + at,
                (input->range_count - at) * sizeof *input->ranges);
        input->range_count++;
    }
    input->ranges[at] = (struct input_range){base_va, base_va + bytes, module};
    return true;
}

void input_map_frame(const struct stack_input *input, struct frame *frame)
{
    const uint32_t low = ARRAY_UPPER(input->ranges, input->range_count, start_va, frame->pc_va);
    if (low == 0 || frame->pc_va >= input->ranges[low - 1].end_va)
        return;
    frame->module = input->ranges[low - 1].module;
    frame->module_name = frame->module->name;
    frame->offset = frame->pc_va - input->ranges[low - 1].start_va;
}
