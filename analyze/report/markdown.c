/* Markdown for CI summaries and comments: capped, since CI systems drop a summary that is too
 * large. Totals come first and always count everything; lists that do not fit end with how many
 * more there are. */
#include <stdarg.h>
#include <string.h>

#include "model/managed_samples.h"
#include "report/report.h"
#include "report/words.h"
#include "study/headline.h"
#include "study/lanes.h"
#include "study/summary.h"

enum { DEFAULT_MAX_BYTES = 1000000, TAIL_BYTES = 200 };

/* The bytes that may still be written; lines are written whole or not at all. */
struct sheet {
    FILE *out;
    size_t left;
    struct arena *scratch;
};

static bool put_line(struct sheet *sheet, const char *text)
{
    const size_t bytes = strlen(text) + 1;
    if (bytes + TAIL_BYTES > sheet->left)
        return false;
    (void)fputs(text, sheet->out);
    (void)fputc('\n', sheet->out);
    sheet->left -= bytes;
    return true;
}

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static bool
put_linef(struct sheet *sheet, const char *format, ...)
{
    char text[4096];
    va_list list;
    va_start(list, format);
    (void)vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return put_line(sheet, text);
}

const char *markdown_text(const char *text, struct arena *keep)
{
    if (text == NULL)
        return "";
    const size_t room = strlen(text) * 6 + 1;
    char *out = arena_alloc(keep, room), *at = out;
    if (out == NULL)
        return "";
    char *end = out + room;
    for (; *text != 0; text++) {
        const unsigned char c = (unsigned char)*text;
        if (c == '<')
            at += snprintf(at, (size_t)(end - at), "&lt;");
        else if (c == '&')
            at += snprintf(at, (size_t)(end - at), "&amp;");
        else if (c < 0x20)
            *at++ = ' ';
        else {
            if (strchr("\\`*_{}[]()#|!>~@", c) != NULL)
                *at++ = '\\';
            *at++ = (char)c;
        }
    }
    return out;
}

static const char *cell(struct sheet *sheet, const char *text)
{
    return markdown_text(text, sheet->scratch);
}

enum { NAMES_SHOWN = 8 };

/* What fails and why: one row per group, each with the command that shows more. */
static void put_failing(struct sheet *sheet, const struct run_figures *report,
                        const struct case_groups *groups)
{
    uint32_t left = groups->cases;
    if (left == 0)
        return;
    (void)put_linef(sheet, "\n### Failing: %u", left);
    (void)put_line(sheet, "| cases | verdict | why | right | more |\n|---|---|---|---|---|");
    for (uint32_t g = 0; g < groups->count; g++) {
        const struct case_group *group = &groups->rows[g];
        const struct run_case *first = group->cases[0];
        if (!put_linef(sheet, "| %.1200s | %u %s | %.1200s | %.200s | <code>%.800s</code> |",
                       cell(sheet, summary_names(report, group, NAMES_SHOWN, sheet->scratch)),
                       group->count, verdict_name(first->result.verdict),
                       cell(sheet, group->reason), cell(sheet, first->result.right),
                       cell(sheet, summary_command(first, sheet->scratch))))
            break;
        left -= group->count;
    }
    if (left > 0)
        (void)fprintf(sheet->out, "\n... and %u more failing cases.\n", left);
}

/* One line per reason, with its count. */
static void put_not_shown(struct sheet *sheet, const struct case_groups *groups)
{
    uint32_t left = groups->cases;
    if (left == 0)
        return;
    (void)put_linef(sheet, "\n### Not shown here: %u (UNSUPPORTED: counted, never passed)\n", left);
    for (uint32_t g = 0; g < groups->count; g++) {
        if (!put_linef(sheet, "* %u: %.1500s", groups->rows[g].count,
                       cell(sheet, groups->rows[g].reason)))
            break;
        left -= groups->rows[g].count;
    }
    if (left > 0)
        (void)fprintf(sheet->out, "\n... and %u more cases.\n", left);
}

/* What was run, and in bold what a reader would otherwise take for run and right. */
static void put_lanes(struct sheet *sheet, const struct run_figures *report)
{
    const char *counts = lanes_counts(report, sheet->scratch);
    const char *not_run = lanes_not_run(report, sheet->scratch);
    if (counts != NULL && strchr(counts, ',') != NULL)
        (void)put_linef(sheet, "\nCases run: %.300s", cell(sheet, counts));
    if (not_run != NULL)
        (void)put_linef(sheet, "\n**Not run: %.1500s**", cell(sheet, not_run));
}

static const char *percent(uint64_t right, uint64_t total, char out[24])
{
    if (total == 0)
        (void)snprintf(out, 24, "-");
    else
        (void)snprintf(out, 24, "%.1f %%", figures_percent(right, total));
    return out;
}

static void put_engines(struct sheet *sheet, const struct run_figures *report)
{
    (void)put_line(sheet, "\n### Engines against the truth\n"
                          "| engine | exact stacks | precision | recall | inline recall | lines |\n"
                          "|---|---|---|---|---|---|");
    const char *silent = NULL;
    for (uint32_t i = 0; i < report->engine_count; i++) {
        const struct engine_total *t = &report->engines[i];
        char p[24], r[24], n[24], l[24];
        if (t->stacks == 0) {
            silent = arena_printf(sheet->scratch, "%s%s%s", silent != NULL ? silent : "",
                                  silent != NULL ? ", " : "", cell(sheet, t->engine));
            continue;
        }
        (void)put_linef(sheet, "| %s%s | %u of %u | %s | %s | %s | %s |", cell(sheet, t->engine),
                        t->subject ? " (under test)" : "", t->exact, t->judged,
                        percent(t->right_frames, t->own_frames, p),
                        percent(t->right_frames, t->truth_frames, r),
                        percent(t->inline_right, t->inline_demanded, n),
                        percent(t->lines_right, t->lines_judged, l));
    }
    if (silent != NULL)
        (void)put_linef(sheet, "\nNo stack: %.1500s", silent);
    if (report->left_out > 0)
        (void)put_linef(sheet, "\n%u cases are not in these figures: ERROR, without any stack.",
                        report->left_out);
}

/* Medians, with least and most where there are several. */
static void put_headline_table(struct sheet *sheet, const struct run_figures *report)
{
    struct headline h;
    headline_make(report, sheet->scratch, &h);
    const char *head = "| |";
    for (int way = 0; way < WAY_COUNT && head != NULL; way++)
        head = arena_printf(sheet->scratch, "%s %s |", head, h.columns[way]);
    (void)put_line(sheet, head != NULL ? head : "");
    (void)put_line(sheet, "|---|--:|--:|--:|--:|");
    for (int r = 0; r < HEADLINE_ROWS; r++) {
        const struct headline_row *row = &h.rows[r];
        if ((row->own || row->part) && !headline_row_is_known(row))
            continue;
        const char *line =
            arena_printf(sheet->scratch, "| %s: %s |", headline_group_name(row->group), row->name);
        for (int way = 0; way < WAY_COUNT && line != NULL; way++) {
            const struct headline_cell *c = &row->cells[way];
            char median[HEADLINE_TEXT], least[24], most[24];
            line =
                arena_printf(sheet->scratch, "%s %s", line, headline_median_text(row, c, median));
            if (line != NULL && c->state == HEADLINE_MEASURED && !row->part)
                line = arena_printf(sheet->scratch, "%s (%s to %s)", line,
                                    headline_amount_text(row, c->spread.least, least),
                                    headline_amount_text(row, c->spread.most, most));
            line = line != NULL ? arena_printf(sheet->scratch, "%s |", line) : NULL;
        }
        if (line == NULL || !put_line(sheet, line))
            return;
    }
    (void)put_linef(sheet, "\n%s%sForeign: %.200s; %s. %s", h.dominates != NULL ? h.dominates : "",
                    h.dominates != NULL ? " " : "",
                    h.foreign != NULL ? cell(sheet, h.foreign) : "not measured", h.counts, h.scope);
}

static void put_headline(struct sheet *sheet, const struct run_figures *report)
{
    const struct way_times ratio = figures_way_times(report, sheet->scratch);
    const char *foreign = figures_foreign_engine(report);
    char a[24], b[24], c[24], first[64] = "", first_ms[32] = "";
    if (ratio.cases == 0)
        return;
    if (foreign != NULL) {
        (void)snprintf(first, sizeof first, "dump way (%.40s) : ", strchr(foreign, ':') + 1);
        (void)snprintf(first_ms, sizeof first_ms,
                       "%s : ", duration_text(ratio.foreign_ms * 1e6, a));
    }
    (void)put_line(sheet, "\n### Speed");
    put_headline_table(sheet, report);
    (void)put_linef(sheet,
                    "\n**%sdump way (ours) : offset way = %s%s : %s** (one stack on the back end, "
                    "starting cold; medians of %u cases)",
                    first, first_ms, duration_text(ratio.dump_ms * 1e6, b),
                    duration_text(ratio.offset_ms * 1e6, c), (unsigned)ratio.cases);
}

/* The builds of a row of the grid: "ob0, ob2" or "all 4". */
static const char *builds(struct sheet *sheet, const struct grid_row *row)
{
    enum { REPEAT_BYTES = 16 };
    size_t room = 1;
    if (row->all)
        return arena_printf(sheet->scratch, "all %u", row->count);
    for (uint32_t i = 0; i < row->count; i++)
        room += strlen(row->cases[i]->variant) + REPEAT_BYTES;
    char *text = arena_alloc(sheet->scratch, room);
    size_t at = 0;
    for (uint32_t i = 0; i < row->count && text != NULL; i++) {
        const struct run_case *c = row->cases[i];
        at += (size_t)snprintf(&text[at], room - at, "%s%s", i > 0 ? ", " : "", c->variant);
        if (c->repeat > 0)
            at += (size_t)snprintf(&text[at], room - at, "#%u", c->repeat + 1);
    }
    return text;
}

static const char *mark(const struct engine_score *s, char out[24])
{
    if (s == NULL || s->state != STACK_OK || s->frames == 0)
        (void)snprintf(out, 24, "·");
    else if (!s->judged)
        (void)snprintf(out, 24, "%u", s->frames);
    else
        (void)snprintf(out, 24, "%s%u/%u", s->exact ? "✓" : "✗", s->right_frames, s->truth_frames);
    return out;
}

/* The engines under test as columns. */
static void put_grid_heads(struct sheet *sheet, const struct run_figures *report)
{
    const char *head = "| scenario | build | verdict |", *rule = "|---|---|---|";
    for (uint32_t e = 0; e < report->engine_count && head != NULL && rule != NULL; e++)
        if (report->engines[e].subject) {
            head = arena_printf(sheet->scratch, "%s %s |", head,
                                cell(sheet, report->engines[e].engine));
            rule = arena_printf(sheet->scratch, "%s---|", rule);
        }
    (void)put_line(sheet, head != NULL ? head : "");
    (void)put_line(sheet, rule != NULL ? rule : "");
}

struct grid_sheet {
    struct sheet *sheet;
    const struct run_figures *report;
    uint32_t left; /* cases that are in no row yet */
};

static const char *grid_line(struct sheet *sheet, const struct run_figures *report,
                             const struct grid_row *row)
{
    const struct run_case *c = row->cases[0];
    char text[24];
    const char *line =
        arena_printf(sheet->scratch, "| %s | %s | %s |", cell(sheet, c->scenario),
                     cell(sheet, builds(sheet, row)), verdict_name(c->result.verdict));
    for (uint32_t e = 0; e < report->engine_count && line != NULL; e++)
        if (report->engines[e].subject)
            line = arena_printf(sheet->scratch, "%s %s |", line,
                                mark(case_score(c, report->engines[e].engine), text));
    return line;
}

/* False: the sheet is full. */
static bool put_grid_rows(void *context, const struct grid_rows *grid)
{
    struct grid_sheet *to = context;
    struct arena of_row, *const scratch = to->sheet->scratch;
    bool fits = true;
    arena_init(&of_row, 0);
    to->sheet->scratch = &of_row;
    for (uint32_t i = 0; i < grid->count && fits; i++) {
        arena_reset(&of_row);
        const char *line = grid_line(to->sheet, to->report, &grid->rows[i]);
        fits = line != NULL && put_line(to->sheet, line);
        to->left -= fits ? grid->rows[i].count : 0;
    }
    to->sheet->scratch = scratch;
    arena_free(&of_row);
    return fits;
}

static void put_left(const struct grid_sheet *to)
{
    if (to->left > 0)
        (void)fprintf(to->sheet->out, "\n... and %u more cases.\n", to->left);
}

static void put_deviating(struct sheet *sheet, const struct run_figures *report)
{
    struct grid_rows grid;
    struct fault fault = FAULT_INIT;
    if (summary_rows(report, false, sheet->scratch, &grid, &fault) != ERR_NONE || grid.count == 0)
        return;
    struct grid_sheet to = {sheet, report, grid.cases};
    (void)put_linef(sheet, "\n### Cases that deviate: %u of %u", grid.cases, report->total_cases);
    put_grid_heads(sheet, report);
    (void)put_grid_rows(&to, &grid);
    put_left(&to);
}

static enum status put_all_cases(struct sheet *sheet, const struct run_figures *report,
                                 struct fault *fault)
{
    struct grid_sheet to = {sheet, report, report->total_cases};
    if (report->total_cases == 0)
        return ERR_NONE;
    (void)put_linef(sheet, "\n<details><summary>All %u cases</summary>\n", report->total_cases);
    put_grid_heads(sheet, report);
    (void)summary_each_rows(report, put_grid_rows, &to, fault);
    put_left(&to);
    (void)fputs("\n</details>\n", sheet->out);
    return fault->code;
}

/* The snapshots that a .NET runtime refused, with their HRESULT, and what was stood in for. */
static void put_refused(struct sheet *sheet, const struct run_figures *report)
{
    const char *said = NULL; /* the engine whose note was the last */
    struct refused_snapshot refused[REFUSED_SHOWN];
    const uint32_t count = figures_refused(report, refused);
    for (uint32_t i = 0; i < count && i < REFUSED_SHOWN; i++) {
        const struct run_case *c = refused[i].where;
        const struct finding *f = refused[i].finding;
        if (said == NULL)
            (void)put_line(sheet, "\n### Snapshots that the .NET runtime refused");
        said = f->engine;
        (void)put_linef(sheet, "* %s.%s, %s: %.300s", cell(sheet, c->scenario),
                        cell(sheet, c->variant), cell(sheet, f->engine), cell(sheet, f->evidence));
    }
    if (count > REFUSED_SHOWN)
        (void)put_linef(sheet, "* and %u more", count - REFUSED_SHOWN);
    for (uint32_t i = 0; i < report->engine_count && said != NULL; i++)
        if (strcmp(report->engines[i].engine, said) == 0 && report->engines[i].shares != NULL)
            (void)put_linef(sheet, "\n%s: %.300s", cell(sheet, said),
                            cell(sheet, report->engines[i].shares));
}

/* How many stacks of managed code each way got right. */
static void put_managed(struct sheet *sheet, const struct run_figures *report)
{
    struct managed_phase phases[MANAGED_PHASES_MAX];
    const uint32_t count = managed_phases_read(report->run, phases);
    const char *missing = managed_missing(report->run);
    if (count == 0 && missing != NULL)
        (void)put_linef(sheet, "\n### Right stacks of managed code\n%.300s", cell(sheet, missing));
    if (count == 0)
        return;
    (void)put_linef(sheet, "\n### Right stacks of managed code%s%s",
                    phases[0].measured != NULL ? ", measured " : "",
                    cell(sheet, phases[0].measured));
    (void)put_line(sheet, "| while the stopped thread | plain | seeded | copy | in-place |\n"
                          "|---|---|---|---|---|");
    for (uint32_t i = 0; i < count; i++) {
        const char *line = arena_printf(sheet->scratch, "| %s |", cell(sheet, phases[i].name));
        for (int mode = 0; mode < MANAGED_MODES && line != NULL; mode++) {
            const struct managed_count *c = &phases[i].modes[mode];
            char text[MANAGED_CELL_BYTES];
            line = c->samples == 0 ? arena_printf(sheet->scratch, "%s not measured |", line)
                                   : arena_printf(sheet->scratch, "%s %s of %u |", line,
                                                  managed_cell_text(c, text), (unsigned)c->samples);
        }
        if (line == NULL || !put_line(sheet, line))
            return;
    }
    (void)put_line(sheet, "\nr refused, h hijacked, e ended early, w wrong, b blocked");
}

enum status report_markdown(const struct run_figures *report, size_t max_bytes,
                            struct arena *scratch, FILE *out, struct fault *fault)
{
    struct sheet sheet = {out, max_bytes == 0 ? DEFAULT_MAX_BYTES : max_bytes, scratch};
    struct summary summary;
    if (summary_make(report, scratch, &summary, fault) != ERR_NONE)
        return fault->code;
    const uint32_t failing = figures_failing(report);
    const bool fails = failing > 0 || report->problem_count > 0;
    const uint32_t *counts = report->verdicts;
    (void)put_linef(&sheet, "## %s twinstack: %s, %u of %u cases fail%s", fails ? "❌" : "✅",
                    fails ? "FAIL" : "PASS", failing, report->total_cases,
                    report->run->state == RUN_INTERRUPTED ? ", interrupted" : "");
    for (uint32_t i = 0; i < report->problem_count; i++)
        (void)put_linef(&sheet, "* **%.1500s**%s", cell(&sheet, report->problems[i]),
                        i + 1 == report->problem_count ? "\n" : "");
    char line[512] = "";
    for (int v = 0; v < VERDICT_COUNT; v++)
        if (counts[v] > 0)
            (void)snprintf(line + strlen(line), sizeof line - strlen(line), "%s%u %s",
                           line[0] != 0 ? ", " : "", counts[v], verdict_name((enum verdict)v));
    (void)put_line(&sheet, line);
    put_lanes(&sheet, report);
    put_failing(&sheet, report, &summary.failing);
    put_engines(&sheet, report);
    put_headline(&sheet, report);
    put_not_shown(&sheet, &summary.not_shown);
    put_deviating(&sheet, report);
    put_managed(&sheet, report);
    put_refused(&sheet, report);
    if (put_all_cases(&sheet, report, fault) != ERR_NONE)
        return fault->code;
    return ferror(out) != 0 ? fault_set(fault, ERR_IO, FAULT_NO_OFFSET, "writing the report")
                            : ERR_NONE;
}
