/* See mismatch.h. */
#include "compare/mismatch.h"

#include <inttypes.h>

/* The last address that user code can have on x86-64 and ARM64 with 48 bits of address. */
#define HIGHEST_CODE_VA UINT64_C(0xffffffffffff)

bool cause_is_innocent(enum cause cause)
{
    return cause == CAUSE_NONE || cause == CAUSE_TAIL_CALL || cause == CAUSE_RECURSION_ELIDED ||
           cause == CAUSE_FOLDED || cause == CAUSE_UNSUPPORTED_HERE;
}

bool stop_is_end(enum stop_reason stop)
{
    return stop == STOP_NONE || stop == STOP_END || stop == STOP_RETURN_ZERO;
}

/* NULL: not known. */
static const char *module_name_of(const struct frame *frame)
{
    return frame->module != NULL ? frame->module->name : frame->module_name;
}

const char *rule_where(const struct frame *frame, struct arena *keep)
{
    const char *name = module_name_of(frame), *module = name != NULL ? name : "?";
    if (frame->method_token != 0)
        return arena_printf(keep, "%s!0x%" PRIx32 "+0x%" PRIx64, module, frame->method_token,
                            frame->offset);
    return arena_printf(keep, "%s!0x%" PRIx64, module, frame->offset);
}

const char *rule_name(const char *function)
{
    return function != NULL ? function : "(no name)";
}

const char *rule_engine(const struct difference *d, uint32_t column)
{
    return column == 0 ? FINDING_TRUTH : d->table->columns[column].claim->engine;
}

const struct frame *rule_mine(const struct difference *d)
{
    return table_frame(d->table, d->row, d->column);
}

const struct frame *rule_theirs(const struct difference *d)
{
    return table_frame(d->table, d->row, d->against);
}

uint32_t rule_having(const struct difference *d)
{
    return d->mark == CELL_MISSING ? d->against : d->column;
}

uint32_t rule_lacking(const struct difference *d)
{
    return d->mark == CELL_MISSING ? d->column : d->against;
}

bool rule_is_gap(const struct difference *d)
{
    return d->mark == CELL_MISSING || d->mark == CELL_EXTRA;
}

bool rule_row_agrees(const struct difference *d, uint32_t row)
{
    const struct frame_key *a = table_key(d->table, row, d->column);
    const struct frame_key *b = table_key(d->table, row, d->against);
    if (a == NULL || b == NULL)
        return false;
    return d->against == 0 || keys_same_place(a, b);
}

/* A block is as long as a stack, and each of its rows asks for it. */
static struct row_block block_of(const struct difference *d)
{
    struct row_block *last = d->table->last_block;
    if (last != NULL && last->column == d->column && last->against == d->against &&
        last->start <= d->row && d->row < last->end)
        return *last;
    struct row_block block = {d->column, d->against, d->row, d->row + 1};
    while (block.start > 0 && !rule_row_agrees(d, block.start - 1))
        block.start--;
    while (block.end < d->table->row_count && !rule_row_agrees(d, block.end))
        block.end++;
    if (last != NULL && !rule_row_agrees(d, d->row)) /* so it is that of each of its rows */
        *last = block;
    return block;
}

uint32_t rule_block_start(const struct difference *d)
{
    return block_of(d).start;
}

uint32_t rule_block_end(const struct difference *d)
{
    return block_of(d).end;
}

const struct frame *rule_next_frame(const struct difference *d, uint32_t row, uint32_t column)
{
    for (; row < d->table->row_count; row++) {
        const struct frame *frame = table_frame(d->table, row, column);
        if (frame != NULL)
            return frame;
    }
    return NULL;
}

const struct frame *rule_previous_frame(const struct difference *d, uint32_t row, uint32_t column)
{
    while (row-- > 0) {
        const struct frame *frame = table_frame(d->table, row, column);
        if (frame != NULL)
            return frame;
    }
    return NULL;
}

const struct frame *rule_host(const struct difference *d, uint32_t column)
{
    return column == 0 ? NULL : rule_next_frame(d, d->row, column);
}

uint64_t rule_lookup_offset(const struct frame *frame)
{
    if (frame->method_token != 0)
        return frame_lookup_offset(frame);
    return frame->offset - (frame->kind == PC_RETURN && frame->offset != 0 ? 1 : 0);
}

bool rule_is_made_up(const struct frame *frame)
{
    return frame->module == NULL && frame->module_name == NULL && frame->method_token == 0 &&
           frame->offset > HIGHEST_CODE_VA;
}

const char *rule_function(const struct difference *d)
{
    const struct truth_frame *truth = d->against == 0 ? table_truth(d->table, d->row) : NULL;
    const struct frame *own = rule_mine(d), *other = rule_theirs(d);
    if (truth != NULL && truth->function != NULL)
        return truth->function;
    if (other != NULL && other->function != NULL)
        return other->function;
    return own != NULL ? own->function : NULL;
}

const char *rule_module(const struct difference *d)
{
    const struct frame *frame = rule_mine(d) != NULL ? rule_mine(d) : rule_theirs(d);
    if (frame == NULL)
        frame = rule_host(d, d->column);
    if (frame == NULL)
        frame = rule_previous_frame(d, d->row, d->column);
    return frame != NULL ? module_name_of(frame) : NULL;
}

bool rule_explain(struct explanation *out, enum cause cause, uint32_t blame, const char *evidence)
{
    out->cause = cause;
    out->blame = blame;
    out->evidence = evidence;
    return true;
}
