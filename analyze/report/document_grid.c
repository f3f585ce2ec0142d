/* Scenario × variant × engine: see document.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "report/document.h"

enum { FIXED = 3, ENGINE_LEAST = 6, BUILDS_MOST = 19, HEAD_BYTES = 128 };

/* What cells need a note for: bits. */
enum grid_sign {
    SIGN_EXACT = 1,
    SIGN_NOT_EXACT = 2,
    SIGN_SHARE = 4,
    SIGN_PERCENT = 8,
    SIGN_UNJUDGED = 16,
    SIGN_NO_STACK = 32,
    SIGN_REPEAT = 64,
    SIGN_APART = 128,
    SIGN_STUCK = 256
};

struct grid {
    const struct engine_total *engines[CLAIMS_MAX];
    char heads[CLAIMS_MAX][HEAD_BYTES];
    struct sheet_column columns[FIXED + CLAIMS_MAX];
    struct sheet_table table;
    uint32_t count;
    uint32_t cases; /* in all rows */
    unsigned signs; /* of the cells that were printed: enum grid_sign */
    bool named;     /* every row names its scenario */
};

static enum ink verdict_ink(enum verdict verdict)
{
    if (verdict == VERDICT_PASS || verdict == VERDICT_NOT_CAPTURED_AS_EXPECTED)
        return INK_GOOD;
    if (verdict == VERDICT_UNSUPPORTED)
        return INK_DIM;
    return verdict == VERDICT_XFAIL ? INK_WARN : INK_BAD;
}

const char *verdict_glyph(enum verdict verdict)
{
    switch (verdict) {
    case VERDICT_PASS:
    case VERDICT_NOT_CAPTURED_AS_EXPECTED:
        return "✓";
    case VERDICT_UNSUPPORTED:
        return "⊘";
    case VERDICT_XFAIL:
    case VERDICT_FLAKY:
        return "~";
    case VERDICT_ERROR:
        return "!";
    default:
        return "✗";
    }
}

/* ---- columns -------------------------------------------------------------------------- */

/* "offset:dbghelp-own" on three lines; never within a word. */
static void break_head(const char *name, char out[HEAD_BYTES])
{
    size_t size = 0;
    for (; *name != 0 && size + 3 < HEAD_BYTES; name++) {
        if (*name == '-' && size > 0)
            out[size++] = '\n';
        out[size++] = *name;
        if (*name == ':')
            out[size++] = '\n';
    }
    out[size] = 0;
}

static struct sheet_cell grid_cell(const void *rows, size_t row, size_t column, struct arena *keep);

/* The engines with a stack; in Markdown, whose tables have no width, those under test. */
static void make_columns(struct grid *g, const struct run_figures *report, bool subjects)
{
    static const struct sheet_column fixed[FIXED] = {
        {"scenario", 0, 0, SHEET_ALWAYS, SHEET_LEFT},
        {"build", 0, BUILDS_MOST, SHEET_ALWAYS, SHEET_WRAP},
        {"verdict", 0, 0, SHEET_ALWAYS, SHEET_LEFT}};
    memset(g, 0, sizeof *g);
    memcpy(g->columns, fixed, sizeof fixed);
    for (uint32_t i = 0; i < report->engine_count && g->count < CLAIMS_MAX; i++) {
        const struct engine_total *t = &report->engines[i];
        if (t->stacks == 0 || (subjects && !t->subject))
            continue;
        break_head(t->engine, g->heads[g->count]);
        g->columns[FIXED + g->count] =
            (struct sheet_column){g->heads[g->count], ENGINE_LEAST, 0,
                                  t->subject ? SHEET_ALWAYS : (int)(CLAIMS_MAX - i), SHEET_LEFT};
        g->engines[g->count++] = t;
    }
    g->table = (struct sheet_table){
        .columns = g->columns, .count = FIXED + g->count, .cell = grid_cell, .thing = "case"};
}

/* ---- cells ---------------------------------------------------------------------------- */

struct grid_part {
    const struct grid *grid;
    const struct grid_rows *rows;
};

/* "ob0, ob2#3" or "all 4". */
static const char *builds_text(const struct grid_row *row, struct arena *keep)
{
    struct text_buffer text = {0};
    if (row->all)
        return arena_printf(keep, "all %u", row->count);
    for (uint32_t i = 0; i < row->count; i++) {
        const struct run_case *c = row->cases[i];
        char one[80];
        const int bytes = c->repeat > 0
                              ? snprintf(one, sizeof one, "%s%.60s#%u", i > 0 ? ", " : "",
                                         c->variant, c->repeat + 1)
                              : snprintf(one, sizeof one, "%s%.60s", i > 0 ? ", " : "", c->variant);
        text_buffer_put(&text, one, (size_t)bytes);
    }
    const char *kept = text.failed ? NULL : arena_text(keep, text_or_empty(text.text), text.bytes);
    free(text.text);
    return kept;
}

/* Of the cell of an engine with score S; NULL: it has none. */
static unsigned signs_of(const struct run_case *c, const struct engine_score *s)
{
    if (s != NULL && s->state == STACK_BLOCKED)
        return SIGN_STUCK;
    if (s == NULL || s->state != STACK_OK || s->frames == 0)
        return SIGN_NO_STACK;
    if (!s->judged)
        return SIGN_UNJUDGED;
    const unsigned frames = s->truth_frames > 99 ? SIGN_PERCENT : SIGN_SHARE;
    if (!s->exact)
        return frames | SIGN_NOT_EXACT;
    return frames | (case_is_apart(c, s->engine) ? SIGN_APART : SIGN_EXACT);
}

static struct sheet_cell score_cell(const struct run_case *c, const struct engine_score *s,
                                    struct arena *keep)
{
    const unsigned signs = signs_of(c, s);
    if (signs == SIGN_STUCK)
        return cell_text(INK_DIM, "stuck");
    if (signs == SIGN_NO_STACK)
        return cell_text(INK_DIM, "·");
    if (signs == SIGN_UNJUDGED)
        return cell_format(keep, INK_DIM, "%u", s->frames);
    const char *mark = signs & SIGN_EXACT ? "✓" : "✗";
    const enum ink wrong = s->subject ? INK_BAD : INK_WARN;
    if (signs & SIGN_APART)
        mark = "≠";
    const enum ink ink = signs & SIGN_EXACT ? INK_GOOD : wrong;
    if (signs & SIGN_PERCENT)
        return cell_format(keep, ink, "%s%.4g%%", mark,
                           figures_percent(s->right_frames, s->truth_frames));
    return cell_format(keep, ink, "%s%u/%u", mark, s->right_frames, s->truth_frames);
}

static struct sheet_cell grid_cell(const void *rows, size_t at, size_t column, struct arena *keep)
{
    const struct grid_part *part = rows;
    const struct grid_row *row = &part->rows->rows[at];
    const struct run_case *c = row->cases[0];
    const enum verdict v = c->result.verdict;
    if (column == 0)
        return cell_text(INK_PLAIN, row->named || part->grid->named ? c->scenario : "");
    if (column == 1)
        return cell_text(INK_PLAIN, builds_text(row, keep));
    if (column == 2)
        return cell_format(keep, verdict_ink(v), "%s %s", verdict_glyph(v),
                           v == VERDICT_NOT_CAPTURED_AS_EXPECTED ? "none, right" : verdict_name(v));
    return score_cell(c, case_score(c, part->grid->engines[column - FIXED]->engine), keep);
}

static uint32_t cases_of_row(const void *rows, size_t row)
{
    return ((const struct grid_part *)rows)->rows->rows[row].count;
}

/* ---- rows ----------------------------------------------------------------------------- */

/* Rows come twice, some at a time: they are measured, then printed. */
struct grid_pass {
    struct sheet *sheet;
    struct grid *grid;
    bool measuring;
};

/* The signs of ROW, in the columns that are not left out. */
static unsigned row_signs(const struct grid *grid, const struct grid_row *row, bool markdown)
{
    unsigned signs = 0;
    for (uint32_t i = 0; i < row->count && !row->all; i++)
        signs |= row->cases[i]->repeat > 0 ? SIGN_REPEAT : 0U;
    for (uint32_t i = 0; i < grid->count; i++)
        if (markdown || grid->table.widths[FIXED + i] > 0)
            signs |= signs_of(row->cases[0], case_score(row->cases[0], grid->engines[i]->engine));
    return signs;
}

static void print_rows(const struct grid_pass *pass, const struct grid_part *part)
{
    struct grid *grid = pass->grid;
    size_t left = grid->table.shown;
    sheet_table_rows(pass->sheet, &grid->table, part, part->rows->count);
    left = grid->table.shown - left;
    for (uint32_t i = 0; left > 0; i++) {
        grid->signs |= row_signs(grid, &part->rows->rows[i], pass->sheet->markdown);
        left -= part->rows->rows[i].count;
    }
}

static bool take_rows(void *context, const struct grid_rows *rows)
{
    const struct grid_pass *pass = context;
    const struct grid_part part = {pass->grid, rows};
    if (pass->measuring) {
        pass->grid->cases += rows->cases;
        sheet_table_measure(pass->sheet, &pass->grid->table, &part, rows->count);
    } else {
        print_rows(pass, &part);
    }
    return !pass->grid->table.full;
}

/* The rows of the cases that deviate, which are in memory; or all, wherever they are. */
static enum status each_rows(const struct run_figures *report, bool all, struct grid_pass *pass,
                             struct fault *fault)
{
    struct grid_rows rows;
    if (all)
        return summary_each_rows(report, take_rows, pass, fault);
    if (summary_rows(report, false, pass->sheet->keep, &rows, fault) == ERR_NONE)
        (void)take_rows(pass, &rows);
    return fault->code;
}

/* What the signs of GRID mean: the short ones share a line. */
static void print_notes(struct sheet *s, const struct grid *grid)
{
    static const struct {
        enum grid_sign sign;
        const char *text;
    } notes[] = {
        {SIGN_EXACT, "✓ exact: function, file, line of every frame"},
        {SIGN_NOT_EXACT, "✗ not exact"},
        {SIGN_SHARE, "2/3: frames right of frames true"},
        {SIGN_PERCENT, "99.5%: frames right of over 99 true"},
        {SIGN_UNJUDGED, "7: frames, with no truth to compare them with"},
        {SIGN_NO_STACK, "·: no stack"},
        {SIGN_REPEAT, "ob2#3: the third time that this run took ob2 (--repeat)"},
        {SIGN_APART,
         "≠6/6: right where the truth judges; elsewhere the two ways contradict each other"},
        {SIGN_STUCK, "stuck: the walk waited for a lock that was never released, and was given up"},
    };
    const char *line = NULL;
    for (size_t i = 0; i < COUNT_OF(notes); i++) {
        if (notes[i].sign == SIGN_REPEAT && line != NULL)
            sheet_text(s, INK_DIM, 0, 0, line);
        if ((grid->signs & notes[i].sign) == 0)
            continue;
        if (notes[i].sign >= SIGN_REPEAT)
            sheet_text(s, INK_DIM, 0, 0, notes[i].text);
        else
            line = line == NULL ? notes[i].text
                                : arena_printf(s->keep, "%s · %s", line, notes[i].text);
    }
}

enum status document_grid(struct sheet *s, const struct run_figures *report, bool all,
                          struct fault *fault)
{
    struct grid grid;
    struct grid_pass pass = {s, &grid, true};
    char title[96];
    make_columns(&grid, report, s->markdown);
    grid.table.stands_for = cases_of_row;
    grid.named = s->markdown;
    if (s->markdown && all) /* nothing is measured */
        grid.cases = report->total_cases;
    else
        (void)each_rows(report, all, &pass, fault);
    if (fault->code != ERR_NONE || grid.cases == 0)
        return fault->code;
    (void)snprintf(title, sizeof title, all ? "All %u cases" : ": %u of %u", grid.cases,
                   report->total_cases);
    if (all)
        sheet_fold(s, title);
    else
        sheet_heading(s, "Cases that deviate", title);
    sheet_table_begin(s, &grid.table);
    pass.measuring = false;
    if (each_rows(report, all, &pass, fault) != ERR_NONE)
        return fault->code;
    grid.table.left = grid.cases - grid.table.shown;
    sheet_table_end(s, &grid.table);
    if (all)
        sheet_unfold(s);
    print_notes(s, &grid);
    return ERR_NONE;
}
