/* See cause_step.h. */
#include "compare/cause_step.h"

#include <string.h>

#include "base/array.h"
#include "compare/blame_voters.h"

/* The rarest first: the one to look at first. */
static const char *const code_names[] = {
    "UWOP_PUSH_MACHFRAME", "UWOP_SET_FPREG",   "UWOP_EPILOG",      "UWOP_SAVE_XMM128",
    "UWOP_SAVE_NONVOL",    "UWOP_ALLOC_LARGE", "UWOP_ALLOC_SMALL", "UWOP_PUSH_NONVOL",
};

/* The codes, as bits, that were undone to leave a frame. */
static uint32_t codes_undone(const struct frame_evidence *e)
{
    uint32_t found = 0;
    for (const char *line = e->steps; line != NULL && *line != '\0';) {
        const size_t size = strcspn(line, "\n");
        for (size_t i = 0; *line == '+' && i < COUNT_OF(code_names); i++) {
            const char *at = strstr(line, code_names[i]);
            if (at != NULL && at < line + size)
                found |= 1U << i;
        }
        line += size + (line[size] == '\n');
    }
    return found;
}

/* The codes by which column C leaves its frame in ROW; 0: it has no evidence of that. */
static uint32_t codes_at(const struct difference *d, uint32_t row, uint32_t c)
{
    const struct stack *stack = d->table->columns[c].stack;
    const struct frame *frame = table_frame(d->table, row, c);
    for (uint32_t i = 0; frame != NULL && i < stack->evidence_count; i++)
        if (stack->evidence[i].index == frame->index)
            return codes_undone(&stack->evidence[i]);
    return 0;
}

/* Those of FIRST before the others of ALL. */
static const char *codes_text(uint32_t first, uint32_t all, struct arena *keep)
{
    const char *text = NULL;
    const uint32_t parts[] = {first, all & ~first};
    for (size_t p = 0; p < COUNT_OF(parts); p++)
        for (size_t i = 0; i < COUNT_OF(code_names); i++)
            if ((parts[p] >> i & 1) != 0)
                text = text == NULL ? code_names[i]
                                    : arena_printf(keep, "%s, %s", text, code_names[i]);
    return text;
}

static bool holds_place(const struct table *t, uint32_t column, const struct frame_key *place)
{
    const struct column *c = &t->columns[column];
    for (uint32_t i = 0; column != 0 && i < c->count; i++)
        if (keys_same_place(&c->keys[i], place))
            return true;
    return false;
}

/* A physical frame of one side, or of another engine where the truth has a function, that the other
 * side lacks or has elsewhere. An inlined one is lost by the walk where its place was lost. */
static bool is_of_walk(const struct difference *d)
{
    const uint32_t lacking = rule_lacking(d);
    const struct frame_key *have = table_key(d->table, d->row, rule_having(d));
    if (d->mark == CELL_PHYSICAL)
        return true;
    if (!rule_is_gap(d))
        return false;
    for (uint32_t c = 1; have == NULL && c < d->table->column_count; c++)
        have = table_key(d->table, d->row, c);
    return have != NULL &&
           (have->inline_depth == 0 || (lacking != 0 && !holds_place(d->table, lacking, have)));
}

/* The last row that both sides share, and the column that says how its frame was left; false: not
 * known. */
static bool find_parting(const struct difference *d, uint32_t *row, uint32_t *column)
{
    *row = rule_block_start(d);
    if (!is_of_walk(d) || *row == 0)
        return false;
    --*row;
    const struct frame_key *last = table_key(d->table, *row, d->column);
    for (uint32_t c = 1; last != NULL && c < d->table->column_count; c++) {
        const struct frame_key *same = table_key(d->table, *row, c);
        *column = c;
        if (same != NULL && keys_same_place(same, last) && codes_at(d, *row, c) != 0)
            return true;
    }
    return false;
}

const char *rule_parting(const struct difference *d, struct arena *keep, const char **codes)
{
    uint32_t row = 0, column = 0, right = 0;
    *codes = NULL;
    if (!find_parting(d, &row, &column))
        return NULL;
    const struct frame *frame = table_frame(d->table, row, column);
    const uint32_t all = codes_at(d, row, column);
    for (uint32_t r = 0; r < row; r++) {
        const struct frame *before = table_frame(d->table, r, column);
        if (before != NULL && before->index != frame->index)
            right |= codes_at(d, r, column);
    }
    *codes = codes_text(all & ~right, all, keep);
    return arena_printf(keep, "the walks part at %s (%s), which %s leaves by %s",
                        rule_name(frame->function), rule_where(frame, keep), rule_engine(d, column),
                        *codes);
}

bool because_stray_step(const struct difference *d, struct arena *keep, struct explanation *out)
{
    uint32_t row = 0, column = 0;
    const struct table *t = d->table;
    const struct frame_key *next = NULL;
    if (!find_parting(d, &row, &column) || (column != d->column && column != d->against))
        return false;
    while (++row < t->row_count && (next == NULL || next->inline_depth != 0))
        next = table_key(t, row, column) != NULL ? table_key(t, row, column) : next;
    if (next == NULL || table_frame(t, row - 1, column)->found_by == FOUND_SCAN)
        return false;
    for (uint32_t c = 1; c < t->column_count; c++)
        if (voter_of_walk(t, c) != column && holds_place(t, c, next))
            return false;
    const struct frame *frame = table_frame(t, row - 1, column);
    return rule_explain(out, CAUSE_WRONG_STEP, d->against == 0 ? d->column : 0,
                        arena_printf(keep, "%s: no other engine is then at %s",
                                     rule_parting(d, keep, &out->facts.left_by),
                                     rule_where(frame, keep)));
}
