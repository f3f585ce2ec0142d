/* The report for people at a terminal, as wide as the terminal: the answer first (text_top.c), then
 * the cases that deviate, the failing ones, and causes; with details everything else. */
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "report/page.h"
#include "report/text.h"
#include "report/words.h"

enum { ALIKE_SHOWN = 3 }; /* findings of a case that differ only in their place */

/* ---- findings ------------------------------------------------------------------------- */

static uint32_t wider(uint32_t width, const struct run_case *c)
{
    char name[160];
    const uint32_t own = text_width(case_name(c, name));
    return own > width ? own : width;
}

/* Room for the longest name of a failing case, and its mark. */
static int failing_columns(const struct run_figures *report)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < report->case_count; i++)
        if (run_verdict_fails(report->cases[i].result.verdict))
            most = wider(most, &report->cases[i]);
    return (int)most + 3;
}

/* The same for all cases, wherever they are. */
static int name_columns(const struct run_figures *report, struct fault *fault)
{
    struct case_window w;
    uint32_t most = 0;
    case_window_open(&w, report, 0);
    for (uint32_t i = 0; i < w.count && fault->code == ERR_NONE; i++) {
        const struct run_case *c = case_window_get(&w, i, fault);
        most = c != NULL ? wider(most, c) : most;
    }
    case_window_close(&w);
    return (int)most + 3;
}

static void print_causes(const struct page *page, const struct run_figures *report,
                         struct arena *scratch)
{
    struct cause_total totals[CAUSE_COUNT];
    const uint32_t all = figures_causes(report, totals);
    page_title(page, "WHERE STACKS DIFFER, by cause");
    if (all == 0) {
        page_cell(page, INK_GOOD, 0, "nowhere: every stack agrees");
        page_line(page);
        return;
    }
    for (int c = 0; c < CAUSE_COUNT; c++) {
        const struct cause_total *sum = &totals[c];
        char name[160];
        if (sum->findings == 0)
            continue;
        page_cell(page, sum->failing > 0 ? INK_BAD : INK_PLAIN, 18, cause_name((enum cause)c));
        page_cellf(page, INK_PLAIN, 0, "%u in %u case%s, %u failing", sum->findings, sum->cases,
                   sum->cases == 1 ? "" : "s", sum->failing);
        page_line(page);
        const char *example = arena_printf(
            scratch, "e.g. %s, %s: %s", case_name(sum->where, name), sum->example->engine,
            sum->example->evidence != NULL ? sum->example->evidence : "");
        page_cell(page, INK_PLAIN, 18, "");
        page_wrap(page, INK_DIM, 18, example != NULL ? example : "");
    }
}

static void print_failures(const struct page *page, const struct run_figures *report,
                           struct arena *scratch)
{
    const int columns = failing_columns(report);
    bool titled = false;
    for (uint32_t i = 0; i < report->case_count; i++) {
        const struct run_case *c = &report->cases[i];
        char name[160];
        if (!run_verdict_fails(c->result.verdict))
            continue;
        if (!titled)
            page_title(page, "FAILING CASES");
        titled = true;
        page_cellf(page, INK_BAD, columns, "%s %s", verdict_glyph(c->result.verdict),
                   case_name(c, name));
        page_wrap(page, INK_PLAIN, (uint32_t)columns,
                  c->result.reason != NULL ? c->result.reason : "");
        if (c->result.right != NULL) {
            const char *right = arena_printf(scratch, "right: %s", c->result.right);
            page_cell(page, INK_PLAIN, columns, "");
            page_wrap(page, INK_PLAIN, (uint32_t)columns, right != NULL ? right : "");
        }
    }
}

/* What this host cannot show: each reason with all its cases. */
static void print_not_shown(const struct page *page, const struct run_figures *report,
                            const struct case_groups *groups, struct arena *scratch)
{
    if (groups->count > 0)
        page_title(page, "NOT SHOWN HERE, with names");
    for (uint32_t g = 0; g < groups->count; g++) {
        const char *names = summary_names(report, &groups->rows[g], UINT32_MAX, scratch);
        page_cell(page, INK_PLAIN, 2, "⊘");
        page_wrap(page, INK_PLAIN, 2, groups->rows[g].reason);
        page_cell(page, INK_PLAIN, 2, "");
        page_wrap(page, INK_DIM, 2, names != NULL ? names : "");
    }
}

static void print_finding(const struct page *page, const struct run_case *c,
                          const struct finding *finding, uint32_t times, int columns,
                          struct arena *scratch)
{
    char name[160], blame[BLAME_TEXT_BYTES];
    const bool blamed =
        finding->blame != BLAME_UNKNOWN && (finding->blame != BLAME_EVEN || finding->wrong == NULL);
    const char *said = arena_printf(scratch, "%s against %s, %s level: %s%s%s%s%s", finding->engine,
                                    finding->against, finding_level_name(finding->level),
                                    cause_name(finding->cause),
                                    blamed                   ? ", blame: "
                                    : finding->wrong != NULL ? ", wrong: "
                                                             : "",
                                    blamed                   ? finding_blame_text(finding, blame)
                                    : finding->wrong != NULL ? finding->wrong
                                                             : "",
                                    finding->witnesses != NULL ? ", according to " : "",
                                    finding->witnesses != NULL ? finding->witnesses : "");
    page_cell(page, finding->fails ? INK_BAD : INK_PLAIN, columns, case_name(c, name));
    page_wrap(page, INK_PLAIN, (uint32_t)columns, said != NULL ? said : "");
    page_cell(page, INK_PLAIN, columns, "");
    const char *evidence = finding->evidence != NULL ? finding->evidence : "";
    if (times > 1)
        evidence = arena_printf(scratch, "%s (%u times)", evidence, times);
    page_wrap(page, INK_DIM, (uint32_t)columns, evidence != NULL ? evidence : "");
}

/* True when two findings of a case say the same; with EVIDENCE, about the same place. */
static bool is_alike(const struct finding *a, const struct finding *b, bool evidence)
{
    return a->cause == b->cause && a->level == b->level && a->blame == b->blame &&
           a->fails == b->fails && strcmp(a->engine, b->engine) == 0 &&
           text_equal(a->against, b->against) && text_equal(a->wrong, b->wrong) &&
           text_equal(a->witnesses, b->witnesses) &&
           (!evidence || text_equal(a->evidence, b->evidence));
}

/* Findings from FROM on that are like the first one there. */
static uint32_t count_alike(const struct case_result *r, uint32_t from, bool evidence)
{
    uint32_t count = 0;
    for (uint32_t i = from; i < r->finding_count; i++)
        count += is_alike(&r->findings[from], &r->findings[i], evidence);
    return count;
}

static bool was_met(const struct case_result *r, uint32_t at, bool evidence)
{
    for (uint32_t i = 0; i < at; i++)
        if (is_alike(&r->findings[i], &r->findings[at], evidence))
            return true;
    return false;
}

/* A deep recursion has the same finding hundreds of times: it is printed once, with its count, and
 * of findings that differ only in their place the first few. */
static void print_findings(const struct page *page, const struct run_case *c, int columns,
                           struct arena *scratch)
{
    const struct case_result *r = &c->result;
    for (uint32_t first = 0; first < r->finding_count; first++) {
        uint32_t shown = 0, counted = 0;
        if (was_met(r, first, false))
            continue;
        for (uint32_t f = first; f < r->finding_count && shown < ALIKE_SHOWN; f++) {
            if (!is_alike(&r->findings[first], &r->findings[f], false) || was_met(r, f, true))
                continue;
            const uint32_t times = count_alike(r, f, true);
            print_finding(page, c, &r->findings[f], times, columns, scratch);
            counted += times;
            shown++;
        }
        const uint32_t all = count_alike(r, first, false);
        if (all == counted)
            continue;
        page_cell(page, INK_PLAIN, columns, "");
        page_cellf(page, INK_DIM, 0, "and %u more findings like %s", all - counted,
                   shown == 1 ? "this one" : "these");
        page_line(page);
    }
}

static enum status print_details(const struct page *page, const struct run_figures *report,
                                 struct fault *fault)
{
    struct arena scratch;
    struct case_window w;
    const int columns = name_columns(report, fault);
    arena_init(&scratch, 0);
    page_title(page, "EVERY FINDING");
    case_window_open(&w, report, CASE_FINDINGS);
    for (uint32_t i = 0; i < w.count && fault->code == ERR_NONE; i++) {
        const struct run_case *c = case_window_get(&w, i, fault);
        if (c != NULL)
            print_findings(page, c, columns, &scratch);
        arena_reset(&scratch);
    }
    case_window_close(&w);
    arena_free(&scratch);
    return fault->code;
}

/* After a long report, its last lines are what a terminal shows. */
static void print_end(const struct page *page, const struct run_figures *report, bool details,
                      const char *db, struct arena *scratch)
{
    page_line(page);
    text_print_verdict(page, report);
    if (details || report->run->id == 0)
        return;
    const char *more =
        arena_printf(scratch,
                     "`twinstack report %" PRIu64
                     "%s%s --details` shows every case and finding, hooks and times",
                     report->run->id, db != NULL ? " --db " : "", db != NULL ? db : "");
    page_wrap(page, INK_DIM, 0, more != NULL ? more : "");
}

enum status report_text(const struct run_figures *report, const struct report_style *style,
                        struct arena *scratch, FILE *out, struct fault *fault)
{
    const struct page page = {out, style->color, style->columns == 0 ? 100 : style->columns, NULL};
    struct summary summary;
    if (summary_make(report, scratch, &summary, fault) != ERR_NONE)
        return fault->code;
    const bool all_named = text_print_top(&page, report, &summary, scratch);
    if (report->total_cases == 0)
        return ERR_NONE;
    if (text_print_grid(&page, report, style->details, scratch, fault) != ERR_NONE)
        return fault->code;
    if (!all_named || style->details)
        print_failures(&page, report, scratch);
    print_causes(&page, report, scratch);
    text_print_doors(&page, report, style->details, scratch);
    if (style->details) {
        print_not_shown(&page, report, &summary.not_shown, scratch);
        if (print_details(&page, report, fault) != ERR_NONE ||
            text_print_timing(&page, report, scratch, fault) != ERR_NONE)
            return fault->code;
        text_print_shared(&page, report);
        text_print_symbols(&page, report, scratch);
        text_print_managed(&page, report);
    }
    print_end(&page, report, style->details, style->db, scratch);
    return ERR_NONE;
}
