/* How a row of a case came about: for each engine, how it found its frame, what it undid to
 * find the caller, and the bytes at that address. */
#include "pages/view.h"

#include <string.h>

#include "pages/asked.h"
#include "pages/rows.h"

static const struct frame_evidence *evidence_of(const struct stack *stack, uint32_t index)
{
    for (uint32_t i = 0; stack != NULL && i < stack->evidence_count; i++)
        if (stack->evidence[i].index == index)
            return &stack->evidence[i];
    return NULL;
}

static const char *identity_word(enum identity_state state)
{
    if (state == IDENTITY_CHECKED)
        return "checked";
    return state == IDENTITY_AMBIGUOUS ? "ambiguous" : "unchecked";
}

static void write_engine(struct json *out, const struct view_input *in, const struct run_case *c,
                         const struct thread_result *t, uint32_t row, uint32_t column)
{
    const struct align_cell *cell = thread_result_cell(t, row, column);
    const struct stack *stack = t->stacks[column - 1];
    const struct frame *f = cell->frame >= 0 && stack != NULL ? &stack->frames[cell->frame] : NULL;
    json_object(out);
    json_key_string(out, "engine", c->claims[column - 1].engine);
    json_key_string(out, "mark", cell_mark_name(cell->mark));
    json_key_string(out, "cause", cell->cause != CAUSE_NONE ? cause_name(cell->cause) : NULL);
    json_key_string(out, "stop", stack != NULL ? stack_stop_text(stack) : NULL);
    json_key(out, "frame");
    f != NULL ? view_write_frame(out, f) : json_null(out);
    json_key_string(out, "identity", f != NULL ? identity_word(f->identity) : NULL);
    json_key(out, "lookup_offset");
    f != NULL ? json_hex(out, frame_lookup_offset(f)) : json_null(out);
    json_key(out, "symbol_distance");
    f != NULL && f->function != NULL ? json_uint(out, f->symbol_distance) : json_null(out);
    json_key(out, "reached"); /* what was done in the frame below, to find this one */
    view_write_evidence(out, stack,
                        f != NULL && f->index > 0 ? evidence_of(stack, f->index - 1) : NULL,
                        c->arch, in->keep);
    json_key(out, "left"); /* what was done here, to find the caller */
    view_write_evidence(out, stack, f != NULL ? evidence_of(stack, f->index) : NULL, c->arch,
                        in->keep);
    json_object_end(out);
}

static void write_findings(struct json *out, const struct run_case *c,
                           const struct thread_result *t, uint32_t row)
{
    json_key_array(out, "findings");
    for (uint32_t i = 0; i < c->result.finding_count; i++)
        if (c->result.findings[i].thread_id == t->thread_id && c->result.findings[i].row == row)
            finding_write_json(out, &c->result.findings[i]);
    json_array_end(out);
}

enum status view_explain(const struct view_input *in, struct json *out, struct fault *fault)
{
    struct run_case c;
    uint64_t row = 0, thread = 0;
    if (view_get_uint(in, "frame", 0, UINT32_MAX, &row, fault) != ERR_NONE ||
        view_get_uint(in, "thread", 0, UINT32_MAX, &thread, fault) != ERR_NONE ||
        view_read_case(in, &c, fault) != ERR_NONE)
        return fault->code;
    if (thread >= c.result.thread_count || row >= c.result.threads[thread].row_count)
        return fault_set_hint(fault, ERR_ABSENT, FAULT_NO_OFFSET, "row of the case",
                              "frame counts the aligned rows from 0, thread the threads");
    const struct thread_result *t = &c.result.threads[thread];
    json_object(out);
    json_key_uint(out, "run", c.run_id);
    json_key_uint(out, "thread", thread);
    json_key_uint(out, "frame", row);
    json_key(out, "truth");
    const struct align_cell *cell = thread_result_cell(t, (uint32_t)row, 0);
    if (cell->frame >= 0 && t->truth != NULL)
        view_write_truth_frame(out, &t->truth->frames[cell->frame]);
    else
        json_null(out);
    json_key_array(out, "engines");
    for (uint32_t i = 0; i < c.claim_count; i++)
        if (t->stacks[i] != NULL)
            write_engine(out, in, &c, t, (uint32_t)row, i + 1);
    json_array_end(out);
    write_findings(out, &c, t, (uint32_t)row);
    json_object_end(out);
    return ERR_NONE;
}
