/* Why two stacks differ: a table of rules, the most particular first.  Each rule looks at one
 * difference and either names its evidence or passes.  No rule guesses: what no rule can show
 * is CAUSE_UNEXPLAINED.
 *
 * A difference is a row in which a column and what it is held against do not agree.  The rows
 * around it that do not agree either are its block: a cause is often found in a neighbour
 * (the frame that an unwinder could not step over), so rules may look at the whole block. */
#include <inttypes.h>
#include <string.h>

#include "compare/cause_rules.h"

bool cause_is_innocent(enum cause cause)
{
    return cause == CAUSE_NONE || cause == CAUSE_TAIL_CALL || cause == CAUSE_RECURSION_ELIDED ||
           cause == CAUSE_FOLDED || cause == CAUSE_UNSUPPORTED_HERE;
}

bool stop_is_end(enum stop_reason stop)
{
    return stop == STOP_NONE || stop == STOP_END || stop == STOP_RETURN_ZERO;
}

const char *rule_where(const struct frame *frame, struct arena *keep)
{
    const char *module = frame->module != NULL        ? frame->module->name
                         : frame->module_name != NULL ? frame->module_name
                                                      : "?";
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

uint32_t rule_block_start(const struct difference *d)
{
    uint32_t row = d->row;
    while (row > 0 && !rule_row_agrees(d, row - 1))
        row--;
    return row;
}

uint32_t rule_block_end(const struct difference *d)
{
    uint32_t row = d->row + 1;
    while (row < d->table->row_count && !rule_row_agrees(d, row))
        row++;
    return row;
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

bool rule_explain(struct explanation *out, enum cause cause, uint32_t blame, const char *evidence)
{
    out->cause = cause;
    out->blame = blame;
    out->evidence = evidence;
    return true;
}

static rule_fn *const rules[] = {
    because_scan,
    because_handler_context,
    because_recursion_elided,
    because_tail_call,
    because_module_unloaded,
    because_generated_code,
    because_symbols_mismatch,
    because_symbols_missing,
    because_export_only,
    because_lookup_address,
    because_folded,
    because_line_table,
    because_inline_only,
    because_truncated,
    because_frame_pointer,
};

/* What is not explained, as exactly as it can be said. */
static const char *unexplained(const struct difference *d, struct arena *keep)
{
    const struct frame *own = rule_mine(d), *other = rule_theirs(d);
    const struct truth_frame *truth = table_truth(d->table, d->row);
    const uint32_t line = other != NULL ? other->line : truth != NULL ? truth->line : 0;
    if (d->mark == CELL_LINE && own != NULL && line != 0)
        return arena_printf(
            keep, "no rule explains line %" PRIu32 " of %s in %s: %s has line %" PRIu32, own->line,
            rule_name(own->function), rule_engine(d, d->column), rule_engine(d, d->against), line);
    return arena_printf(keep, "no rule explains %s in %s",
                        own != NULL     ? rule_name(own->function)
                        : truth != NULL ? rule_name(truth->function)
                                        : "a missing frame",
                        rule_engine(d, d->column));
}

enum status difference_explain(const struct difference *d, struct arena *keep,
                               struct explanation *out, struct fault *fault)
{
    bool found = false;
    for (size_t i = 0; i < sizeof rules / sizeof rules[0] && !found; i++)
        found = rules[i](d, keep, out);
    if (!found)
        (void)rule_explain(out, CAUSE_UNEXPLAINED, d->against == 0 ? d->column : 0,
                           unexplained(d, keep));
    if (out->evidence == NULL)
        return fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "evidence");
    return ERR_NONE;
}
