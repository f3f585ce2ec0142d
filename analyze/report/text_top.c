/* The top of the terminal report: the answer in at most TOP_LINES lines.  Verdict; what fails and
 * why; engines against the truth; the headline; what this host could not show. */
#include <inttypes.h>
#include <string.h>

#include "report/text.h"
#include "report/words.h"
#include "study/lanes.h"

enum {
    TOP_LINES = 40,
    PROBLEMS_SHOWN = 3,
    NAMES_SHOWN = 4,
    NAME_LINES = 2,
    REASON_LINES = 3,
    REASONS_LEAST = 4, /* lines of NOT SHOWN HERE that failing cases do not take away */
    TITLE_LINES = 2,
};

/* ---- verdict -------------------------------------------------------------------------- */

void text_print_verdict(const struct page *page, const struct run_figures *report)
{
    const uint32_t *counts = report->verdicts;
    const bool fails = figures_failing(report) > 0 || report->problem_count > 0;
    page_cell(page, fails ? INK_BAD : INK_GOOD, 6, fails ? "FAIL" : "PASS");
    page_cellf(page, INK_PLAIN, 0, " %u case%s:", report->total_cases,
               report->total_cases == 1 ? "" : "s");
    bool first = true;
    for (int v = 0; v < VERDICT_COUNT; v++)
        if (counts[v] > 0) {
            page_cellf(page, INK_PLAIN, 0, "%s %u %s", first ? "" : ",", counts[v],
                       verdict_name((enum verdict)v));
            first = false;
        }
    if (report->run->state == RUN_INTERRUPTED)
        page_cell(page, INK_BAD, 0, first ? " interrupted" : ", interrupted");
    page_line(page);
}

/* What a reader would otherwise take for run and right. */
static void print_not_run(const struct page *page, const struct run_figures *report,
                          struct arena *scratch)
{
    const char *text = lanes_not_run(report, scratch);
    const char *line = text != NULL ? arena_printf(scratch, "NOT RUN: %s", text) : NULL;
    if (line != NULL)
        page_wrap_most(page, INK_BAD, 7, REASON_LINES, line);
}

static void print_problems(const struct page *page, const struct run_figures *report, uint32_t most)
{
    for (uint32_t i = 0; i < report->problem_count && i < most; i++) {
        page_cell(page, INK_BAD, 7, "✗");
        page_wrap_most(page, INK_PLAIN, 7, REASON_LINES, report->problems[i]);
    }
    if (report->problem_count > most) {
        page_cellf(page, INK_PLAIN, 0, "%7sand %u more problems of the run as a whole", "",
                   report->problem_count - most);
        page_line(page);
    }
}

static void print_run(const struct page *page, const struct run_info *run, struct arena *scratch)
{
    char when[32];
    char title[96];
    if (run->id != 0)
        (void)snprintf(title, sizeof title, "twinstack run %" PRIu64, run->id);
    else /* never stored: `check` */
        (void)snprintf(title, sizeof title, "twinstack %s", run->label != NULL ? run->label : "");
    page_cell(page, INK_TITLE, 0, title);
    if (run->started_ns != 0)
        page_cellf(page, INK_PLAIN, 0, "  %s", time_text(run->started_ns, when));
    if (run->state != RUN_COMPLETE)
        page_cellf(page, INK_PLAIN, 0, "  (%s)", run_state_name(run->state));
    if (run->commit != NULL)
        page_cellf(page, INK_PLAIN, 0, "  %.12s", run->commit);
    if (run->branch != NULL)
        page_cellf(page, INK_PLAIN, 0, " %s", run->branch);
    page_line(page);
    const char *parts[] = {run->platform, run->compiler, run->cpu};
    const char *all = NULL;
    for (size_t i = 0; i < 3; i++)
        if (parts[i] != NULL)
            all = arena_printf(scratch, "%s%s%s", all != NULL ? all : "", all != NULL ? " · " : "",
                               parts[i]);
    if (all != NULL)
        page_wrap_most(page, INK_DIM, 0, 2, all);
}

/* Only where builds differ in what runs them. */
static void print_counts(const struct page *page, const struct run_figures *report,
                         struct arena *scratch)
{
    const char *text = lanes_counts(report, scratch);
    const char *line = text != NULL && strchr(text, ',') != NULL
                           ? arena_printf(scratch, "cases run: %s", text)
                           : NULL;
    if (line != NULL)
        page_wrap_most(page, INK_DIM, 0, 2, line);
}

/* ---- what fails ----------------------------------------------------------------------- */

static void print_group(const struct page *page, const struct run_figures *report,
                        const struct case_group *group, struct arena *scratch)
{
    const struct run_case *first = group->cases[0];
    const char *names = summary_names(report, group, NAMES_SHOWN, scratch);
    const char *command = report->run->id != 0 ? summary_command(first, scratch) : NULL;
    char head[64];
    (void)snprintf(head, sizeof head, "%s %s  ", verdict_glyph(first->result.verdict),
                   verdict_name(first->result.verdict));
    if (group->count > 1)
        (void)snprintf(head + strlen(head), sizeof head - strlen(head), "%u cases: ", group->count);
    page_cell(page, INK_BAD, 0, head);
    page_wrap_most(page, INK_PLAIN, text_width(head), NAME_LINES, names != NULL ? names : "");
    if (group->reason[0] != '\0') {
        page_cell(page, INK_PLAIN, 2, "");
        page_wrap_most(page, INK_PLAIN, 2, REASON_LINES, group->reason);
    }
    if (first->result.right == NULL && command == NULL)
        return;
    page_cell(page, INK_PLAIN, 2, "");
    const char *more =
        arena_printf(scratch, "%s%s%s%s", first->result.right != NULL ? "right: " : "",
                     first->result.right != NULL ? first->result.right : "",
                     command == NULL               ? ""
                     : first->result.right != NULL ? " · more: "
                                                   : "more: ",
                     command != NULL ? command : "");
    page_wrap(page, INK_DIM, 2, more != NULL ? more : "");
}

static uint32_t group_lines(const struct page *page, const struct run_figures *report,
                            const struct case_group *group, struct arena *scratch)
{
    uint32_t lines = 0;
    const struct page dry = {NULL, false, page->columns, &lines};
    print_group(&dry, report, group, scratch);
    return lines;
}

/* At most LEFT lines.  Returns how many cases it does not mention. */
static uint32_t print_failing(const struct page *page, const struct run_figures *report,
                              const struct case_groups *failing, uint32_t left,
                              struct arena *scratch)
{
    uint32_t cases = failing->cases, g = 0;
    if (cases == 0)
        return 0;
    page_title(page, "WHAT FAILS, and why");
    left = left > TITLE_LINES ? left - TITLE_LINES : 0;
    for (; g < failing->count; g++) {
        const struct case_group *group = &failing->rows[g];
        const uint32_t need = group_lines(page, report, group, scratch);
        const bool last = g + 1 == failing->count;
        if (need + (last ? 0 : 1) > left)
            break;
        print_group(page, report, group, scratch);
        left -= need;
        cases -= group->count;
    }
    if (cases > 0) {
        page_cellf(page, INK_BAD, 0, "%s%u%s case%s, listed under FAILING CASES",
                   g > 0 ? "and " : "", cases, g > 0 ? " more" : "", cases == 1 ? "" : "s");
        page_line(page);
    }
    return cases;
}

/* ---- what is not shown ---------------------------------------------------------------- */

static void print_not_shown(const struct page *page, const struct case_groups *groups,
                            uint32_t left, struct arena *scratch)
{
    uint32_t cases = groups->cases, g = 0;
    if (cases == 0)
        return;
    page_title(page, "NOT SHOWN HERE (UNSUPPORTED: counted, never passed)");
    left = left > TITLE_LINES ? left - TITLE_LINES : 0;
    for (; g < groups->count && (left > 1 || (left == 1 && g + 1 == groups->count)); g++, left--) {
        const char *count = arena_printf(scratch, "%u case%s  ", groups->rows[g].count,
                                         groups->rows[g].count == 1 ? " " : "s");
        page_cell(page, INK_PLAIN, -12, count != NULL ? count : "");
        page_wrap_most(page, INK_DIM, 12, 1, groups->rows[g].reason);
        cases -= groups->rows[g].count;
    }
    if (cases > 0) {
        page_cellf(page, INK_DIM, 0, "and %u cases for %u more reasons", cases, groups->count - g);
        page_line(page);
    }
}

static uint32_t not_shown_lines(const struct case_groups *groups)
{
    const uint32_t rows = groups->count < REASONS_LEAST ? groups->count : REASONS_LEAST;
    return groups->count == 0 ? 0 : TITLE_LINES + rows;
}

/* Lines of engines and headline, which are shown whole. */
static uint32_t fixed_lines(const struct page *page, const struct run_figures *report,
                            struct arena *scratch)
{
    uint32_t lines = 0;
    const struct page dry = {NULL, false, page->columns, &lines};
    text_print_engines(&dry, report, scratch);
    text_print_headline(&dry, report, scratch);
    return lines;
}

bool text_print_top(const struct page *page, const struct run_figures *report,
                    const struct summary *summary, struct arena *scratch)
{
    uint32_t used = 0;
    const struct page counting = {page->out, page->color, page->columns, &used};
    text_print_verdict(&counting, report);
    print_not_run(&counting, report, scratch);
    print_problems(&counting, report, PROBLEMS_SHOWN);
    print_run(&counting, report->run, scratch);
    print_counts(&counting, report, scratch);
    if (report->total_cases == 0)
        return true;
    const uint32_t taken =
        used + fixed_lines(page, report, scratch) + not_shown_lines(&summary->not_shown);
    const uint32_t unnamed = print_failing(&counting, report, &summary->failing,
                                           taken < TOP_LINES ? TOP_LINES - taken : 0, scratch);
    text_print_engines(&counting, report, scratch);
    text_print_headline(&counting, report, scratch);
    print_not_shown(&counting, &summary->not_shown, used < TOP_LINES ? TOP_LINES - used : 0,
                    scratch);
    return unnamed == 0;
}
