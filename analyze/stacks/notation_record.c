/* Record files (capture/record.h): the stack that crashed or hung, the others, then those that were
 * captured on demand, in the order of time. */
#include <string.h>

#include "stacks/notation.h"

static void describe_recorded(const struct record *record, const struct record_stack *from,
                              struct arena *keep, struct stack_item *out)
{
    const char *walker = record_walker_name(from->walker);

    record_stack_describe(record, from, &out->stack);
    out->stack.engine = arena_printf(keep, "offset:%s", walker);
    out->stack.label = arena_printf(keep, "%s%sthread %u %s", from->label ? from->label : "",
                                    from->label ? " " : "", (unsigned)from->thread_id, walker);
    if (from->sample != 0)
        out->stack.label =
            arena_printf(keep, "%s sample %u", out->stack.label, (unsigned)from->sample);
    out->label = out->stack.label;
}

/* Stacks captured on demand are replayed by time; the label states the time. */
static void next_capture(struct stack_input *input, struct arena *keep, struct stack_item *out)
{
    struct record_stack stack;

    if (record_capture_stack(&input->record, input->next_capture++, keep, &stack, &out->fault) !=
        ERR_NONE)
        return;
    describe_recorded(&input->record, &stack, keep, out);
    out->stack.label =
        arena_printf(keep, "%s%s@%llu.%09llu s thread %u", stack.label ? stack.label : "",
                     stack.label ? " " : "", (unsigned long long)(stack.at_ns / 1000000000U),
                     (unsigned long long)(stack.at_ns % 1000000000U), (unsigned)stack.thread_id);
    out->label = out->stack.label;
}

/* The crash is the first stack; what was captured on demand before it is its context. */
static const struct record_stack *take_stack(struct stack_input *input)
{
    const struct record *record = &input->record;
    const struct record_stack *crash = record_crash_stack(record);
    const uint32_t at = input->next_stack++;
    if (crash == NULL)
        return &record->stacks[at];
    const uint32_t first = (uint32_t)(crash - record->stacks);
    if (at == 0)
        return crash;
    return &record->stacks[at <= first ? at - 1 : at];
}

/* Whether the walker is the one that is asked for. */
static bool is_asked(const struct stack_input *input, const struct record_stack *stack)
{
    const struct record_stack *crash = record_crash_stack(&input->record);
    if (!input->one_walker || input->record.kind == RECORD_KIND_ON_DEMAND)
        return true;
    if (input->walker != NULL)
        return strcmp(record_walker_name(stack->walker), input->walker) == 0;
    return crash == NULL || stack->walker == crash->walker;
}

static const char *kind_of(uint32_t kind)
{
    if (kind == RECORD_KIND_HANG)
        return "hang";
    return kind == RECORD_KIND_ON_DEMAND ? "on demand" : NULL;
}

static bool next(struct stack_input *input, struct arena *keep, struct stack_item *out)
{
    if (input->next_stack == 0 && input->record.stacks == NULL && !input->reported) {
        char *data = NULL;
        size_t bytes = 0;
        if (input_read_rest(input, &data, &bytes, &input->record_fault) == ERR_NONE)
            (void)record_read(bytes_over(data, bytes, &input->record_fault), &input->arena,
                              &input->record);
    }
    out->kind = kind_of(input->record.kind);
    while (input->record.stacks != NULL && input->next_stack < input->record.stack_count) {
        out->is_event = input->next_stack == 0 && input->record.kind != RECORD_KIND_ON_DEMAND;
        const struct record_stack *stack = take_stack(input);
        if (is_asked(input, stack)) {
            describe_recorded(&input->record, stack, keep, out);
            return true;
        }
        input->left++;
    }
    if (input->one_walker && input->record.kind != RECORD_KIND_ON_DEMAND) {
        input->left += input->record.capture_count - input->next_capture;
        input->next_capture = input->record.capture_count;
    }
    if (input->next_capture < input->record.capture_count) {
        next_capture(input, keep, out);
        return true;
    }
    if (input->record_fault.code != ERR_NONE && !input->reported) {
        input->reported = true;
        out->fault = input->record_fault;
        fault_set_path(&out->fault, input->name);
        return true;
    }
    input->reported = true;
    return false;
}

static bool recognise(struct stack_input *input)
{
    return input->end - input->start >= 8 &&
           memcmp(input->buffer + input->start, RECORD_MAGIC, 8) == 0;
}

const struct notation notation_record = {.name = "record", .recognise = recognise, .next = next};
