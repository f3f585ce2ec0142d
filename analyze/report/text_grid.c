/* Scenario × variant × engine in the terminal report: see text.h. Every column is as wide as its
 * text; heads are split into lines, and engines that do not fit are named below. */
#include <string.h>

#include "report/text.h"
#include "report/words.h"

enum {
    ENGINE_LEAST = 7,
    HEAD_LEAST = 8,
    NAME_LEAST = 20,
    BUILDS_MOST = 20, /* names of builds that share a row continue on the next line */
    CELL_BYTES = 96,
    HEAD_LINES_MAX = 8
};

struct grid {
    const struct engine_total *engines[CLAIMS_MAX];
    int widths[CLAIMS_MAX]; /* including the blank after it */
    uint32_t count;
    int name, variant, verdict; /* widths, also including the blank */
    uint32_t cases;             /* in all rows */
    bool stuck;                 /* an engine was stuck in one of them */
    bool repeats;               /* one of them is a repeat */
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

static const char *short_verdict(enum verdict verdict)
{
    return verdict == VERDICT_NOT_CAPTURED_AS_EXPECTED ? "none, right" : verdict_name(verdict);
}

static void variant_text(const struct run_case *c, char out[CELL_BYTES])
{
    (void)snprintf(out, CELL_BYTES, "%.60s", c->variant);
    if (c->repeat > 0)
        (void)snprintf(out + strlen(out), CELL_BYTES - strlen(out), "#%u", c->repeat + 1);
}

static void verdict_text(enum verdict verdict, char out[CELL_BYTES])
{
    (void)snprintf(out, CELL_BYTES, "%s %s", verdict_glyph(verdict), short_verdict(verdict));
}

/* The builds of a row from number AT on, as many as fit on a line: returns the next number. */
static uint32_t builds_text(const struct grid_row *row, uint32_t at, char out[CELL_BYTES])
{
    char name[CELL_BYTES];
    if (row->all) {
        (void)snprintf(out, CELL_BYTES, "all %u", row->count);
        return row->count;
    }
    variant_text(row->cases[at++], out);
    for (; at < row->count; at++) {
        variant_text(row->cases[at], name);
        if (text_width(out) + text_width(name) + 2 > BUILDS_MOST)
            break;
        (void)snprintf(out + strlen(out), CELL_BYTES - strlen(out), ", %s", name);
    }
    return at;
}

/* ---- heads ---------------------------------------------------------------------------- */

/* The part of an engine's name that is on one line: what is before the colon, then as much as ROOM
 * holds, ended before a hyphen where there is one. Moves *at past it. */
static int take_head(const char **at, int room, char out[CELL_BYTES])
{
    const int left = (int)strcspn(*at, ":");
    int size = left;
    if (size > room) {
        for (size = room; size > 0 && (*at)[size] != '-';)
            size--;
        if (size == 0) { /* parts of equal length, so that the last line is not a single letter */
            const int parts = (left + room - 1) / room;
            size = (left + parts - 1) / parts;
        }
    }
    (void)snprintf(out, CELL_BYTES, "%.*s", size, *at);
    *at += size + ((*at)[size] == ':');
    return size;
}

/* How wide a column is that breaks its head only before hyphens. */
static int natural_width(const char *name)
{
    int width = ENGINE_LEAST, run = 0;
    for (; *name != '\0'; name++) {
        run = *name == ':' ? 0 : *name == '-' ? 1 : run + 1;
        if (run + 1 > width)
            width = run + 1;
    }
    return width;
}

static void print_heads(const struct page *page, const struct grid *grid)
{
    const char *at[CLAIMS_MAX];
    bool more = true;
    for (uint32_t i = 0; i < grid->count; i++)
        at[i] = grid->engines[i]->engine;
    for (int line = 0; more && line < HEAD_LINES_MAX; line++) {
        char heads[CLAIMS_MAX][CELL_BYTES];
        more = false;
        for (uint32_t i = 0; i < grid->count; i++) {
            (void)take_head(&at[i], grid->widths[i] - 1, heads[i]);
            more = more || *at[i] != '\0';
        }
        page_cell(page, INK_DIM, grid->name, more ? "" : "scenario");
        page_cell(page, INK_DIM, grid->variant, more ? "" : "build");
        page_cell(page, INK_DIM, grid->verdict, more ? "" : "verdict");
        for (uint32_t i = 0; i < grid->count; i++)
            page_cell(page, INK_DIM, i + 1 < grid->count ? grid->widths[i] : 0, heads[i]);
        page_line(page);
    }
}

/* ---- widths --------------------------------------------------------------------------- */

static int wider(int width, const char *text)
{
    const int need = (int)text_width(text) + 1;
    return need > width ? need : width;
}

static void measure_rows(struct grid *grid, const struct grid_rows *rows)
{
    char text[CELL_BYTES];
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct grid_row *row = &rows->rows[i];
        const struct case_result *result = &row->cases[0]->result;
        grid->name = wider(grid->name, row->cases[0]->scenario);
        for (uint32_t k = 0; k < row->count; k++)
            grid->repeats = grid->repeats || row->cases[k]->repeat > 0;
        for (uint32_t at = 0; at < row->count;) {
            at = builds_text(row, at, text);
            grid->variant = wider(grid->variant, text);
        }
        verdict_text(result->verdict, text);
        grid->verdict = wider(grid->verdict, text);
        for (uint32_t k = 0; k < result->score_count; k++)
            grid->stuck = grid->stuck || result->scores[k].state == STACK_BLOCKED;
    }
    grid->cases += rows->cases;
}

/* A long foreign name must not push the subjects off the page. */
static void limit_name(struct grid *grid, int columns)
{
    const int most = columns - grid->variant - grid->verdict - 2 * ENGINE_LEAST;
    if (grid->name > most)
        grid->name = most > NAME_LEAST ? most : NAME_LEAST;
}

/* The engines with a stack, as many as fit; the widest are left out first. */
static void measure_engines(struct grid *grid, const struct run_figures *report, int room)
{
    int all = 0, least = 0;
    grid->count = 0;
    for (uint32_t i = 0; i < report->engine_count; i++) {
        const int natural = natural_width(report->engines[i].engine);
        const int narrow = natural < HEAD_LEAST ? natural : HEAD_LEAST;
        if (report->engines[i].stacks == 0 || least + narrow > room + 1) /* no blank at the end */
            continue;
        grid->engines[grid->count] = &report->engines[i];
        grid->widths[grid->count++] = natural;
        all += natural;
        least += narrow;
    }
    while (grid->count > 0 && all > room + 1) {
        uint32_t widest = 0;
        for (uint32_t i = 1; i < grid->count; i++)
            if (grid->widths[i] > grid->widths[widest])
                widest = i;
        grid->widths[widest]--;
        all--;
    }
}

static void print_left_out(const struct page *page, const struct grid *grid,
                           const struct run_figures *report, struct arena *scratch)
{
    const char *names = NULL;
    for (uint32_t i = 0; i < report->engine_count; i++) {
        const struct engine_total *t = &report->engines[i];
        bool shown = t->stacks == 0;
        for (uint32_t k = 0; k < grid->count && !shown; k++)
            shown = grid->engines[k] == t;
        if (!shown)
            names = arena_printf(scratch, "%s%s%s", names != NULL ? names : "",
                                 names != NULL ? ", " : "", t->engine);
    }
    if (names == NULL)
        return;
    const char *text = arena_printf(scratch, "not shown, since the page is too narrow: %s", names);
    page_wrap(page, INK_DIM, 0, text != NULL ? text : "");
}

/* ---- rows ----------------------------------------------------------------------------- */

static void engine_cell(const struct page *page, const struct engine_score *s, int width)
{
    char text[32] = "·";
    enum ink ink = INK_DIM;
    if (s != NULL && s->state == STACK_OK && s->frames > 0) {
        if (!s->judged) {
            (void)snprintf(text, sizeof text, "%u", s->frames);
        } else if (s->truth_frames > 99) {
            (void)snprintf(text, sizeof text, "%s%.4g%%", s->exact ? "✓" : "✗",
                           figures_percent(s->right_frames, s->truth_frames));
            ink = s->exact ? INK_GOOD : INK_BAD;
        } else {
            (void)snprintf(text, sizeof text, "%s%u/%u", s->exact ? "✓" : "✗", s->right_frames,
                           s->truth_frames);
            ink = s->exact ? INK_GOOD : s->subject ? INK_BAD : INK_WARN;
        }
    } else if (s != NULL && s->state == STACK_BLOCKED) {
        (void)snprintf(text, sizeof text, "stuck");
    }
    page_cell(page, ink, width, text);
}

static void print_row(const struct page *page, const struct grid *grid, const struct grid_row *row)
{
    const struct run_case *c = row->cases[0];
    const enum verdict v = c->result.verdict;
    char text[CELL_BYTES];
    uint32_t at = builds_text(row, 0, text);
    page_cell(page, INK_PLAIN, grid->name, row->named ? c->scenario : "");
    page_cell(page, INK_PLAIN, grid->variant, text);
    verdict_text(v, text);
    page_cell(page, verdict_ink(v), grid->count > 0 ? grid->verdict : 0, text);
    for (uint32_t e = 0; e < grid->count; e++)
        engine_cell(page, case_score(c, grid->engines[e]->engine),
                    e + 1 < grid->count ? grid->widths[e] : 0);
    page_line(page);
    while (at < row->count) {
        at = builds_text(row, at, text);
        page_cell(page, INK_PLAIN, grid->name, "");
        page_cell(page, INK_PLAIN, 0, text);
        page_line(page);
    }
}

/* Rows come twice, some at a time: they are measured, then printed. */
struct grid_pass {
    const struct page *page; /* NULL: they are measured */
    struct grid *grid;
};

static bool take_rows(void *context, const struct grid_rows *rows)
{
    const struct grid_pass *pass = context;
    if (pass->page == NULL)
        measure_rows(pass->grid, rows);
    for (uint32_t i = 0; pass->page != NULL && i < rows->count; i++)
        print_row(pass->page, pass->grid, &rows->rows[i]);
    return true;
}

/* The rows of the cases that deviate, which are in memory; or all, wherever they are. */
static enum status each_rows(const struct run_figures *report, bool all, struct grid_pass *pass,
                             struct arena *scratch, struct fault *fault)
{
    struct grid_rows rows;
    if (all)
        return summary_each_rows(report, take_rows, pass, fault);
    if (summary_rows(report, false, scratch, &rows, fault) == ERR_NONE)
        (void)take_rows(pass, &rows);
    return fault->code;
}

enum status text_print_grid(const struct page *page, const struct run_figures *report, bool all,
                            struct arena *scratch, struct fault *fault)
{
    struct grid grid = {
        .name = wider(0, "scenario"), .variant = wider(0, "build"), .verdict = wider(0, "verdict")};
    struct grid_pass measuring = {NULL, &grid}, printing = {page, &grid};
    char title[96];
    if (each_rows(report, all, &measuring, scratch, fault) != ERR_NONE || grid.cases == 0)
        return fault->code;
    (void)snprintf(title, sizeof title, all ? "ALL %u CASES" : "CASES THAT DEVIATE: %u of %u",
                   grid.cases, report->total_cases);
    page_title(page, title);
    limit_name(&grid, (int)page->columns);
    measure_engines(&grid, report, (int)page->columns - grid.name - grid.variant - grid.verdict);
    print_heads(page, &grid);
    if (each_rows(report, all, &printing, scratch, fault) != ERR_NONE)
        return fault->code;
    page_wrap(page, INK_DIM, 0,
              "✓ exact: function, file, line of every frame · 2/3: frames right of frames true · "
              "·: no stack");
    if (grid.repeats)
        page_wrap(page, INK_DIM, 0, "ob2#3: the third time that this run took ob2 (--repeat)");
    if (grid.stuck)
        page_wrap(page, INK_DIM, 0,
                  "stuck: the walk waited for a lock that was never released, "
                  "and was given up");
    print_left_out(page, &grid, report, scratch);
    return ERR_NONE;
}
