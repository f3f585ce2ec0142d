/* Rules about managed code. A portable PDB has no table of inlined methods, so nothing but the
 * frames on both sides shows that the JIT put a method into its caller. */
#include "compare/cause_managed.h"

#include <inttypes.h>

#include "compare/cause_names.h"

/* The frame of a method, with its token, that any engine has; NULL: no code here is managed. */
static const struct frame *managed_anywhere(const struct table *table)
{
    for (uint32_t c = 1; c < table->column_count; c++) {
        const struct column *column = &table->columns[c];
        for (uint32_t i = 0; i < column->count; i++)
            if (column->stack->frames[i].method_token != 0)
                return &column->stack->frames[i];
    }
    return NULL;
}

/* The nearest frame of COLUMN further in than the difference that is in no image; NULL: none. */
static const struct frame *generated_inside(const struct difference *d, uint32_t column)
{
    for (uint32_t row = d->row; row-- > 0;) {
        const struct frame *frame = table_frame(d->table, row, column);
        if (frame != NULL && frame->module == NULL && frame->module_name == NULL &&
            frame->method_token == 0 && frame->function == NULL)
            return frame;
    }
    return NULL;
}

/* A native frame that such a walk lacks, since it only guessed how to leave generated code. */
static bool because_lost_in_methods(const struct difference *d, const struct frame *have,
                                    struct arena *keep, struct explanation *out)
{
    const uint32_t column = rule_lacking(d);
    const struct frame *lost = generated_inside(d, column);
    if (lost == NULL || managed_anywhere(d->table) == NULL)
        return false;
    return rule_explain(out, CAUSE_NO_TOKEN, column,
                        arena_printf(keep,
                                     "%s walks without a code map, so it cannot leave %s to reach "
                                     "%s, which %s has",
                                     rule_engine(d, column), rule_where(lost, keep),
                                     rule_name(have->function), rule_engine(d, rule_having(d))));
}

/* A frame that a walk without the code map lacks. */
static bool because_no_code_map(const struct difference *d, struct arena *keep,
                                struct explanation *out)
{
    const struct frame *have = rule_mine(d) != NULL ? rule_mine(d) : rule_theirs(d);
    if (!rule_is_gap(d) || rule_lacking(d) == 0 || have == NULL ||
        (engine_claim_parts(d->table->columns[rule_lacking(d)].claim) & ENGINE_SHARES_DUMP_WALK) ==
            0)
        return false;
    if (have->method_token == 0)
        return because_lost_in_methods(d, have, keep, out);
    return rule_explain(
        out, CAUSE_NO_TOKEN, rule_lacking(d),
        arena_printf(keep,
                     "%s walks without a code map, so it cannot know %s (%s), which "
                     "%s has",
                     rule_engine(d, rule_lacking(d)), rule_name(have->function),
                     rule_where(have, keep), rule_engine(d, rule_having(d))));
}

/* Generated code without a name, in a process whose methods have tokens. */
bool because_no_token(const struct difference *d, struct arena *keep, struct explanation *out)
{
    if (because_no_code_map(d, keep, out))
        return true;
    const struct frame *method = managed_anywhere(d->table);
    uint32_t column = 0;
    const struct frame *frame = method != NULL ? rule_generated(d, &column) : NULL;
    if (frame == NULL || frame->function != NULL)
        return false;
    return rule_explain(out, CAUSE_NO_TOKEN, d->against == 0 ? d->column : 0,
                        arena_printf(keep,
                                     "%s at %s: generated code without a token, in a "
                                     "process that runs methods as %s",
                                     rule_engine(d, column), rule_where(frame, keep),
                                     rule_where(method, keep)));
}

/* The row of COLUMN's nearest frame from FROM on, by STEP; row_count: none. */
static uint32_t nearest(const struct table *t, uint32_t from, int step, uint32_t column)
{
    uint32_t row = from;
    while (row < t->row_count && table_key(t, row, column) == NULL)
        row += (uint32_t)step; /* below 0 it wraps to more than any row */
    return row < t->row_count ? row : t->row_count;
}

/* Another engine with D's frames on both sides of the row, and none in it; 0: none, or one has it.
 * Exhibits count: the runtime's own walk is independent of ours. */
static uint32_t agreeing(const struct difference *d, uint32_t inner, uint32_t outer)
{
    const struct table *t = d->table;
    uint32_t found = 0;
    for (uint32_t c = 1; c < t->column_count; c++) {
        if (table_key(t, d->row, c) != NULL)
            return 0;
        const struct frame_key *below = table_key(t, outer, c);
        const struct frame_key *above = inner < t->row_count ? table_key(t, inner, c) : NULL;
        if (found == 0 && c != d->column && below != NULL &&
            keys_same_place(below, table_key(t, outer, d->column)) &&
            (inner == t->row_count ||
             (above != NULL && keys_same_place(above, table_key(t, inner, d->column)))))
            found = c;
    }
    return found;
}

bool because_inlined_by_jit(const struct difference *d, struct arena *keep, struct explanation *out)
{
    if (d->against != 0 || d->mark != CELL_MISSING)
        return false;
    const struct table *t = d->table;
    const uint32_t inner = nearest(t, d->row, -1, d->column);
    const uint32_t outer = nearest(t, d->row, 1, d->column);
    const struct frame *caller = outer < t->row_count ? table_frame(t, outer, d->column) : NULL;
    const uint32_t other =
        caller != NULL && caller->method_token != 0 ? agreeing(d, inner, outer) : 0;
    if (other == 0)
        return false;
    const struct truth_frame *truth = table_truth(t, d->row);
    return rule_explain(out, CAUSE_INLINED_BY_JIT, truth != NULL && truth->tail ? 0 : d->column,
                        arena_printf(keep,
                                     "%s and %s agree on the frames around it: the JIT put it into "
                                     "%s (%s)",
                                     rule_engine(d, d->column), rule_engine(d, other),
                                     rule_name(caller->function), rule_where(caller, keep)));
}

/* A walk that ended where a collection had moved the thread, or at a return address that it had
 * replaced.  No walk can know more, and the truth may say so: then the walk is not wrong. */
bool because_hijacked(const struct difference *d, struct arena *keep, struct explanation *out)
{
    const uint32_t column = rule_lacking(d);
    if (!rule_is_gap(d) || column == 0 || d->table->columns[column].stack == NULL ||
        d->table->columns[column].stack->stop != STOP_HIJACKED ||
        rule_next_frame(d, d->row, column) != NULL)
        return false;
    const struct stack *stack = d->table->columns[column].stack;
    const struct frame *last = rule_previous_frame(d, d->row, column);
    const struct truth_frame *truth = d->against == 0 ? table_truth(d->table, d->row) : NULL;
    return rule_explain(
        out, CAUSE_HIJACKED, truth != NULL && truth->tail ? 0 : column,
        arena_printf(keep, "%s stopped after %" PRIu32 " frames%s%s: %s", rule_engine(d, column),
                     last != NULL ? last->index + 1 : 0, last != NULL ? " at " : "",
                     last == NULL ? "" : rule_where(last, keep), stack_stop_text(stack)));
}

bool is_managed_gap(const struct difference *d, struct arena *keep)
{
    struct explanation ignored = {0};
    return because_inlined_by_jit(d, keep, &ignored) || because_hijacked(d, keep, &ignored);
}
