/* The report for people at a terminal: as wide as the terminal; the result first, then the reasons.
 */
#include <inttypes.h>
#include <string.h>

#include "report/page.h"
#include "report/text.h"
#include "report/words.h"

/* ---- engines -------------------------------------------------------------------------- */

static void share_cell(const struct page *page, uint64_t right, uint64_t total, int width)
{
    if (total == 0)
        page_cell(page, INK_DIM, width, "-");
    else if (right == total)
        page_cell(page, INK_GOOD, width, "100 %");
    else
        page_cellf(page, INK_PLAIN, width, "%.1f %%", figures_percent(right, total));
}

/* Columns of the table of engines; on a narrow page those with the smallest KEEPS are left out
 * first. */
enum { SHARES = 7, EXACT_COLUMNS = 18 };

static const struct {
    const char *head;
    int measure, width, keeps;
} shares[SHARES] = {
    {"precision", MEASURE_PRECISION, 10, 5}, {"recall", MEASURE_RECALL, 8, 6},
    {"inline", MEASURE_INLINE_RECALL, 8, 3}, {"lines", MEASURE_LINES, 8, 4},
    {"top 1", MEASURE_TOP1, 8, 1},           {"top 5", MEASURE_TOP5, 8, 0},
    {"physical", MEASURE_PHYSICAL, 10, 2},
};

static void print_shares(const struct page *page, const struct measure measures[MEASURES], int less)
{
    for (int i = 0; i < SHARES; i++) {
        const struct measure *m = &measures[shares[i].measure];
        if (shares[i].keeps >= less)
            share_cell(page, m->right, m->total, -shares[i].width);
    }
}

/* How many columns must be left out so that the table fits: those with the smallest KEEPS. */
static int columns_less(const struct page *page, int width)
{
    int less = 0;
    for (int i = 0; i < SHARES; i++)
        width += shares[i].width;
    for (; less < SHARES && width > (int)page->columns; less++)
        for (int i = 0; i < SHARES; i++)
            width -= shares[i].keeps == less ? shares[i].width : 0;
    return less;
}

static void print_engine(const struct page *page, const struct engine_total *t, int name, int less)
{
    page_cellf(page, t->subject ? INK_TITLE : INK_PLAIN, name, "%s%s", t->engine,
               t->subject ? " *" : "");
    if (t->judged == 0) {
        page_cell(page, INK_DIM, 0, t->stacks > 0 ? "nothing to judge by" : "no stack");
        page_line(page);
        return;
    }
    struct measure measures[MEASURES];
    figures_measures(t, measures);
    const struct interval w = measures[MEASURE_EXACT].share;
    page_cellf(page, t->exact == t->judged ? INK_GOOD : INK_PLAIN, EXACT_COLUMNS,
               "%u/%u [%.0f-%.0f %%]", t->exact, t->judged, w.low * 100, w.high * 100);
    print_shares(page, measures, less);
    page_line(page);
}

static void print_engines(const struct page *page, const struct run_figures *report)
{
    int name = 0;
    for (uint32_t i = 0; i < report->engine_count; i++) {
        const int need =
            (int)text_width(report->engines[i].engine) + 1 + (report->engines[i].subject ? 2 : 0);
        name = need > name ? need : name;
    }
    const int less = columns_less(page, name + EXACT_COLUMNS);
    page_title(page, "ENGINES against the truth");
    page_cell(page, INK_DIM, name, "");
    page_cell(page, INK_DIM, EXACT_COLUMNS, "exact stacks");
    for (int i = 0; i < SHARES; i++)
        if (shares[i].keeps >= less)
            page_cell(page, INK_DIM, -shares[i].width, shares[i].head);
    page_line(page);
    for (uint32_t i = 0; i < report->engine_count; i++)
        print_engine(page, &report->engines[i], name, less);
    page_wrap(page, INK_DIM, 0,
              "* subject: decides verdict and exit code · [..] 95 % interval · physical: against "
              "the first subject");
    if (report->left_out > 0) {
        page_cellf(page, INK_WARN, 0,
                   "%u case%s not in these figures: ERROR, and there is no stack to judge",
                   report->left_out, report->left_out == 1 ? " is" : "s are");
        page_line(page);
    }
    if (less > 0) {
        (void)fputs("not shown, since the page is too narrow:", page->out);
        for (int i = 0; i < SHARES; i++)
            if (shares[i].keeps < less)
                (void)fprintf(page->out, " %s", shares[i].head);
        page_line(page);
    }
}

static void print_shared(const struct page *page, const struct run_figures *report)
{
    page_title(page, "WHAT THE ENGINES SHARE (agreement is only as good as independence)");
    for (uint32_t i = 0; i < report->engine_count; i++) {
        const struct engine_total *t = &report->engines[i];
        page_cell(page, INK_PLAIN, 26, t->engine);
        page_wrap(page, INK_DIM, 26, t->shares != NULL ? t->shares : "nothing of ours");
    }
    bool skipped = false;
    for (uint32_t i = 0; i < report->engine_count; i++) {
        const struct engine_total *t = &report->engines[i];
        if (t->stacks > 0 || t->skip_reason == NULL)
            continue;
        if (!skipped)
            page_title(page, "SKIPPED ENGINES");
        skipped = true;
        page_cell(page, INK_PLAIN, 26, t->engine);
        page_wrap(page, INK_DIM, 26, t->skip_reason);
    }
}

/* ---- findings ------------------------------------------------------------------------- */

/* Room for the longest name of a case, and its mark. */
static int name_columns(const struct run_figures *report)
{
    uint32_t most = 0;
    char name[160];
    for (uint32_t i = 0; i < report->case_count; i++) {
        const uint32_t width = text_width(case_name(&report->cases[i], name));
        most = width > most ? width : most;
    }
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

static void print_failures(const struct page *page, const struct run_figures *report)
{
    const int columns = name_columns(report);
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
        if (c->result.right != NULL)
            (void)fprintf(page->out, "%*sright: %s\n", columns, "", c->result.right);
    }
}

/* A scenario that this host cannot show, with one reason and the builds that it applies to. */
struct unsupported {
    const char *reason, *variants, *scenario;
    bool told;
};

static uint32_t collect_unsupported(const struct run_figures *report, struct unsupported *out,
                                    struct arena *scratch)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < report->case_count; i++) {
        const struct run_case *c = &report->cases[i];
        const char *reason = c->result.reason != NULL ? c->result.reason : "";
        struct unsupported *last = count > 0 ? &out[count - 1] : NULL;
        if (c->result.verdict != VERDICT_UNSUPPORTED || c->repeat > 0)
            continue;
        if (last == NULL || strcmp(last->scenario, c->scenario) != 0 ||
            strcmp(last->reason, reason) != 0) {
            out[count++] = (struct unsupported){reason, c->variant, c->scenario, false};
            continue;
        }
        const char *both = arena_printf(scratch, "%s, %s", last->variants, c->variant);
        last->variants = both != NULL ? both : "...";
    }
    return count;
}

enum { NAMES_SHOWN = 12 };

/* The scenarios that share reason and builds with ROWS[0], on one line. */
static void print_unsupported_in(const struct page *page, struct unsupported *rows, uint32_t count,
                                 bool all, struct arena *scratch)
{
    const char *text = rows->scenario;
    const char *reason = rows->reason, *variants = rows->variants;
    uint32_t names = 1;
    for (uint32_t i = 1; i < count && text != NULL; i++) {
        if (strcmp(rows[i].reason, reason) != 0 || strcmp(rows[i].variants, variants) != 0)
            continue;
        rows[i].told = true;
        if (++names <= NAMES_SHOWN || all)
            text = arena_printf(scratch, "%s, %s", text, rows[i].scenario);
    }
    if (text != NULL && names > NAMES_SHOWN && !all)
        text = arena_printf(scratch, "%s and %u more", text, names - NAMES_SHOWN);
    page_cell(page, INK_PLAIN, 2, "");
    if (text != NULL)
        text = arena_printf(scratch, "%s: %s", variants, text);
    page_wrap(page, INK_DIM, 2, text != NULL ? text : "");
}

/* What this host cannot show, grouped by reason. */
static void print_unsupported(const struct page *page, const struct run_figures *report, bool all,
                              struct arena *scratch)
{
    struct unsupported *rows = ARENA_ARRAY(scratch, (size_t)report->case_count, struct unsupported);
    const uint32_t count = rows != NULL ? collect_unsupported(report, rows, scratch) : 0;
    if (count > 0)
        page_title(page, "UNSUPPORTED HERE (counted, never passed)");
    for (uint32_t i = 0; i < count; i++) {
        if (rows[i].told)
            continue;
        page_cell(page, INK_PLAIN, 2, "⊘");
        page_wrap(page, INK_PLAIN, 2, rows[i].reason);
        for (uint32_t k = i; k < count; k++) {
            if (rows[k].told || strcmp(rows[k].reason, rows[i].reason) != 0)
                continue;
            print_unsupported_in(page, &rows[k], count - k, all, scratch);
            rows[k].told = true;
        }
    }
}

static void print_details(const struct page *page, const struct run_figures *report,
                          struct arena *scratch)
{
    const int columns = name_columns(report);
    page_title(page, "EVERY FINDING");
    for (uint32_t i = 0; i < report->case_count; i++)
        for (uint32_t f = 0; f < report->cases[i].result.finding_count; f++) {
            const struct finding *finding = &report->cases[i].result.findings[f];
            char name[160];
            page_cell(page, finding->fails ? INK_BAD : INK_PLAIN, columns,
                      case_name(&report->cases[i], name));
            char blame[BLAME_TEXT_BYTES];
            const bool blamed = finding->blame != BLAME_UNKNOWN;
            const char *said = arena_printf(
                scratch, "%s against %s, %s level: %s%s%s%s%s", finding->engine, finding->against,
                finding_level_name(finding->level), cause_name(finding->cause),
                blamed                   ? ", blame: "
                : finding->wrong != NULL ? ", wrong: "
                                         : "",
                blamed                   ? finding_blame_text(finding, blame)
                : finding->wrong != NULL ? finding->wrong
                                         : "",
                finding->witnesses != NULL ? ", by the word of " : "",
                finding->witnesses != NULL ? finding->witnesses : "");
            page_wrap(page, INK_PLAIN, (uint32_t)columns, said != NULL ? said : "");
            page_cell(page, INK_PLAIN, columns, "");
            page_wrap(page, INK_DIM, (uint32_t)columns,
                      finding->evidence != NULL ? finding->evidence : "");
        }
}

/* ---- head and foot -------------------------------------------------------------------- */

static void print_head(const struct page *page, const struct run_figures *report,
                       struct arena *scratch)
{
    const struct run_info *run = report->run;
    char when[32];
    char title[96];
    if (run->id != 0)
        (void)snprintf(title, sizeof title, "twinstack run %" PRIu64, run->id);
    else /* never stored: `check` */
        (void)snprintf(title, sizeof title, "twinstack %s", run->label != NULL ? run->label : "");
    page_cell(page, INK_TITLE, 0, title);
    if (run->started_ns != 0)
        (void)fprintf(page->out, "  %s", time_text(run->started_ns, when));
    if (run->state != RUN_COMPLETE)
        (void)fprintf(page->out, "  (%s)", run_state_name(run->state));
    if (run->commit != NULL)
        (void)fprintf(page->out, "  %.12s", run->commit);
    if (run->branch != NULL)
        (void)fprintf(page->out, " %s", run->branch);
    page_line(page);
    const char *parts[] = {run->platform, run->compiler, run->cpu};
    const char *all = NULL;
    for (size_t i = 0; i < 3; i++)
        if (parts[i] != NULL)
            all = arena_printf(scratch, "%s%s%s", all != NULL ? all : "", all != NULL ? " · " : "",
                               parts[i]);
    if (all != NULL)
        page_wrap(page, INK_PLAIN, 0, all);
    page_line(page);
}

static void print_totals(const struct page *page, const struct run_figures *report)
{
    uint32_t counts[VERDICT_COUNT] = {0};
    for (uint32_t i = 0; i < report->case_count; i++)
        counts[report->cases[i].result.verdict]++;
    const uint32_t failing = figures_failing(report);
    const bool fails = failing > 0 || report->problem_count > 0;
    page_line(page);
    page_cell(page, fails ? INK_BAD : INK_GOOD, 6, fails ? "FAIL" : "PASS");
    (void)fprintf(page->out, " %u case%s:", report->case_count, report->case_count == 1 ? "" : "s");
    bool first = true;
    for (int v = 0; v < VERDICT_COUNT; v++)
        if (counts[v] > 0) {
            (void)fprintf(page->out, "%s %u %s", first ? "" : ",", counts[v],
                          verdict_name((enum verdict)v));
            first = false;
        }
    page_line(page);
    for (uint32_t i = 0; i < report->problem_count; i++) {
        page_cell(page, INK_BAD, 7, "✗");
        page_wrap(page, INK_PLAIN, 7, report->problems[i]);
    }
}

enum status report_text(const struct run_figures *report, const struct report_style *style,
                        struct arena *scratch, FILE *out, struct fault *fault)
{
    const struct page page = {out, style->color, style->columns == 0 ? 100 : style->columns};
    print_head(&page, report, scratch);
    if (report->case_count == 0) {
        print_totals(&page, report);
        return ERR_NONE;
    }
    text_print_grid(&page, report, scratch);
    print_failures(&page, report);
    print_unsupported(&page, report, style->details, scratch);
    print_engines(&page, report);
    print_causes(&page, report, scratch);
    text_print_doors(&page, report, style->details, scratch);
    if (style->details)
        print_details(&page, report, scratch);
    if (text_print_timing(&page, report, scratch, fault) != ERR_NONE)
        return fault->code;
    print_shared(&page, report);
    print_totals(&page, report);
    text_print_headline(&page, report, scratch);
    return ERR_NONE;
}
