#include "stacks/claims.h"

#include <string.h>

#include "stacks/stack_raw.h"

void stack_item_as_claim(struct stack_item *item)
{
    for (uint32_t i = 0; item->crashed_first && i < item->stack.frame_count; i++) {
        struct frame *frame = &item->stack.frames[i];
        frame->module = NULL;
        if (frame->note == NOTE_NAMED_BY_INPUT) {
            frame->symbols = SYMBOLS_PDB;
            frame->note = NOTE_BREAKPAD_NO_ADDRESS;
        }
    }
}

void stacks_order_claims(struct stack *stacks, uint32_t count)
{
    uint32_t at = 0;
    while (at < count && stacks[at].role != THREAD_ROLE_SUSPECT)
        at++;
    if (at == 0 || at == count)
        return;
    const struct stack crashed = stacks[at];
    memmove(stacks + 1, stacks, at * sizeof *stacks);
    stacks[0] = crashed;
}

/* Moves what belongs to the input to KEEP. */
static bool keep_names(const struct stack *stack, struct arena *keep)
{
    const char *from = NULL, *copy = NULL;
    for (uint32_t i = 0; i < stack->frame_count; i++) {
        struct frame *frame = &stack->frames[i];
        if (frame->module_name != from) {
            from = frame->module_name;
            copy = arena_string(keep, from);
        }
        if (from != NULL && copy == NULL)
            return false;
        frame->module_name = copy;
        frame->module = NULL;
    }
    return true;
}

enum status stack_claims_read(const char *text, size_t bytes, struct arena *keep,
                              struct stack **out, uint32_t *count, struct fault *fault)
{
    struct stack_input *input;
    struct stack_item item;
    uint32_t room = 0;
    bool crashed_first = false;

    *out = NULL;
    *count = 0;
    if (stack_input_open_bytes(text, bytes, &input, fault) != ERR_NONE)
        return fault->code;
    while (fault->code == ERR_NONE && stack_input_next(input, keep, &item)) {
        if (item.fault.code != ERR_NONE) {
            *fault = item.fault;
            break;
        }
        stack_item_as_claim(&item);
        if (!ARENA_ROOM(keep, *out, room, (uint64_t)*count + 1) || !keep_names(&item.stack, keep)) {
            (void)fault_no_memory(fault, "stacks");
            break;
        }
        (*out)[(*count)++] = item.stack;
        crashed_first = crashed_first || item.crashed_first;
    }
    if (crashed_first)
        stacks_order_claims(*out, *count);
    stack_input_close(input);
    return fault->code;
}
