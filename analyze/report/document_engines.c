/* Engines in the report: how right each is against the truth, and what code they share. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/array.h"
#include "report/document.h"
#include "study/accuracy.h"

/* On a narrow page the shares with the smallest KEEPS are left out first. */
enum { SHARES = 7, FIRST_SHARE = 2 };

static const struct sheet_column columns[FIRST_SHARE + SHARES] = {
    {"", 0, 0, SHEET_ALWAYS, SHEET_LEFT}, {"exact stacks", 17, 0, SHEET_ALWAYS, SHEET_LEFT},
    {"precision", 0, 0, 5, SHEET_RIGHT},  {"recall", 7, 0, 6, SHEET_RIGHT},
    {"inline", 7, 0, 3, SHEET_RIGHT},     {"lines", 7, 0, 4, SHEET_RIGHT},
    {"top 1", 7, 0, 1, SHEET_RIGHT},      {"top 5", 7, 0, 0, SHEET_RIGHT},
    {"physical", 9, 0, 2, SHEET_RIGHT},
};

static const int share_measures[SHARES] = {MEASURE_PRECISION, MEASURE_RECALL, MEASURE_INLINE_RECALL,
                                           MEASURE_LINES,     MEASURE_TOP1,   MEASURE_TOP5,
                                           MEASURE_PHYSICAL};

static struct sheet_cell value_cell(double share, struct arena *keep)
{
    char text[24];
    figures_share_text(share, text, sizeof text);
    return cell_text(share >= 1 ? INK_GOOD : INK_PLAIN, arena_string(keep, text));
}

static struct sheet_cell share_cell(const struct measure *m, struct arena *keep)
{
    if (m->total == 0)
        return cell_text(INK_DIM, "-");
    return value_cell((double)m->right / (double)m->total, keep);
}

static struct sheet_cell exact_cell(const struct measure *m, struct arena *keep)
{
    return cell_format(keep, m->right == m->total ? INK_GOOD : INK_PLAIN,
                       "%" PRIu64 "/%" PRIu64 " [%.0f-%.0f %%]", m->right, m->total,
                       m->share.low * 100, m->share.high * 100);
}

static struct sheet_cell engine_cell(const void *rows, size_t row, size_t column,
                                     struct arena *keep)
{
    const struct engine_total *t = ((const struct engine_total *const *)rows)[row];
    struct measure measures[MEASURES];
    if (column == 0)
        return cell_format(keep, t->subject ? INK_TITLE : INK_PLAIN, "%s%s", t->engine,
                           t->subject ? " *" : "");
    if (t->judged == 0)
        return (struct sheet_cell){INK_DIM, column == 1 ? "nothing to judge by" : "", column == 1};
    figures_measures(t, measures);
    if (column > 1)
        return share_cell(&measures[share_measures[column - FIRST_SHARE]], keep);
    return exact_cell(&measures[MEASURE_EXACT], keep);
}

/* The engines without any stack, on one line; `--details` gives the reasons. */
static void print_silent(struct sheet *s, const struct run_figures *report)
{
    const char *names = NULL;
    for (uint32_t i = 0; i < report->engine_count; i++)
        if (report->engines[i].stacks == 0)
            names = arena_printf(s->keep, "%s%s%s",
                                 names != NULL ? names : "no stack: ", names != NULL ? ", " : "",
                                 report->engines[i].engine);
    sheet_text(s, INK_DIM, 0, 0, names);
}

size_t document_engines(struct sheet *s, const struct run_figures *report, uint32_t most)
{
    const struct engine_total *rows[CLAIMS_MAX];
    struct sheet_table table = {.columns = columns,
                                .count = FIRST_SHARE + SHARES,
                                .cell = engine_cell,
                                .thing = "reference engine"};
    size_t count = 0, subjects = 0;
    if (run_is_of_reporter(report->run))
        return 0;
    for (uint32_t i = 0; i < report->engine_count && count < CLAIMS_MAX; i++)
        if (report->engines[i].stacks > 0) {
            rows[count++] = &report->engines[i];
            subjects = report->engines[i].subject ? count : subjects;
        }
    size_t shown = count;
    if (most > 0 && most <= count)
        shown = most > subjects ? most : subjects;
    sheet_heading(s, most == DOCUMENT_ALL_AGAIN ? "All engines" : "Engines", " against the truth");
    sheet_table_measure(s, &table, rows, count);
    sheet_table_begin(s, &table);
    sheet_table_rows(s, &table, rows, shown);
    table.left += count - shown;
    sheet_table_end(s, &table);
    print_silent(s, report);
    sheet_text(s, INK_DIM, 0, 0,
               "* engine under test: decides verdict and exit code · [..] 95 % interval · top 1, "
               "top 5: innermost frames right · physical: against the first of them");
    if (report->left_out > 0)
        sheet_textf(s, INK_WARN,
                    "%u case%s not in these figures: ERROR, and there is no stack to "
                    "judge",
                    report->left_out, report->left_out == 1 ? " is" : "s are");
    return count - shown;
}

/* ---- both ways over the same cases ------------------------------------------------------ */

static const struct sheet_column both_columns[] = {
    {"", 0, 0, SHEET_ALWAYS, SHEET_LEFT},
    {"exact stacks", 17, 0, SHEET_ALWAYS, SHEET_LEFT},
    {"top 1", 7, 0, SHEET_ALWAYS, SHEET_RIGHT},
    {"top 3", 7, 0, SHEET_ALWAYS, SHEET_RIGHT},
    {"recall, macro", 0, 0, SHEET_ALWAYS, SHEET_RIGHT},
    {"recall, micro", 0, 0, SHEET_ALWAYS, SHEET_RIGHT},
};

static struct sheet_cell both_cell(const void *rows, size_t row, size_t column, struct arena *keep)
{
    const struct accuracy_way *way = &((const struct accuracy_way *)rows)[row];
    const struct measure *const shares[] = {&way->top1, &way->top3};
    switch (column) {
    case 0:
        return cell_text(INK_TITLE, way->engine);
    case 1:
        return exact_cell(&way->exact, keep);
    case 4:
        return isnan(way->recall_macro) ? cell_text(INK_DIM, "-")
                                        : value_cell(way->recall_macro, keep);
    case 5:
        return share_cell(&way->recall_micro, keep);
    default:
        return share_cell(shares[column - 2], keep);
    }
}

bool document_accuracy(struct sheet *s, const struct run_figures *report)
{
    const struct accuracy *a = report->accuracy;
    if (a == NULL || a->judged.both == 0)
        return false;
    sheet_heading(s, "Both ways",
                  arena_printf(s->keep,
                               " over the same %u case%s; judged only offset %u, only dump %u, "
                               "neither %u",
                               a->judged.both, a->judged.both == 1 ? "" : "s",
                               a->judged.only_offset, a->judged.only_dump, a->judged.neither));
    sheet_show(s, both_columns, COUNT_OF(both_columns), both_cell, a->ways, ACCURACY_WAYS);
    sheet_textf(
        s, INK_DIM,
        "both exact %u, only offset %u, only dump %u, neither %u · macro: by scenario (%u); "
        "micro: by frame",
        a->exact.both, a->exact.only_offset, a->exact.only_dump, a->exact.neither, a->scenarios);
    return true;
}

/* ---- what they share ------------------------------------------------------------------ */

static const struct sheet_column share_columns[] = {{NULL, 25, 0, SHEET_ALWAYS, SHEET_LEFT},
                                                    {NULL, 0, 0, SHEET_ALWAYS, SHEET_WRAP}};

static struct sheet_cell shared_cell(const void *rows, size_t row, size_t column,
                                     struct arena *keep)
{
    const struct engine_total *t = &((const struct engine_total *)rows)[row];
    (void)keep;
    if (column == 0)
        return cell_text(INK_PLAIN, t->engine);
    return cell_text(INK_DIM, t->shares != NULL ? t->shares : "nothing of ours");
}

static struct sheet_cell vote_cell(const void *rows, size_t row, size_t column, struct arena *keep)
{
    const struct engine_vote_row *vote = &((const struct engine_vote_row *)rows)[row];
    if (column == 0)
        return cell_text(INK_PLAIN, vote->part);
    return cell_format(keep, INK_DIM, "%s: %s", vote->engines, vote->when);
}

static struct sheet_cell skipped_cell(const void *rows, size_t row, size_t column,
                                      struct arena *keep)
{
    const struct engine_total *t = ((const struct engine_total *const *)rows)[row];
    (void)keep;
    return cell_text(column == 0 ? INK_PLAIN : INK_DIM, column == 0 ? t->engine : t->skip_reason);
}

void document_shared(struct sheet *s, const struct run_figures *report)
{
    const struct engine_total *skipped[CLAIMS_MAX];
    size_t count = 0;
    sheet_heading(s, "What the engines share", " (agreement is only as good as independence)");
    sheet_show(s, share_columns, 2, shared_cell, report->engines, report->engine_count);
    sheet_heading(s, "Who counts as one", " (when engines disagree and one is blamed)");
    sheet_show(s, share_columns, 2, vote_cell, engine_votes, ENGINE_VOTES);
    for (uint32_t i = 0; i < report->engine_count && count < CLAIMS_MAX; i++)
        if (report->engines[i].stacks == 0 && report->engines[i].skip_reason != NULL)
            skipped[count++] = &report->engines[i];
    if (count == 0)
        return;
    sheet_heading(s, "Skipped engines", "");
    sheet_show(s, share_columns, 2, skipped_cell, skipped, count);
}
