/* Engines in the terminal report: how right each is against the truth, and what code they share. */
#include <string.h>

#include "report/text.h"

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

/* How many columns must be left out so that the table fits. */
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
        page_cell(page, INK_DIM, 0, "nothing to judge by");
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

/* The engines without any stack, on one line; `--details` gives the reasons. */
static void print_silent(const struct page *page, const struct run_figures *report,
                         struct arena *scratch)
{
    const char *names = NULL;
    for (uint32_t i = 0; i < report->engine_count; i++)
        if (report->engines[i].stacks == 0)
            names = arena_printf(scratch, "%s%s%s",
                                 names != NULL ? names : "no stack: ", names != NULL ? ", " : "",
                                 report->engines[i].engine);
    if (names != NULL)
        page_wrap(page, INK_DIM, 0, names);
}

void text_print_engines(const struct page *page, const struct run_figures *report,
                        struct arena *scratch)
{
    int name = 0;
    for (uint32_t i = 0; i < report->engine_count; i++) {
        if (report->engines[i].stacks == 0)
            continue;
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
        if (report->engines[i].stacks > 0)
            print_engine(page, &report->engines[i], name, less);
    print_silent(page, report, scratch);
    page_wrap(
        page, INK_DIM, 0,
        "* engine under test: decides verdict and exit code · [..] 95 % interval · top 1, top 5: "
        "innermost frames right · physical: against the first of them");
    if (report->left_out > 0) {
        page_cellf(page, INK_WARN, 0,
                   "%u case%s not in these figures: ERROR, and there is no stack to judge",
                   report->left_out, report->left_out == 1 ? " is" : "s are");
        page_line(page);
    }
    if (less > 0) {
        page_cell(page, INK_PLAIN, 0, "not shown, since the page is too narrow:");
        for (int i = 0; i < SHARES; i++)
            if (shares[i].keeps < less)
                page_cellf(page, INK_PLAIN, 0, " %s", shares[i].head);
        page_line(page);
    }
}

void text_print_shared(const struct page *page, const struct run_figures *report)
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
