/* Why two stacks differ: a table of rules, the most particular first.  Each rule looks at one
 * difference and either names its evidence or passes.  No rule guesses: what no rule can show
 * is CAUSE_UNEXPLAINED.
 *
 * A difference is a row in which a column and what it is held against do not agree.  The rows
 * around it that do not agree either are its block: a cause is often found in a neighbour
 * (the frame that an unwinder could not step over), so rules may look at the whole block. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/text.h"
#include "compare/parts.h"

enum {
    SYMBOLS_ASKED_MAX = 64,
    LOWEST_CODE_VA = 0x10000, /* below it nothing is ever mapped: a call through null */
};

bool cause_is_innocent(enum cause cause)
{
    return cause == CAUSE_NONE || cause == CAUSE_TAIL_CALL || cause == CAUSE_RECURSION_ELIDED ||
           cause == CAUSE_FOLDED || cause == CAUSE_UNSUPPORTED_HERE;
}

bool stop_is_end(const char *stop)
{
    return stop == NULL || strcmp(stop, "end of stack") == 0 ||
           strcmp(stop, "return address 0") == 0;
}

/* ---- looking around ------------------------------------------------------------------- */

static const char *where(const struct frame *frame, struct arena *keep)
{
    const char *module = frame->module != NULL        ? frame->module->name
                         : frame->module_name != NULL ? frame->module_name
                                                      : "?";
    return arena_printf(keep, "%s!0x%" PRIx64, module, frame->offset);
}

static const char *named(const char *function)
{
    return function != NULL ? function : "(no name)";
}

static const char *engine_of(const struct difference *d, uint32_t column)
{
    return column == 0 ? "truth" : d->table->columns[column].claim->engine;
}

static const struct frame *mine(const struct difference *d)
{
    return table_frame(d->table, d->row, d->column);
}

static const struct frame *theirs(const struct difference *d)
{
    return table_frame(d->table, d->row, d->against);
}

/* Of a MISSING or EXTRA frame: the column that has it, and the one that lacks it. */
static uint32_t having(const struct difference *d)
{
    return d->mark == CELL_MISSING ? d->against : d->column;
}

static uint32_t lacking(const struct difference *d)
{
    return d->mark == CELL_MISSING ? d->column : d->against;
}

static bool is_gap_kind(const struct difference *d)
{
    return d->mark == CELL_MISSING || d->mark == CELL_EXTRA;
}

/* Both columns have a frame in ROW (a frame at the same place, unless one is the truth). */
static bool row_agrees(const struct difference *d, uint32_t row)
{
    const struct frame_key *a = table_key(d->table, row, d->column);
    const struct frame_key *b = table_key(d->table, row, d->against);
    if (a == NULL || b == NULL)
        return false;
    return d->against == 0 || keys_same_place(a, b);
}

static uint32_t block_start(const struct difference *d)
{
    uint32_t row = d->row;
    while (row > 0 && !row_agrees(d, row - 1))
        row--;
    return row;
}

static uint32_t block_end(const struct difference *d)
{
    uint32_t row = d->row + 1;
    while (row < d->table->row_count && !row_agrees(d, row))
        row++;
    return row;
}

/* The nearest frame of COLUMN at or below ROW (further out), or NULL. */
static const struct frame *next_frame(const struct difference *d, uint32_t row, uint32_t column)
{
    for (; row < d->table->row_count; row++) {
        const struct frame *frame = table_frame(d->table, row, column);
        if (frame != NULL)
            return frame;
    }
    return NULL;
}

static const struct frame *previous_frame(const struct difference *d, uint32_t row, uint32_t column)
{
    while (row-- > 0) {
        const struct frame *frame = table_frame(d->table, row, column);
        if (frame != NULL)
            return frame;
    }
    return NULL;
}

/* The frame of COLUMN whose address decides the row: the one in it, else the next one out,
 * which holds the frames that were inlined into it. */
static const struct frame *host_of(const struct difference *d, uint32_t column)
{
    return column == 0 ? NULL : next_frame(d, d->row, column);
}

static bool explain(struct explanation *out, enum cause cause, uint32_t blame, const char *evidence)
{
    out->cause = cause;
    out->blame = blame;
    out->evidence = evidence;
    return true;
}

/* ---- rules ---------------------------------------------------------------------------- */

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
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (compare_names(names[i], frame->function))
            return true;
    return false;
}

/* Frames of the handler on top of the frames that died. */
static bool because_handler_context(const struct difference *d, struct arena *keep,
                                    struct explanation *out)
{
    const uint32_t column = having(d);
    if (!is_gap_kind(d) || column == 0)
        return false;
    uint32_t frames = 0;
    const struct frame *handler = NULL;
    for (uint32_t row = 0; row < d->table->row_count && !row_agrees(d, row); row++) {
        const struct frame *frame = table_frame(d->table, row, column);
        if (frame == NULL)
            continue;
        if (handler == NULL && is_handler_frame(frame))
            handler = frame;
        frames++;
    }
    if (handler == NULL || block_start(d) != 0)
        return false;
    return explain(out, CAUSE_HANDLER_CONTEXT, column,
                   arena_printf(keep, "%s begins inside the handler: %u frames with %s on top",
                                engine_of(d, column), frames, named(handler->function)));
}

static bool because_scan(const struct difference *d, struct arena *keep, struct explanation *out)
{
    const uint32_t columns[2] = {d->column, d->against};
    for (int i = 0; i < 2; i++) {
        const struct frame *frame =
            columns[i] == 0 ? NULL : table_frame(d->table, d->row, columns[i]);
        if (frame != NULL && frame->found_by == FOUND_SCAN)
            return explain(out, CAUSE_EXTRA_SCAN, columns[i],
                           arena_printf(keep, "%s found %s by scanning the stack",
                                        engine_of(d, columns[i]), where(frame, keep)));
    }
    return false;
}

/* The frames on both sides of the cut that keeps a stack at its limit. */
static bool is_cut_function(const struct column *column, uint64_t name)
{
    uint32_t cut = UINT32_MAX;
    if (column->stack != NULL && column->stack->left_out > 0) {
        for (uint32_t i = 0; i < column->count && cut == UINT32_MAX; i++)
            if (column->stack->frames[i].index >= LIMIT_FRAMES_HEAD)
                cut = i;
    } else if (column->truth != NULL) {
        for (uint32_t i = 0; i < column->count && cut == UINT32_MAX; i++)
            if (column->truth->frames[i].gap != NULL &&
                strcmp(column->truth->frames[i].gap, "elided") == 0)
                cut = i;
    }
    if (cut == UINT32_MAX)
        return false;
    const uint32_t from = cut > 8 ? cut - 8 : 0;
    for (uint32_t i = from; i < cut + 8 && i < column->count; i++)
        if (column->keys[i].name != 0 && column->keys[i].name == name)
            return true;
    return false;
}

static bool because_recursion_elided(const struct difference *d, struct arena *keep,
                                     struct explanation *out)
{
    const struct frame_key *key = table_key(d->table, d->row, having(d));
    if (!is_gap_kind(d) || key == NULL)
        return false;
    for (uint32_t c = 0; c < d->table->column_count; c++) {
        if ((c != d->column && c != d->against) ||
            !is_cut_function(&d->table->columns[c], key->name))
            continue;
        return explain(out, CAUSE_RECURSION_ELIDED, 0,
                       arena_printf(keep,
                                    "%s is cut inside this recursion: the first %d and the "
                                    "last %d frames are kept",
                                    engine_of(d, c), LIMIT_FRAMES_HEAD, LIMIT_FRAMES_TAIL));
    }
    return false;
}

static bool because_tail_call(const struct difference *d, struct arena *keep,
                              struct explanation *out)
{
    const struct truth_frame *truth = table_truth(d->table, d->row);
    if (!is_gap_kind(d) || d->against == 0 || truth == NULL || !truth->tail)
        return false;
    return explain(out, CAUSE_TAIL_CALL, having(d),
                   arena_printf(keep, "%s left by a jump, so its frame is truly gone",
                                named(truth->function)));
}

static bool is_ambiguous(const struct frame *frame)
{
    return frame->identity == IDENTITY_AMBIGUOUS ||
           (frame->module != NULL && frame->module->unloaded_at_ns != MODULE_STILL_LOADED &&
            frame->module->unloaded_at_ns != 0) ||
           (frame->note != NULL && strstr(frame->note, "unloaded") != NULL);
}

static bool is_generated(const struct frame *frame)
{
    return frame->frame_class == CLASS_GENERATED || frame->symbols == SYMBOLS_JIT ||
           (frame->module == NULL && frame->module_name == NULL && frame->offset >= LOWEST_CODE_VA);
}

typedef bool frame_test(const struct frame *frame);

/* The frame of either column that passes TEST: of the row itself; where a frame is missing or
 * too many, also of the whole block and the frame just inside it. */
static const struct frame *block_find(const struct difference *d, frame_test *test,
                                      uint32_t *column)
{
    /* What the truth demands and a stack lacks, the reference may show. */
    const uint32_t columns[2] = {d->column, d->against != 0 ? d->against : d->table->reference};
    for (int i = 0; i < 2; i++) {
        if (columns[i] == 0)
            continue;
        *column = columns[i];
        const bool wide = d->mark != CELL_FUNCTION && d->mark != CELL_LINE;
        const uint32_t start = wide ? block_start(d) : d->row;
        for (uint32_t row = start; row < (wide ? block_end(d) : d->row + 1); row++) {
            const struct frame *frame = table_frame(d->table, row, columns[i]);
            if (frame != NULL && test(frame))
                return frame;
        }
        const struct frame *inside = wide ? previous_frame(d, start, columns[i]) : NULL;
        if (inside != NULL && test(inside))
            return inside;
    }
    return NULL;
}

static bool because_module_unloaded(const struct difference *d, struct arena *keep,
                                    struct explanation *out)
{
    uint32_t column = 0;
    const struct frame *frame = block_find(d, is_ambiguous, &column);
    if (frame == NULL)
        return false;
    const char *what = frame->identity == IDENTITY_AMBIGUOUS ? "more than one module claims it"
                                                             : "its module was unloaded";
    return explain(
        out, CAUSE_MODULE_UNLOADED, d->against == 0 ? d->column : 0,
        arena_printf(keep, "%s at %s: %s", engine_of(d, column), where(frame, keep), what));
}

static bool because_generated_code(const struct difference *d, struct arena *keep,
                                   struct explanation *out)
{
    uint32_t column = 0;
    const struct frame *frame = block_find(d, is_generated, &column);
    if (frame == NULL)
        return false;
    return explain(out, CAUSE_GENERATED_CODE, d->against == 0 ? d->column : 0,
                   arena_printf(keep, "%s at %s: code that no image holds", engine_of(d, column),
                                where(frame, keep)));
}

/* Symbols: what answered for the frame whose name or line or inline frames are in question. */
static bool because_symbols(const struct difference *d, struct arena *keep, struct explanation *out,
                            enum cause cause, unsigned answered, const char *words)
{
    if (d->mark == CELL_PHYSICAL)
        return false;
    const uint32_t columns[2] = {d->column, d->against};
    for (int i = 0; i < 2; i++) {
        const struct frame *frame = host_of(d, columns[i]);
        if (frame == NULL || (answered & (1u << frame->symbols)) == 0)
            continue;
        /* A physical frame that is missing is not missing for want of symbols. */
        const struct frame *other = columns[i] == d->column ? theirs(d) : mine(d);
        if (is_gap_kind(d) && other != NULL && other->inline_depth == 0)
            continue;
        return explain(out, cause, columns[i],
                       arena_printf(keep, "%s at %s: %s%s%s", engine_of(d, columns[i]),
                                    where(frame, keep), words, frame->note != NULL ? ": " : "",
                                    frame->note != NULL ? frame->note : ""));
    }
    return false;
}

static bool because_symbols_mismatch(const struct difference *d, struct arena *keep,
                                     struct explanation *out)
{
    return because_symbols(d, keep, out, CAUSE_SYMBOLS_MISMATCH, 1u << SYMBOLS_MISMATCH,
                           "symbols of another build, nothing was guessed from them");
}

static bool because_symbols_missing(const struct difference *d, struct arena *keep,
                                    struct explanation *out)
{
    return because_symbols(d, keep, out, CAUSE_SYMBOLS_MISSING, 1u << SYMBOLS_NONE, "no symbols") ||
           because_symbols(d, keep, out, CAUSE_SYMBOLS_MISSING,
                           (1u << SYMBOLS_PDB_PUBLIC) | (1u << SYMBOLS_COFF),
                           "public symbols only, without lines and inlined functions");
}

static bool because_export_only(const struct difference *d, struct arena *keep,
                                struct explanation *out)
{
    return because_symbols(d, keep, out, CAUSE_EXPORT_ONLY, 1u << SYMBOLS_EXPORT,
                           "only the nearest export names it");
}

static bool asked_holds(const struct frame *asked, uint32_t count, const char *function,
                        uint32_t line)
{
    for (uint32_t i = 0; i < count; i++)
        if (compare_names(function, asked[i].function) && (line == 0 || asked[i].line == line))
            return true;
    return false;
}

/* True when FUNCTION at LINE is what the symbols say one byte off, and not at the address that
 * the contract asks for. */
static bool named_one_off(const struct difference *d, const struct frame *host,
                          const char *function, uint32_t line)
{
    const struct compare_symbols *symbols = d->in->symbols;
    if (symbols == NULL || symbols->at == NULL || function == NULL || host->offset == 0)
        return false;
    struct frame right[SYMBOLS_ASKED_MAX], off[SYMBOLS_ASKED_MAX];
    const uint64_t offset = frame_lookup_offset(host);
    const uint64_t other = host->kind == PC_RETURN ? host->offset : host->offset - 1;
    const uint32_t rights = symbols->at(symbols->context, host, offset, right, SYMBOLS_ASKED_MAX);
    const uint32_t offs = symbols->at(symbols->context, host, other, off, SYMBOLS_ASKED_MAX);
    return asked_holds(off, offs, function, line) && !asked_holds(right, rights, function, line);
}

static bool because_lookup_address(const struct difference *d, struct arena *keep,
                                   struct explanation *out)
{
    const struct frame *own = mine(d), *other = theirs(d);
    if (d->mark == CELL_PHYSICAL) {
        if (own == NULL || other == NULL)
            return false;
        const uint64_t apart =
            own->offset > other->offset ? own->offset - other->offset : other->offset - own->offset;
        if (apart > 1)
            return false;
        return explain(out, CAUSE_LOOKUP_ADDRESS, 0,
                       arena_printf(keep, "%s says %s (%s), %s says %s (%s)",
                                    engine_of(d, d->column), where(own, keep),
                                    pc_kind_name(own->kind), engine_of(d, d->against),
                                    where(other, keep), pc_kind_name(other->kind)));
    }
    const struct truth_frame *truth = d->against == 0 ? table_truth(d->table, d->row) : NULL;
    const struct {
        const char *function;
        uint32_t line;
        uint32_t column;
    } claims[3] = {
        {own != NULL ? own->function : NULL, own != NULL ? own->line : 0, d->column},
        {other != NULL ? other->function : NULL, other != NULL ? other->line : 0, d->against},
        {truth != NULL ? truth->function : NULL, truth != NULL ? truth->line : 0, d->column},
    };
    const struct frame *host = host_of(d, d->column);
    if (host == NULL)
        host = host_of(d, d->against);
    for (int i = 0; host != NULL && i < 3; i++)
        if (named_one_off(d, host, claims[i].function, claims[i].line))
            return explain(out, CAUSE_LOOKUP_ADDRESS, claims[i].column,
                           arena_printf(keep, "%s %s: one byte %s names %s line %u",
                                        pc_kind_name(host->kind), where(host, keep),
                                        host->kind == PC_RETURN ? "later" : "earlier",
                                        claims[i].function, claims[i].line));
    return false;
}

static bool because_folded(const struct difference *d, struct arena *keep, struct explanation *out)
{
    const struct frame *own = mine(d), *other = theirs(d);
    const struct truth_frame *truth = d->against == 0 ? table_truth(d->table, d->row) : NULL;
    if (d->mark != CELL_FUNCTION || own == NULL || own->inline_depth > 0)
        return false;
    const char *want = truth != NULL ? truth->function : other != NULL ? other->function : NULL;
    const struct compare_symbols *symbols = d->in->symbols;
    if (want != NULL && symbols != NULL && symbols->alias != NULL &&
        symbols->alias(symbols->context, own, want))
        return explain(out, CAUSE_FOLDED, 0,
                       arena_printf(keep, "%s and %s are one function at %s", named(own->function),
                                    want, where(own, keep)));
    if (other == NULL || own->function == NULL || other->function == NULL ||
        other->inline_depth > 0 || own->symbol_distance == 0 ||
        own->symbol_distance != other->symbol_distance || own->symbols == SYMBOLS_EXPORT)
        return false;
    return explain(
        out, CAUSE_FOLDED, 0,
        arena_printf(keep, "%s and %s start at the same address, 0x%" PRIx64 " before %s",
                     own->function, other->function, own->symbol_distance, where(own, keep)));
}

/* True when COLUMN has a physical frame at the place of HAVE at or below the row. */
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

/* No engine has the frame, yet the subjects agree on the physical frames on both sides. */
static bool inline_only_unseen(const struct difference *d)
{
    uint32_t agreeing = 0;
    uint32_t above = d->row, below = d->row;
    while (above > 0 && table_key(d->table, above, d->column) == NULL)
        above--;
    while (below < d->table->row_count && table_key(d->table, below, d->column) == NULL)
        below++;
    if (below == d->table->row_count)
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

static bool because_inline_only(const struct difference *d, struct arena *keep,
                                struct explanation *out)
{
    if (!is_gap_kind(d))
        return false;
    const struct frame_key *have = table_key(d->table, d->row, having(d));
    uint32_t witness = having(d);
    if (having(d) == 0) { /* the truth has it */
        if (inline_only_elsewhere(d, d->column, &witness))
            return explain(out, CAUSE_INLINE_ONLY, d->column,
                           arena_printf(keep, "%s has it as an inline frame at the same address",
                                        engine_of(d, witness)));
        if (inline_only_unseen(d))
            return explain(out, CAUSE_INLINE_ONLY, d->column,
                           "the subjects agree on the physical frames around it, so it has none");
        return false;
    }
    if (have == NULL || have->inline_depth == 0)
        return false;
    if (d->against != 0 && !holds_place(d, lacking(d), have))
        return false;
    return explain(
        out, CAUSE_INLINE_ONLY, d->against == 0 ? d->column : 0,
        arena_printf(keep, "%s alone expands %s, inlined at 0x%" PRIx64, engine_of(d, having(d)),
                     named(table_frame(d->table, d->row, having(d))->function), have->offset));
}

static bool because_truncated(const struct difference *d, struct arena *keep,
                              struct explanation *out)
{
    const uint32_t column = lacking(d);
    if (!is_gap_kind(d) || column == 0 || next_frame(d, d->row, column) != NULL)
        return false;
    const struct stack *stack = d->table->columns[column].stack;
    /* A return address of 0 ends a stack, unless others go on behind it. */
    if (stack == NULL || stack->stop == NULL || strcmp(stack->stop, "end of stack") == 0)
        return false;
    const struct frame *last = previous_frame(d, d->row, column);
    return explain(out, CAUSE_TRUNCATED, column,
                   arena_printf(keep, "%s stopped after %u frames%s%s: %s", engine_of(d, column),
                                last != NULL ? last->index + 1 : 0, last != NULL ? " at " : "",
                                last != NULL ? where(last, keep) : "", stack->stop));
}

/* A chain of frame pointers passes over every function that keeps none. */
static bool because_frame_pointer(const struct difference *d, struct arena *keep,
                                  struct explanation *out)
{
    const uint32_t columns[2] = {d->column, d->against};
    for (int i = 0; i < 2; i++) {
        for (uint32_t row = 0; columns[i] != 0 && row < d->table->row_count; row++) {
            const struct frame *frame = table_frame(d->table, row, columns[i]);
            if (frame != NULL && frame->found_by == FOUND_FRAME_POINTER)
                return explain(out, CAUSE_FRAME_POINTER, columns[i],
                               arena_printf(keep, "%s came to %s by the frame pointer",
                                            engine_of(d, columns[i]), where(frame, keep)));
        }
    }
    return false;
}

typedef bool rule_fn(const struct difference *d, struct arena *keep, struct explanation *out);

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
    because_inline_only,
    because_truncated,
    because_frame_pointer,
};

enum status difference_explain(const struct difference *d, struct arena *keep,
                               struct explanation *out, struct fault *fault)
{
    const struct frame *own = mine(d);
    const struct truth_frame *truth = table_truth(d->table, d->row);
    bool found = false;
    for (size_t i = 0; i < sizeof rules / sizeof rules[0] && !found; i++)
        found = rules[i](d, keep, out);
    if (!found)
        (void)explain(out, CAUSE_UNEXPLAINED, d->against == 0 ? d->column : 0,
                      arena_printf(keep, "no rule explains %s in %s",
                                   own != NULL     ? named(own->function)
                                   : truth != NULL ? named(truth->function)
                                                   : "a missing frame",
                                   engine_of(d, d->column)));
    if (out->evidence == NULL)
        return fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "evidence");
    return ERR_NONE;
}
