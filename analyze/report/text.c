/* The report for people at a terminal: 100 columns, the answer first, then why. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "report/figures.h"
#include "report/page.h"
#include "report/text.h"

enum {
    NAME_COLUMNS = 23,
    VARIANT_COLUMNS = 6, /* "build" and a blank */
    VERDICT_COLUMNS = 14,
    LEAD_COLUMNS = NAME_COLUMNS + VARIANT_COLUMNS + VERDICT_COLUMNS,
    ENGINE_LEAST = 7,
    ENGINE_MOST = 10,
};

/* The engines that the grid shows: those with a stack, as many as fit. */
struct grid {
    const struct engine_total *engines[CLAIMS_MAX];
    uint32_t count, left_out;
    int width;
};

static enum ink verdict_ink(enum verdict verdict)
{
    if (verdict == VERDICT_PASS || verdict == VERDICT_NOT_CAPTURED_AS_EXPECTED)
        return INK_GOOD;
    if (verdict == VERDICT_UNSUPPORTED)
        return INK_DIM;
    return verdict == VERDICT_XFAIL ? INK_WARN : INK_BAD;
}

/* Never colour alone. */
static const char *verdict_glyph(enum verdict verdict)
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

/* ---- the grid ------------------------------------------------------------------------- */

static struct grid make_grid(const struct page *page, const struct report_run *report)
{
    struct grid grid = {.count = 0};
    const uint32_t room = page->columns > LEAD_COLUMNS ? page->columns - LEAD_COLUMNS : 0;
    for (uint32_t i = 0; i < report->engine_count; i++) {
        if (report->engines[i].stacks == 0)
            continue;
        if ((grid.count + 1) * ENGINE_LEAST <= room)
            grid.engines[grid.count++] = &report->engines[i];
        else
            grid.left_out++;
    }
    grid.width = grid.count > 0 ? (int)(room / grid.count) : ENGINE_MOST;
    if (grid.width > ENGINE_MOST)
        grid.width = ENGINE_MOST;
    return grid;
}

static void engine_header(const struct page *page, const struct grid *grid, bool second)
{
    for (uint32_t i = 0; i < grid->count; i++) {
        const char *name = grid->engines[i]->engine;
        const char *colon = strchr(name, ':');
        char text[64];
        if (second)
            (void)snprintf(text, sizeof text, "%s", colon != NULL ? colon + 1 : "");
        else
            (void)snprintf(text, sizeof text, "%.*s", (int)(colon != NULL ? colon - name : 60),
                           name);
        page_cell(page, INK_DIM, grid->width - 1, text);
        (void)fputc(' ', page->out);
    }
}

static void engine_cell(const struct page *page, const struct engine_score *s, int width)
{
    char text[32] = "·";
    enum ink ink = INK_DIM;
    if (s != NULL && s->state == STACK_OK && s->frames > 0) {
        if (!s->judged) {
            (void)snprintf(text, sizeof text, "%u", s->frames);
        } else if (s->truth_frames > 99) {
            (void)snprintf(text, sizeof text, "%s%.1f%%", s->exact ? "✓" : "✗",
                           floor(1000.0 * s->right_frames / s->truth_frames) / 10);
            ink = s->exact ? INK_GOOD : INK_BAD;
        } else {
            (void)snprintf(text, sizeof text, "%s%u/%u", s->exact ? "✓" : "✗", s->right_frames,
                           s->truth_frames);
            ink = s->exact ? INK_GOOD : s->subject ? INK_BAD : INK_WARN;
        }
    } else if (s != NULL && s->state == STACK_BLOCKED) {
        (void)snprintf(text, sizeof text, "blocked");
    }
    page_cell(page, ink, width - 1, text);
    (void)fputc(' ', page->out);
}

static void print_grid(const struct page *page, const struct report_run *report)
{
    const struct grid grid = make_grid(page, report);
    (void)fprintf(page->out, "%*s", LEAD_COLUMNS, "");
    engine_header(page, &grid, false);
    page_line(page);
    page_cell(page, INK_DIM, NAME_COLUMNS, "scenario");
    page_cell(page, INK_DIM, VARIANT_COLUMNS, "build");
    page_cell(page, INK_DIM, VERDICT_COLUMNS, "verdict");
    engine_header(page, &grid, true);
    page_line(page);
    const char *before = "";
    for (uint32_t i = 0; i < report->case_count; i++) {
        const struct run_case *c = &report->cases[i];
        const enum verdict v = c->result.verdict;
        page_cell(page, INK_PLAIN, NAME_COLUMNS - 1,
                  strcmp(before, c->scenario) ? c->scenario : "");
        (void)fputc(' ', page->out);
        before = c->scenario;
        page_cell(page, INK_PLAIN, VARIANT_COLUMNS, c->variant);
        page_cellf(page, verdict_ink(v), VERDICT_COLUMNS, "%s %s", verdict_glyph(v),
                   short_verdict(v));
        for (uint32_t e = 0; e < grid.count; e++)
            engine_cell(page, case_score(c, grid.engines[e]->engine), grid.width);
        page_line(page);
    }
    page_cell(page, INK_DIM, 0,
              "✓ exact: function, file, line of every frame · 2/3: frames right of frames true · "
              "·: no stack");
    page_line(page);
    if (grid.left_out > 0) {
        page_cellf(page, INK_DIM, 0, "%u more engines do not fit here; they are below",
                   grid.left_out);
        page_line(page);
    }
}

/* ---- engines -------------------------------------------------------------------------- */

static void share_cell(const struct page *page, uint64_t right, uint64_t total, int width)
{
    if (total == 0)
        page_cell(page, INK_DIM, width, "-");
    else if (right == total)
        page_cell(page, INK_GOOD, width, "100 %");
    else
        page_cellf(page, INK_PLAIN, width, "%.1f %%",
                   floor(1000.0 * (double)right / (double)total) / 10);
}

static void print_engines(const struct page *page, const struct report_run *report)
{
    static const char *const heads[] = {"exact stacks", "precision", "recall", "inline",
                                        "lines",        "top 1",     "top 5",  "physical"};
    page_title(page, "ENGINES against the truth");
    page_cell(page, INK_DIM, 22, "");
    page_cell(page, INK_DIM, 18, heads[0]);
    for (size_t i = 1; i < 8; i++)
        page_cell(page, INK_DIM, i == 1 || i == 7 ? -10 : -8, heads[i]);
    page_line(page);
    for (uint32_t i = 0; i < report->engine_count; i++) {
        const struct engine_total *t = &report->engines[i];
        page_cellf(page, t->subject ? INK_TITLE : INK_PLAIN, 22, "%s%s", t->engine,
                   t->subject ? " *" : "");
        if (t->judged == 0) {
            page_cellf(page, INK_DIM, 0, "%s", t->stacks > 0 ? "nothing to judge by" : "no stack");
            page_line(page);
            continue;
        }
        const struct interval w = statistics_wilson(t->exact, t->judged);
        page_cellf(page, t->exact == t->judged ? INK_GOOD : INK_PLAIN, 18, "%u/%u [%.0f-%.0f %%]",
                   t->exact, t->judged, w.low * 100, w.high * 100);
        share_cell(page, t->right_frames, t->own_frames, -10);
        share_cell(page, t->right_frames, t->truth_frames, -8);
        share_cell(page, t->inline_right, t->inline_demanded, -8);
        share_cell(page, t->lines_right, t->lines_judged, -8);
        share_cell(page, t->top1, t->judged, -8);
        share_cell(page, t->top5, t->judged, -8);
        share_cell(page, t->physical_same, t->physical_judged, -10);
        page_line(page);
    }
    page_cell(page, INK_DIM, 0,
              "* subject: decides verdict and exit code · [..] 95 % interval · physical: against "
              "the first subject");
    page_line(page);
}

static void print_shared(const struct page *page, const struct report_run *report)
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

struct cause_sum {
    uint32_t findings, cases, failing, last_case;
    const struct finding *example;
    const struct run_case *where;
};

static void print_causes(const struct page *page, const struct report_run *report)
{
    struct cause_sum sums[CAUSE_COUNT];
    uint32_t all = 0;
    memset(sums, 0, sizeof sums);
    for (uint32_t i = 0; i < report->case_count; i++)
        for (uint32_t f = 0; f < report->cases[i].result.finding_count; f++) {
            const struct finding *finding = &report->cases[i].result.findings[f];
            struct cause_sum *sum = &sums[finding->cause];
            all++;
            sum->findings++;
            sum->failing += finding->fails;
            sum->cases += sum->last_case != i + 1;
            sum->last_case = i + 1;
            if (sum->example == NULL || (finding->fails && !sum->example->fails)) {
                sum->example = finding;
                sum->where = &report->cases[i];
            }
        }
    page_title(page, "WHERE STACKS PART, by cause");
    if (all == 0) {
        page_cell(page, INK_GOOD, 40, "nowhere: every stack agrees");
        page_line(page);
        return;
    }
    for (int c = 0; c < CAUSE_COUNT; c++) {
        const struct cause_sum *sum = &sums[c];
        char name[160];
        if (sum->findings == 0)
            continue;
        page_cell(page, sum->failing > 0 ? INK_BAD : INK_PLAIN, 18, cause_name((enum cause)c));
        page_cellf(page, INK_PLAIN, 30, "%u in %u case%s, %u failing", sum->findings, sum->cases,
                   sum->cases == 1 ? "" : "s", sum->failing);
        page_cellf(page, INK_DIM, 0, "e.g. %s, %s", case_name(sum->where, name),
                   sum->example->engine);
        page_line(page);
        page_cell(page, INK_PLAIN, 18, "");
        page_wrap(page, INK_DIM, 18, sum->example->evidence != NULL ? sum->example->evidence : "");
    }
}

static void print_failures(const struct page *page, const struct report_run *report)
{
    bool titled = false;
    for (uint32_t i = 0; i < report->case_count; i++) {
        const struct run_case *c = &report->cases[i];
        char name[160];
        if (!run_verdict_fails(c->result.verdict))
            continue;
        if (!titled)
            page_title(page, "FAILING CASES");
        titled = true;
        page_cellf(page, INK_BAD, 32, "%s %s", verdict_glyph(c->result.verdict),
                   case_name(c, name));
        page_wrap(page, INK_PLAIN, 32, c->result.reason != NULL ? c->result.reason : "");
        if (c->result.right != NULL)
            (void)fprintf(page->out, "%32sright: %s\n", "", c->result.right);
    }
}

/* Cases that this host cannot show, said once a reason. */
static void print_unsupported(const struct page *page, const struct report_run *report)
{
    bool titled = false;
    for (uint32_t i = 0; i < report->case_count; i++) {
        const struct run_case *c = &report->cases[i];
        if (c->result.verdict != VERDICT_UNSUPPORTED)
            continue;
        if (!titled)
            page_title(page, "UNSUPPORTED HERE (counted, never passed)");
        titled = true;
        char name[160];
        page_cellf(page, INK_DIM, 32, "⊘ %s", case_name(c, name));
        page_wrap(page, INK_DIM, 32, c->result.reason != NULL ? c->result.reason : "");
    }
}

static void print_details(const struct page *page, const struct report_run *report)
{
    page_title(page, "EVERY FINDING");
    for (uint32_t i = 0; i < report->case_count; i++)
        for (uint32_t f = 0; f < report->cases[i].result.finding_count; f++) {
            const struct finding *finding = &report->cases[i].result.findings[f];
            char name[160];
            page_cell(page, finding->fails ? INK_BAD : INK_PLAIN, 30,
                      case_name(&report->cases[i], name));
            page_cellf(page, INK_PLAIN, 70, "%s against %s, %s level: %s%s%s", finding->engine,
                       finding->against, finding_level_name(finding->level),
                       cause_name(finding->cause), finding->wrong != NULL ? ", wrong: " : "",
                       finding->wrong != NULL ? finding->wrong : "");
            page_line(page);
            page_cell(page, INK_PLAIN, 30, "");
            page_wrap(page, INK_DIM, 30, finding->evidence != NULL ? finding->evidence : "");
        }
}

/* ---- head and foot -------------------------------------------------------------------- */

static void print_head(const struct page *page, const struct report_run *report)
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
    bool any = false;
    for (size_t i = 0; i < 3; i++)
        if (parts[i] != NULL) {
            (void)fprintf(page->out, "%s%s", any ? " · " : "", parts[i]);
            any = true;
        }
    (void)fputs(any ? "\n\n" : "\n", page->out);
}

static void print_totals(const struct page *page, const struct report_run *report)
{
    uint32_t counts[VERDICT_COUNT] = {0};
    for (uint32_t i = 0; i < report->case_count; i++)
        counts[report->cases[i].result.verdict]++;
    const uint32_t failing = failing_cases(report);
    page_line(page);
    if (report->run->state != RUN_COMPLETE)
        page_cellf(page, INK_WARN, 0, "%s: ", run_state_name(report->run->state));
    page_cellf(page, failing > 0 ? INK_BAD : INK_GOOD, 6, "%s", failing > 0 ? "FAIL" : "PASS");
    (void)fprintf(page->out, " %u case%s:", report->case_count, report->case_count == 1 ? "" : "s");
    bool first = true;
    for (int v = 0; v < VERDICT_COUNT; v++)
        if (counts[v] > 0) {
            (void)fprintf(page->out, "%s %u %s", first ? "" : ",", counts[v],
                          verdict_name((enum verdict)v));
            first = false;
        }
    page_line(page);
}

enum status report_text(const struct report_run *report, const struct report_style *style,
                        struct arena *scratch, FILE *out, struct fault *fault)
{
    const struct page page = {out, style->color, style->columns == 0 ? 100 : style->columns};
    print_head(&page, report);
    print_grid(&page, report);
    print_failures(&page, report);
    print_unsupported(&page, report);
    print_engines(&page, report);
    print_causes(&page, report);
    if (style->details)
        print_details(&page, report);
    if (text_print_timing(&page, report, scratch, fault) != ERR_NONE)
        return fault->code;
    print_shared(&page, report);
    print_totals(&page, report);
    text_print_headline(&page, report, scratch);
    return ERR_NONE;
}
