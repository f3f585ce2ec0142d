/* Rules about the shape of a stack: frames that one column has and the other lacks because of where
 * a walk started, how it continued, and where it ended.
 *
 * The table has a row for each frame, so a difference of shape is a gap: a row in which one of the
 * two columns has no frame. A rule looks at what is around it: is the gap at the start, at the end,
 * or between rows on which both agree; and how was the frame found that is, or comes next? Where
 * offset:rtl has poke 0x1005, middle 0x2005, main 0x3005 and start, and dump has
 *
 *   dump                                cause            evidence
 *   on_crash, dispatcher, poke ...      handler_context  2 extra frames, on_crash on top
 *   middle, main, start                 truncated        starts at app.exe!0x2005
 *   poke, middle, then no progress      truncated        stopped after 2 frames at app.exe!0x2005
 *   poke, main by frame pointer, start  frame_pointer    found app.exe!0x3005 by the frame pointer
 *   poke, middle, 0x7777 by scan ...    extra_scan       found app.exe!0x7777 by scanning the stack
 *   poke, helper inlined, middle ...    inline_only      only dump shows helper, inlined at 0x2005
 *
 * Order matters (cause.c): a stack that skips a frame by frame pointers has a gap like one that is
 * cut off, but goes on after it, and the truncated rule passes a gap between frames. */
#include "compare/cause_shape.h"

#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "base/limits.h"
#include "compare/same_names.h"

enum {
    CUT_NEIGHBOURS = 8, /* frames on each side of a cut that show which functions recur there */
};

static bool is_handler_frame(const struct frame *frame)
{
    static const char *const names[] = {
        "KiUserExceptionDispatcher",
        "RtlDispatchException",
        "UnhandledExceptionFilter",
        "RtlRaiseException",
        "RaiseException",
        "dispatch_exception",
        "call_vectored_handlers",
        "RtlpCallVectoredHandlers",
        "call_seh_handlers",
        "RtlpExecuteHandlerForException",
    };
    if (frame->frame_class == CLASS_CAPTURE)
        return true;
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (compare_names(names[i], frame->function))
            return true;
    return false;
}

/* The first frame of an exception handler that COLUMN has above the row, where OTHER has none at
 * all; NULL: it does not start in one.  COUNT: its frames there. */
static const struct frame *handler_above(const struct difference *d, uint32_t column,
                                         uint32_t other, uint32_t *count)
{
    const struct frame *handler = NULL;
    *count = 0;
    for (uint32_t row = 0; row < d->row && table_key(d->table, row, other) == NULL; row++) {
        const struct frame *frame = table_frame(d->table, row, column);
        *count += frame != NULL;
        if (handler == NULL && frame != NULL && is_handler_frame(frame))
            handler = frame;
    }
    return handler;
}

/* The frame that crashed is a return address to a walk that starts inside the exception handler. */
static bool handler_changes_kind(const struct difference *d, struct arena *keep,
                                 struct explanation *out)
{
    if (d->mark != CELL_PHYSICAL || d->against == 0 || !rule_row_agrees(d, d->row))
        return false;
    const uint32_t pair[2] = {d->column, d->against};
    for (int i = 0; i < 2; i++) {
        uint32_t frames = 0;
        const uint32_t column = pair[i], other = pair[1 - i];
        const struct frame *frame = table_frame(d->table, d->row, column);
        const struct frame *handler = handler_above(d, column, other, &frames);
        if (handler == NULL || frame->kind != PC_RETURN)
            continue;
        for (uint32_t row = 0; row < d->row; row++) {
            const struct frame_key *key = table_key(d->table, row, other);
            if (key != NULL && key->inline_depth == 0)
                return false; /* further out than the frame that crashed */
        }
        return rule_explain(
            out, CAUSE_HANDLER_CONTEXT, column,
            arena_printf(keep,
                         "%s starts inside the exception handler: %u extra frames, %s on top, and "
                         "%s is a return address to it, but crashed, says %s",
                         rule_engine(d, column), frames, rule_name(handler->function),
                         rule_where(frame, keep), rule_engine(d, other)));
    }
    return false;
}

/* The stack starts with frames of the exception handler, above the frames that crashed. */
bool because_handler_context(const struct difference *d, struct arena *keep,
                             struct explanation *out)
{
    const uint32_t column = rule_having(d);
    if (!rule_is_gap(d))
        return handler_changes_kind(d, keep, out);
    if (column == 0)
        return false;
    uint32_t frames = 0;
    const struct frame *handler = NULL;
    for (uint32_t row = 0; row < d->table->row_count && !rule_row_agrees(d, row); row++) {
        const struct frame *frame = table_frame(d->table, row, column);
        if (frame == NULL)
            continue;
        if (handler == NULL && is_handler_frame(frame))
            handler = frame;
        frames++;
    }
    if (handler == NULL || rule_block_start(d) != 0)
        return false;
    return rule_explain(
        out, CAUSE_HANDLER_CONTEXT, column,
        arena_printf(keep, "%s starts inside the exception handler: %u extra frames, %s on top",
                     rule_engine(d, column), frames, rule_name(handler->function)));
}

bool because_scan(const struct difference *d, struct arena *keep, struct explanation *out)
{
    const uint32_t columns[2] = {d->column, d->against};
    for (int i = 0; i < 2; i++) {
        const struct frame *frame =
            columns[i] == 0 ? NULL : table_frame(d->table, d->row, columns[i]);
        if (frame != NULL && frame->found_by == FOUND_SCAN)
            return rule_explain(out, CAUSE_EXTRA_SCAN, columns[i],
                                arena_printf(keep, "%s found %s by scanning the stack",
                                             rule_engine(d, columns[i]), rule_where(frame, keep)));
    }
    return false;
}

/* True when NAME is a function next to the place where frames were left out to stay within the
 * limit. */
static bool is_cut_function(const struct column *column, uint64_t name)
{
    uint32_t cut = UINT32_MAX;
    if (column->stack != NULL && column->stack->left_out > 0) {
        for (uint32_t i = 0; i < column->count && cut == UINT32_MAX; i++)
            if (column->stack->frames[i].index >= LIMIT_FRAMES_HEAD)
                cut = i;
    } else if (column->truth != NULL) {
        for (uint32_t i = 0; i < column->count && cut == UINT32_MAX; i++)
            if (column->truth->frames[i].gap == TRUTH_GAP_ELIDED)
                cut = i;
    }
    if (cut == UINT32_MAX)
        return false;
    const uint32_t from = cut > CUT_NEIGHBOURS ? cut - CUT_NEIGHBOURS : 0;
    for (uint32_t i = from; i < cut + CUT_NEIGHBOURS && i < column->count; i++)
        if (column->keys[i].name != 0 && column->keys[i].name == name)
            return true;
    return false;
}

bool because_recursion_elided(const struct difference *d, struct arena *keep,
                              struct explanation *out)
{
    const struct frame_key *key = table_key(d->table, d->row, rule_having(d));
    if (!rule_is_gap(d) || key == NULL)
        return false;
    for (uint32_t c = 0; c < d->table->column_count; c++) {
        if ((c != d->column && c != d->against) ||
            !is_cut_function(&d->table->columns[c], key->name))
            continue;
        return rule_explain(
            out, CAUSE_RECURSION_ELIDED, 0,
            arena_printf(keep,
                         "%s leaves out the middle of this recursion: the first %d and the "
                         "last %d frames are kept",
                         rule_engine(d, c), LIMIT_FRAMES_HEAD, LIMIT_FRAMES_TAIL));
    }
    return false;
}

bool because_tail_call(const struct difference *d, struct arena *keep, struct explanation *out)
{
    const struct truth_frame *truth = table_truth(d->table, d->row);
    if (!rule_is_gap(d) || d->against == 0 || truth == NULL || !truth->tail)
        return false;
    return rule_explain(out, CAUSE_TAIL_CALL, rule_having(d),
                        arena_printf(keep,
                                     "%s left by a tail call (a jump), so it has no frame any more",
                                     rule_name(truth->function)));
}

/* True when COLUMN has a physical frame at HAVE's place, in ROW or below. */
static bool holds_place(const struct difference *d, uint32_t column, const struct frame_key *have)
{
    for (uint32_t row = d->row; row < d->table->row_count; row++) {
        const struct frame_key *key = table_key(d->table, row, column);
        if (key == NULL)
            continue;
        return keys_same_place(key, have);
    }
    return false;
}

/* An inline frame of any engine in this row, at the place where COLUMN has its next frame. */
static bool inline_only_elsewhere(const struct difference *d, uint32_t column, uint32_t *witness)
{
    for (uint32_t c = 1; c < d->table->column_count; c++) {
        const struct frame_key *key = table_key(d->table, d->row, c);
        if (key == NULL || key->inline_depth == 0 || c == column || !holds_place(d, column, key))
            continue;
        *witness = c;
        return true;
    }
    return false;
}

/* No engine has the frame, but the subjects agree on the physical frames on both sides of it. */
static bool inline_only_unseen(const struct difference *d)
{
    uint32_t agreeing = 0;
    uint32_t above = d->row, below = d->row;
    while (above > 0 && table_key(d->table, above, d->column) == NULL)
        above--;
    while (below < d->table->row_count && table_key(d->table, below, d->column) == NULL)
        below++;
    if (below == d->table->row_count ||
        table_frame(d->table, below, d->column)->method_token != 0) /* see cause_managed.c */
        return false;
    const struct frame_key *inner = table_key(d->table, above, d->column);
    const struct frame_key *outer = table_key(d->table, below, d->column);
    for (uint32_t c = 1; c < d->table->column_count; c++) {
        const struct column *column = &d->table->columns[c];
        if (column->claim == NULL || !column->claim->subject)
            continue;
        const struct frame_key *a = table_key(d->table, above, c);
        const struct frame_key *b = table_key(d->table, below, c);
        if (table_key(d->table, d->row, c) != NULL)
            return false;
        agreeing += b != NULL && keys_same_place(b, outer) &&
                    (inner == NULL || (a != NULL && keys_same_place(a, inner)));
    }
    return agreeing >= 2;
}

bool because_inline_only(const struct difference *d, struct arena *keep, struct explanation *out)
{
    if (!rule_is_gap(d))
        return false;
    const struct frame_key *have = table_key(d->table, d->row, rule_having(d));
    uint32_t witness = rule_having(d);
    if (rule_having(d) == 0) { /* the truth has it */
        if (inline_only_elsewhere(d, d->column, &witness))
            return rule_explain(out, CAUSE_INLINE_ONLY, d->column,
                                arena_printf(keep,
                                             "%s has it as an inline frame at the same address",
                                             rule_engine(d, witness)));
        if (inline_only_unseen(d))
            return rule_explain(
                out, CAUSE_INLINE_ONLY, d->column,
                "the engines under test agree on the physical frames around it, so it was inlined");
        return false;
    }
    if (have == NULL || have->inline_depth == 0)
        return false;
    if (d->against != 0 && !holds_place(d, rule_lacking(d), have))
        return false;
    return rule_explain(
        out, CAUSE_INLINE_ONLY, d->against == 0 ? d->column : 0,
        arena_printf(
            keep, "only %s shows %s, inlined at 0x%" PRIx64, rule_engine(d, rule_having(d)),
            rule_name(table_frame(d->table, d->row, rule_having(d))->function), have->offset));
}

/* COLUMN has a frame further out that the other side has, too.  Without one, its last frames are
 * further in: in a recursion that it did not leave. */
static bool agrees_below(const struct difference *d, uint32_t column)
{
    const uint32_t other = column == d->column ? d->against : d->column;
    for (uint32_t row = d->row; row < d->table->row_count; row++)
        if (table_key(d->table, row, column) != NULL && table_key(d->table, row, other) != NULL)
            return true;
    return false;
}

/* Frames are missing at the outer end, where the walk stopped, or at the inner end, where the walk
 * started too late. */
bool because_truncated(const struct difference *d, struct arena *keep, struct explanation *out)
{
    const uint32_t column = rule_lacking(d);
    if (!rule_is_gap(d) || column == 0)
        return false;
    const struct frame *next = rule_next_frame(d, d->row, column);
    if (next != NULL && rule_previous_frame(d, d->row, column) == NULL)
        return rule_explain(out, CAUSE_TRUNCATED, column,
                            arena_printf(keep, "%s starts at %s: the frames further in are missing",
                                         rule_engine(d, column), rule_where(next, keep)));
    const struct stack *stack = d->table->columns[column].stack;
    /* A return address of 0 ends a stack, unless other engines continue after it. */
    if (stack == NULL || stack->stop == STOP_NONE || stack->stop == STOP_END ||
        (next != NULL && agrees_below(d, column)))
        return false;
    const struct frame *last = rule_previous_frame(d, d->row, column);
    return rule_explain(
        out, CAUSE_TRUNCATED, column,
        arena_printf(keep, "%s stopped after %u frames%s%s: %s", rule_engine(d, column),
                     last != NULL ? last->index + 1 : 0, last != NULL ? " at " : "",
                     last != NULL ? rule_where(last, keep) : "", stack_stop_text(stack)));
}

static bool has_frame_pointers(const struct difference *d, uint32_t column)
{
    for (uint32_t row = 0; row < d->table->row_count; row++) {
        const struct frame *frame = table_frame(d->table, row, column);
        if (frame != NULL && frame->found_by == FOUND_FRAME_POINTER)
            return true;
    }
    return false;
}

/* The row of the first frame of COLUMN at or below ROW; row_count: none. */
static uint32_t next_row(const struct difference *d, uint32_t row, uint32_t column)
{
    while (row < d->table->row_count && table_frame(d->table, row, column) == NULL)
        row++;
    return row;
}

/* True when COLUMN and WITNESS continue in the same way after this row: with the same frame, or
 * both end. */
static bool goes_on_alike(const struct difference *d, uint32_t column, uint32_t witness)
{
    const uint32_t row = next_row(d, d->row, column);
    if (row != next_row(d, d->row, witness))
        return false;
    if (row == d->table->row_count)
        return true;
    const struct frame_key *a = table_key(d->table, row, column);
    const struct frame_key *b = table_key(d->table, row, witness);
    return keys_same_place(a, b);
}

/* Some walkers follow frame pointers without reporting it. A walker that reports it is the
 * witness. */
static bool follows_chain(const struct difference *d, uint32_t *witness)
{
    for (uint32_t c = 1; c < d->table->column_count; c++) {
        if (c == d->against || c == d->column || !has_frame_pointers(d, c) ||
            !goes_on_alike(d, d->column, c))
            continue;
        *witness = c;
        return true;
    }
    return false;
}

/* A chain of frame pointers skips every function that does not keep one; it gives no other line. */
bool because_frame_pointer(const struct difference *d, struct arena *keep, struct explanation *out)
{
    const uint32_t columns[2] = {d->column, d->against};
    if (d->mark == CELL_LINE)
        return false;
    for (int i = 0; i < 2; i++) {
        for (uint32_t row = 0; columns[i] != 0 && row < d->table->row_count; row++) {
            const struct frame *frame = table_frame(d->table, row, columns[i]);
            if (frame != NULL && frame->found_by == FOUND_FRAME_POINTER)
                return rule_explain(out, CAUSE_FRAME_POINTER, columns[i],
                                    arena_printf(keep, "%s found %s by the frame pointer",
                                                 rule_engine(d, columns[i]),
                                                 rule_where(frame, keep)));
        }
    }
    uint32_t witness = 0; /* a subject reports how it found a frame, so it needs no witness */
    if (!rule_is_gap(d) || d->table->columns[d->column].claim->subject ||
        !follows_chain(d, &witness))
        return false;
    return rule_explain(out, CAUSE_FRAME_POINTER, d->column,
                        arena_printf(keep, "%s continues here as %s does, by frame pointers",
                                     rule_engine(d, d->column), rule_engine(d, witness)));
}

/* The truth ends where the return address was destroyed; frames that an engine still finds there
 * are unconfirmed. */
bool because_beyond_truth(const struct difference *d, struct arena *keep, struct explanation *out)
{
    const struct column *truth = &d->table->columns[0];
    const struct frame *mine = rule_mine(d);
    if (d->against != 0 || d->mark != CELL_EXTRA || mine == NULL || truth->truth == NULL ||
        truth->count == 0 || truth->truth->frames[truth->count - 1].gap != TRUTH_GAP_SYSTEM)
        return false;
    for (uint32_t row = d->row; row < d->table->row_count; row++) {
        const struct truth_frame *frame = table_truth(d->table, row);
        if (frame != NULL && frame->gap == TRUTH_GAP_NONE)
            return false;
    }
    return rule_explain(out, CAUSE_BEYOND_TRUTH, 0,
                        arena_printf(keep,
                                     "the truth ends here, its way back was destroyed; %s goes on "
                                     "with %s at %s",
                                     rule_engine(d, d->column), rule_name(mine->function),
                                     rule_where(mine, keep)));
}
