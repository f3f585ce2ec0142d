/* Sequence alignment: many stacks and the truth into one table of rows.
 *
 * The table begins with the frames of the reference, one per row. Then the other columns are
 * merged: engines under test, reference engines, at last the truth. A merge pairs frames with rows
 * so that their order is kept and the sum of similarities is greatest (dynamic programming; gaps
 * are free). A frame without a partner gets a new row, a row without one a gap: a frame that one
 * stack lacks shifts no other. Frames with nothing in common never share a row. Of equal sums, the
 * one that pairs the outermost frames is taken.
 *
 *   rtl (reference)      dump                 judge          rows:   truth rtl dump judge
 *   0 leaf   a!10 inl.   0 leaf   a!10 inl.   0 middle a!10  leaf      0    0    0    -
 *   1 middle a!10        1 middle a!10        1 main   a!40  middle    1    1    1    0
 *   2 main   a!40        2 start  k!90        2 start  k!90  main      2    2    -    1
 *   3 start  k!90                                            start     -    3    2    2
 *
 * dump: leaf 90 (same place and name, inlined) + middle 100 + start 100 = 290; main's row gets a
 * gap. judge: its frame 0 is at the place of leaf and of middle; leaf is inlined and has another
 * name (0), middle counts 100: sum 300. The truth knows no offsets: it goes by name, file and line,
 * only into rows with a frame of our own images, so not into start.
 *
 * Equal heads and ends are paired before the search: no score is above SCORE_SAME, so no other
 * pairing is better, and a recursion of 1,000 frames costs 1,000 comparisons, not a million. */
#include "compare/align.h"

#include <string.h>

#include "base/limits.h"
#include "base/text.h"
#include "compare/same_names.h"

/* The largest search, in cells, after the equal heads and ends of both sides are removed. */
#define ALIGN_CELLS_MAX ((uint64_t)64 << 20)

enum {
    SCORE_SAME = 100,        /* place and name are equal, both frames physical */
    SCORE_SAME_INLINE = 90,  /* ... both inline                             */
    SCORE_PLACE = 60,        /* place is equal, name is not, both physical */
    SCORE_PLACE_INLINE = 40, /* ... both inline, at the same depth */
    SCORE_NAME = 50,         /* name is equal, place is not */
    SCORE_NAME_MIXED = 30,   /* ... one of them is inline */
    SCORE_LINE = 5,          /* added to a matching name at another place: same line */
    TRUTH_NAME = 100,
    TRUTH_FILE = 10,
    TRUTH_LINE = 20,
    TRUTH_NAMELESS = 5,
    TRUTH_OTHER_NAME = 1,
    TRUTH_BEST = TRUTH_NAME + TRUTH_FILE + TRUTH_LINE,
    /* A frame that a subject has right outweighs every row that only reference engines have.
     * Otherwise a walker that stops inside a recursion would pull the truth away from the
     * subjects. */
    TRUTH_SUBJECT = LIMIT_FRAMES * TRUTH_BEST,
};

bool keys_same_place(const struct frame_key *a, const struct frame_key *b)
{
    return a->module == b->module && a->offset == b->offset;
}

static int32_t similarity(const struct frame_key *a, const struct frame_key *b)
{
    const bool name = a->name != 0 && a->name == b->name;
    const bool inline_a = a->inline_depth > 0;
    const bool inline_b = b->inline_depth > 0;

    if (keys_same_place(a, b)) {
        if (!inline_a && !inline_b)
            return name || a->name == b->name ? SCORE_SAME : SCORE_PLACE;
        if (inline_a && inline_b) {
            if (name)
                return SCORE_SAME_INLINE;
            return a->inline_depth == b->inline_depth ? SCORE_PLACE_INLINE : 0;
        }
        return name ? SCORE_NAME_MIXED : 0;
    }
    if (!name)
        return 0;
    const int32_t line = a->line != 0 && a->line == b->line ? SCORE_LINE : 0;
    return (inline_a == inline_b ? SCORE_NAME : SCORE_NAME_MIXED) + line;
}

static int32_t truth_similarity(const struct frame_key *truth, const struct frame_key *frame,
                                const char *root)
{
    if (truth->mark || (!frame->own && !frame->nameless))
        return 0;
    const bool name = frame->name != 0 && (truth->name == frame->name ||
                                           (!truth->qualified && truth->name == frame->last_name));
    if (!name && truth->tail)
        return 0;
    const bool file = compare_files(truth->file, frame->file, root, true);
    const bool line = truth->line != 0 && truth->line == frame->line;
    int32_t score = frame->nameless ? TRUTH_NAMELESS : TRUTH_OTHER_NAME;
    if (name)
        score = TRUTH_NAME;
    if (file)
        score += TRUTH_FILE + (line ? TRUTH_LINE : 0);
    return score;
}

/* ---- the search ----------------------------------------------------------------------- */

/* Similarity of position I of one side and J of the other; sets *best when no higher value
 * exists. */
typedef int32_t pair_fn(const void *context, uint32_t i, uint32_t j, bool *best);

struct pairing {
    int32_t *partner; /* for each position of the first side; -1: a gap */
    uint64_t score;
};

enum { CAME_GAP_FIRST, CAME_GAP_SECOND, CAME_PAIR };

static enum status search(pair_fn *fn, const void *context, uint32_t n, uint32_t m, uint32_t head,
                          struct pairing *out, struct arena *scratch, struct fault *fault)
{
    if (n == 0 || m == 0)
        return ERR_NONE;
    if ((uint64_t)n * m > ALIGN_CELLS_MAX)
        return fault_set_hint(fault, ERR_LIMIT, FAULT_NO_OFFSET, "frames to align",
                              "two stacks differ over thousands of frames");
    uint8_t *came = arena_alloc(scratch, (size_t)n * m);
    int32_t *above = ARENA_ARRAY(scratch, (size_t)m + 1, int32_t);
    int32_t *row = ARENA_ARRAY(scratch, (size_t)m + 1, int32_t);
    if (came == NULL || above == NULL || row == NULL)
        return fault_no_memory(fault, "alignment");

    for (uint32_t i = 0; i < n; i++) {
        row[0] = 0;
        for (uint32_t j = 0; j < m; j++) {
            bool best = false;
            const int32_t pair = fn(context, head + i, head + j, &best);
            uint8_t *from = &came[(size_t)i * m + j];
            row[j + 1] = above[j + 1];
            *from = CAME_GAP_FIRST;
            if (row[j] > row[j + 1]) {
                row[j + 1] = row[j];
                *from = CAME_GAP_SECOND;
            }
            if (pair > 0 && above[j] + pair >= row[j + 1]) {
                row[j + 1] = above[j] + pair;
                *from = CAME_PAIR;
            }
        }
        int32_t *swap = above;
        above = row;
        row = swap;
    }
    out->score += (uint64_t)above[m];
    for (uint32_t i = n, j = m; i > 0 && j > 0;) {
        const uint8_t from = came[(size_t)(i - 1) * m + (j - 1)];
        if (from == CAME_PAIR)
            out->partner[head + i - 1] = (int32_t)(head + j - 1);
        i -= from != CAME_GAP_SECOND;
        j -= from != CAME_GAP_FIRST;
    }
    return ERR_NONE;
}

static enum status pair_up(pair_fn *fn, const void *context, uint32_t n, uint32_t m,
                           struct pairing *out, struct arena *scratch, struct fault *fault)
{
    out->score = 0;
    out->partner = ARENA_ARRAY(scratch, (size_t)n + 1, int32_t);
    if (out->partner == NULL)
        return fault_no_memory(fault, "alignment");
    for (uint32_t i = 0; i < n; i++)
        out->partner[i] = -1;

    uint32_t head = 0;
    for (bool best = true; head < n && head < m; head++) {
        const int32_t score = fn(context, head, head, &best);
        if (!best)
            break;
        out->partner[head] = (int32_t)head;
        out->score += (uint64_t)score;
        best = true;
    }
    while (n > head && m > head) {
        bool best = true;
        const int32_t score = fn(context, n - 1, m - 1, &best);
        if (!best)
            break;
        out->partner[n - 1] = (int32_t)m - 1;
        out->score += (uint64_t)score;
        n--;
        m--;
    }
    return search(fn, context, n - head, m - head, head, out, scratch, fault);
}

/* ---- columns -------------------------------------------------------------------------- */

static bool same_module(const struct module *a, const char *a_name, const struct module *b,
                        const char *b_name)
{
    if (a == b && a != NULL)
        return true;
    if (a != NULL && b != NULL)
        return module_same(a, b);
    if (a_name == NULL || b_name == NULL)
        return a_name == b_name;
    return text_equal_nocase(a_name, b_name);
}

static const char *name_of_module(const struct frame *frame)
{
    return frame->module != NULL ? frame->module->name : frame->module_name;
}

bool frames_same_module(const struct frame *a, const struct frame *b)
{
    return same_module(a->module, name_of_module(a), b->module, name_of_module(b));
}

/* Code outside all images is compared by address, not by its registered name. */
static bool is_outside_images(const struct frame *frame)
{
    return frame->module == NULL && (frame->module_name == NULL ||
                                     (frame->frame_class == CLASS_GENERATED && frame->pc_va != 0));
}

static enum status module_number(struct module_list *list, const struct frame *frame,
                                 struct arena *scratch, uint32_t *out, struct fault *fault)
{
    *out = 0;
    if (is_outside_images(frame))
        return ERR_NONE;
    for (uint32_t i = 0; i < list->count; i++) {
        const struct module_entry *e = &list->entries[i];
        const bool same = same_module(e->module, e->name, frame->module, name_of_module(frame));
        if (same) {
            *out = i + 1;
            return ERR_NONE;
        }
    }
    if (!ARENA_ROOM(scratch, list->entries, list->room, list->count + 1))
        return fault_no_memory(fault, "modules to compare");
    list->entries[list->count].module = frame->module;
    list->entries[list->count].name = name_of_module(frame);
    *out = ++list->count;
    return ERR_NONE;
}

static bool is_thread_start(const struct frame *frame)
{
    return frame->inline_depth == 0 && frame->function != NULL && frame->frame_class != CLASS_OWN &&
           compare_names("RtlUserThreadStart", frame->function);
}

static bool names_own_image(const struct crash_case *crash, const char *module)
{
    if (crash == NULL || module == NULL)
        return false;
    for (uint32_t i = 0; i < crash->own.image_count; i++)
        if (text_equal_nocase(crash->own.images[i], module))
            return true;
    return false;
}

bool frame_in_own_image(const struct crash_case *crash, const struct frame *frame)
{
    return names_own_image(crash, name_of_module(frame));
}

/* The nearest public symbol or export is a guess. */
static bool is_weakly_named(const struct frame *frame)
{
    return frame->function == NULL || frame->symbols == SYMBOLS_NONE ||
           frame->symbols == SYMBOLS_MISMATCH || frame->symbols == SYMBOLS_EXPORT ||
           frame->symbols == SYMBOLS_PDB_PUBLIC || frame->symbols == SYMBOLS_NEAREST;
}

static void key_of_frame(const struct crash_case *crash, const struct frame *frame,
                         struct frame_key *key)
{
    key->name = compare_name_hash(frame->function);
    key->last_name = compare_last_name_hash(frame->function);
    key->offset = is_outside_images(frame) && frame->pc_va != 0
                      ? frame->pc_va
                      : FRAME_METHOD(frame->method_token) | frame->offset;
    key->file = frame->file;
    key->line = frame->line;
    key->inline_depth = frame->inline_depth;
    key->own = frame->frame_class == CLASS_OWN ||
               (crash == NULL && frame->frame_class == CLASS_NONE && frame->function != NULL);
    key->nameless = !key->own && is_weakly_named(frame) && frame->frame_class != CLASS_RUNTIME &&
                    frame->frame_class != CLASS_CAPTURE &&
                    names_own_image(crash, name_of_module(frame));
}

static void key_of_truth(const struct truth_frame *frame, struct frame_key *key)
{
    key->mark = frame->gap != TRUTH_GAP_NONE;
    key->tail = frame->tail;
    key->name = compare_name_hash(frame->function);
    key->qualified = frame->function != NULL && strstr(frame->function, "::") != NULL;
    key->file = frame->file;
    key->line = frame->line;
}

enum status column_prepare(struct column *column, const struct crash_case *crash,
                           struct module_list *modules, struct arena *scratch, struct fault *fault)
{
    uint32_t count = 0;
    if (column->truth != NULL)
        count = column->truth->frame_count;
    else if (column->stack != NULL)
        count = column->stack->frame_count;
    if (column->stack != NULL && column->stack->state != STACK_OK)
        count = 0;
    struct frame_key *keys = ARENA_ARRAY(scratch, (size_t)count + 1, struct frame_key);
    if (keys == NULL)
        return fault_no_memory(fault, "frames to compare");
    for (uint32_t i = 0; i < count; i++) {
        if (column->truth != NULL) {
            key_of_truth(&column->truth->frames[i], &keys[i]);
            continue;
        }
        const struct frame *frame = &column->stack->frames[i];
        key_of_frame(crash, frame, &keys[i]);
        if (module_number(modules, frame, scratch, &keys[i].module, fault) != ERR_NONE)
            return fault->code;
        if (is_thread_start(frame))
            count = i + 1;
    }
    column->keys = keys;
    column->count = count;
    return ERR_NONE;
}

struct two_columns {
    const struct column *a, *b;
};

static int32_t pair_columns(const void *context, uint32_t i, uint32_t j, bool *best)
{
    const struct two_columns *two = context;
    const int32_t score = similarity(&two->a->keys[i], &two->b->keys[j]);
    *best = score == SCORE_SAME || (score == SCORE_SAME_INLINE &&
                                    two->a->keys[i].inline_depth == two->b->keys[j].inline_depth);
    return score;
}

enum status column_similarity(const struct column *a, const struct column *b, struct arena *scratch,
                              uint64_t *out, struct fault *fault)
{
    const struct two_columns two = {a, b};
    struct pairing pairs;
    if (pair_up(pair_columns, &two, a->count, b->count, &pairs, scratch, fault) != ERR_NONE)
        return fault->code;
    const uint32_t apart = a->count > b->count ? a->count - b->count : b->count - a->count;
    *out = pairs.score > 0 ? (uint64_t)pairs.score << 32 | (UINT32_MAX - apart) : 0;
    return ERR_NONE;
}

/* ---- the table ------------------------------------------------------------------------ */

struct merge {
    const struct table *table;
    const struct column *column;
    const char *root;
    const uint32_t *rows; /* the rows that may be paired */
};

/* A frame compared with a row: the most similar of the row's frames counts. */
static int32_t pair_row(const void *context, uint32_t i, uint32_t j, bool *best)
{
    const struct merge *m = context;
    const struct table *t = m->table;
    const struct frame_key *frame = &m->column->keys[j];
    const bool of_truth = m->column->truth != NULL;
    int32_t top = 0;
    for (uint32_t c = 1; c < t->column_count; c++) {
        const struct frame_key *key = table_key(t, m->rows[i], c);
        if (key == NULL)
            continue;
        int32_t score = of_truth ? truth_similarity(frame, key, m->root) : similarity(key, frame);
        if (of_truth && score >= TRUTH_NAME && t->columns[c].claim->subject)
            score += TRUTH_SUBJECT;
        if (score > top)
            top = score;
    }
    *best = of_truth ? top == TRUTH_BEST + TRUTH_SUBJECT
                     : top == SCORE_SAME || (top == SCORE_SAME_INLINE && frame->inline_depth > 0);
    return top;
}

static bool row_can_be_true(const struct table *t, uint32_t row)
{
    for (uint32_t c = 1; c < t->column_count; c++) {
        const struct frame_key *key = table_key(t, row, c);
        if (key != NULL && (key->own || key->nameless))
            return true;
    }
    return false;
}

/* Merges COLUMN into the rows: partner[k] is the frame in row rows[k]. */
static enum status weave(struct table *t, uint32_t column, const uint32_t *rows,
                         uint32_t paired_rows, const int32_t *partner, struct arena *scratch,
                         struct fault *fault)
{
    const uint32_t frames = t->columns[column].count;
    const size_t width = t->column_count;
    int32_t *cells = ARENA_ARRAY(scratch, ((size_t)t->row_count + frames) * width + 1, int32_t);
    if (cells == NULL)
        return fault_no_memory(fault, "rows to compare");
    uint32_t count = 0, frame = 0, k = 0;
    for (uint32_t row = 0; row <= t->row_count; row++) {
        while (k < paired_rows && rows[k] < row)
            k++;
        const bool here = k < paired_rows && row < t->row_count && rows[k] == row;
        const int32_t with = here ? partner[k] : -1;
        /* Frames without a row go before the next row that has a partner, or to the end. */
        uint32_t until = frame;
        if (row == t->row_count)
            until = frames;
        else if (with >= 0)
            until = (uint32_t)with;
        for (; frame < until; frame++, count++) {
            for (size_t c = 0; c < width; c++)
                cells[count * width + c] = -1;
            cells[count * width + column] = (int32_t)frame;
        }
        if (row == t->row_count)
            break;
        memcpy(&cells[count * width], &t->cells[row * width], width * sizeof *cells);
        cells[count * width + column] = with;
        if (with >= 0)
            frame++;
        count++;
    }
    t->cells = cells;
    t->row_count = count;
    return ERR_NONE;
}

static enum status merge_column(struct table *t, uint32_t column, const char *root,
                                struct arena *scratch, struct fault *fault)
{
    uint32_t *rows = ARENA_ARRAY(scratch, (size_t)t->row_count + 1, uint32_t);
    if (rows == NULL)
        return fault_no_memory(fault, "rows to compare");
    uint32_t count = 0;
    for (uint32_t row = 0; row < t->row_count; row++)
        if (column != 0 || row_can_be_true(t, row))
            rows[count++] = row;
    const struct merge merge = {t, &t->columns[column], root, rows};
    struct pairing pairs;
    if (pair_up(pair_row, &merge, count, t->columns[column].count, &pairs, scratch, fault) !=
        ERR_NONE)
        return fault->code;
    return weave(t, column, rows, count, pairs.partner, scratch, fault);
}

enum status table_build(struct table *t, const char *root, struct arena *scratch,
                        struct fault *fault)
{
    t->row_count = 0;
    t->cells = NULL;
    if (t->reference != 0 && merge_column(t, t->reference, root, scratch, fault) != ERR_NONE)
        return fault->code;
    for (int subjects = 1; subjects >= 0; subjects--)
        for (uint32_t c = 1; c < t->column_count; c++) {
            const struct column *column = &t->columns[c];
            if (c == t->reference || column->count == 0 || column->claim->subject != (subjects > 0))
                continue;
            if (merge_column(t, c, root, scratch, fault) != ERR_NONE)
                return fault->code;
        }
    return t->columns[0].truth != NULL ? merge_column(t, 0, root, scratch, fault) : ERR_NONE;
}

const struct frame_key *table_key(const struct table *table, uint32_t row, uint32_t column)
{
    const int32_t at = table->cells[(size_t)row * table->column_count + column];
    return at < 0 ? NULL : &table->columns[column].keys[at];
}

const struct frame *table_frame(const struct table *table, uint32_t row, uint32_t column)
{
    const int32_t at = table->cells[(size_t)row * table->column_count + column];
    return at < 0 || column == 0 ? NULL : &table->columns[column].stack->frames[at];
}

const struct truth_frame *table_truth(const struct table *table, uint32_t row)
{
    const int32_t at = table->cells[(size_t)row * table->column_count];
    return at < 0 ? NULL : &table->columns[0].truth->frames[at];
}
