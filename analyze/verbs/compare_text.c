/* See compare_text.h. */
#include "verbs/compare_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/words.h"
#include "verbs/terminal.h"

enum { NAME_COLUMNS = 34, VERDICT_COLUMNS = 13, REASON_INDENT = 4, MARKDOWN_ROWS = 200 };
enum { MARKDOWN_CLUSTERS = 20, MARKDOWN_OPEN_ROWS = 10, REASON_BYTES = 200 };

static const struct diff_case *shown_of(const struct diff_row *row)
{
    return row->b != NULL ? row->b : row->a;
}

static const char *verdict_of(const struct diff_case *c)
{
    return c == NULL ? "-" : verdict_name(c->verdict);
}

static bool is_wanted(const struct compare_only *only, enum diff_group group)
{
    return only->given ? only->groups[group] : group != DIFF_SAME;
}

static const char *or_unknown(const char *text)
{
    return text != NULL ? text : "(unknown)";
}

static void print_facts(const struct page *page, const struct run_diff *d)
{
    if (d->fact_count == 0) {
        page_cell(page, INK_DIM, 0, "environment: the same on both sides");
        page_line(page);
        return;
    }
    page_cell(page, INK_WARN, 0, "ENVIRONMENT IS NOT THE SAME: results may differ for that alone");
    page_line(page);
    for (uint32_t i = 0; i < d->fact_count; i++) {
        (void)fputs("  ", page->out);
        page_cell(page, INK_PLAIN, 20, d->facts[i].name);
        (void)fputs(" ", page->out);
        page_cell(page, INK_PLAIN, 0, or_unknown(d->facts[i].a));
        (void)fputs(" -> ", page->out);
        page_cell(page, INK_PLAIN, 0, or_unknown(d->facts[i].b));
        page_line(page);
    }
}

static void print_row(const struct page *page, const struct diff_row *row)
{
    const struct diff_case *said = shown_of(row);
    char name[160];
    (void)fputs("  ", page->out);
    page_cell(page, INK_PLAIN, NAME_COLUMNS, diff_case_name(said, name));
    (void)fputs(" ", page->out);
    page_cellf(page, INK_PLAIN, 0, "%s -> %s", verdict_of(row->a), verdict_of(row->b));
    page_line(page);
    if (said->reason != NULL && said->reason[0] != '\0') {
        (void)fprintf(page->out, "%*s", REASON_INDENT, "");
        page_wrap(page, INK_DIM, REASON_INDENT, said->reason);
    }
}

static enum ink ink_of(enum diff_group group)
{
    return group == DIFF_NEW ? INK_BAD : group == DIFF_FIXED ? INK_GOOD : INK_TITLE;
}

static void print_rows(const struct page *page, const struct run_diff *d,
                       const struct compare_only *only)
{
    for (int g = 0; g < DIFF_GROUPS; g++) {
        if (d->counts[g] == 0 || !is_wanted(only, (enum diff_group)g))
            continue;
        page_line(page);
        page_cellf(page, ink_of((enum diff_group)g), 0, "%s: %u",
                   diff_group_name((enum diff_group)g), d->counts[g]);
        page_line(page);
        for (uint32_t i = 0; i < d->row_count; i++)
            if (d->rows[i].group == (enum diff_group)g)
                print_row(page, &d->rows[i]);
    }
}

static void print_times(const struct page *page, const struct run_diff *d,
                        const struct compare_only *only)
{
    bool titled = false;
    for (uint32_t i = 0; i < d->time_count; i++) {
        const struct diff_time *t = &d->times[i];
        const enum change change = t->change.change;
        if (t->cases == 0 || (only->given && !only->changes[change]))
            continue;
        if (!titled)
            page_title(page,
                       "times on the back end, of the cases that both runs have; now : before");
        titled = true;
        (void)fputs("  ", page->out);
        page_cell(page, INK_PLAIN, 22, t->engine);
        (void)fprintf(page->out, " %5u cases  x %.3f  p %.4f  threshold %.1f %%  ", t->cases,
                      t->ratio, t->change.p, t->change.threshold * 100);
        page_cell(page,
                  change == CHANGE_SLOWER   ? INK_BAD
                  : change == CHANGE_FASTER ? INK_GOOD
                                            : INK_DIM,
                  0, change_words(change));
        page_line(page);
    }
}

/* " interrupted" of a run that is not whole. */
static const char *state_of(const struct run_info *run)
{
    static const char *const words[RUN_STATE_COUNT] = {" running", "", " interrupted"};
    return words[run->state];
}

static void print_totals(FILE *out, const struct run_diff *d, const struct compare_only *only)
{
    uint32_t changes[CHANGE_COUNT] = {0}, engines = 0, cases = 0;
    for (int g = 0; g < DIFF_GROUPS; g++)
        cases += d->counts[g];
    (void)fprintf(out, "\n%u cases in all:", cases);
    for (int g = 0; g < DIFF_GROUPS; g++)
        (void)fprintf(out, "%s %u %s", g > 0 ? "," : "", d->counts[g],
                      diff_group_name((enum diff_group)g));
    for (uint32_t i = 0; i < d->time_count; i++)
        if (d->times[i].cases > 0) {
            changes[d->times[i].change.change]++;
            engines++;
        }
    if (engines > 0)
        (void)fprintf(out, "\ntimes of %u engines: %u slower, %u faster, %u same, %u too few",
                      engines, changes[CHANGE_SLOWER], changes[CHANGE_FASTER], changes[CHANGE_NONE],
                      changes[CHANGE_TOO_FEW]);
    if (changes[CHANGE_TOO_NOISY] > 0)
        (void)fprintf(out, ", %u too noisy to judge", changes[CHANGE_TOO_NOISY]);
    (void)fputs(only->given ? " (the lists above are filtered, these totals are not)\n" : "\n",
                out);
}

void compare_print(const struct run_info *a, const struct run_info *b, const struct run_diff *diff,
                   const struct compare_only *only)
{
    const struct page page = terminal_page();
    page_cellf(&page, INK_TITLE, 0, "run %" PRIu64 " (%.12s%s) -> run %" PRIu64 " (%.12s%s)", a->id,
               a->commit != NULL ? a->commit : "?", state_of(a), b->id,
               b->commit != NULL ? b->commit : "?", state_of(b));
    page_line(&page);
    print_facts(&page, diff);
    print_rows(&page, diff, only);
    print_times(&page, diff, only);
    print_totals(stdout, diff, only);
}

static const char *reason_text(const char *reason, struct arena *keep)
{
    size_t bytes = reason != NULL ? strlen(reason) : 0;
    if (bytes <= REASON_BYTES)
        return markdown_text(reason, keep);
    for (bytes = REASON_BYTES; bytes > 0 && ((unsigned char)reason[bytes] & 0xc0) == 0x80;)
        bytes--;
    const char *cut = arena_printf(keep, "%.*s ...", (int)bytes, reason);
    return cut != NULL ? markdown_text(cut, keep) : "";
}

static const char *run_text(uint64_t run, const char *commit, struct arena *keep)
{
    return commit != NULL ? arena_printf(keep, "run %" PRIu64 " (%.12s)", run, commit)
                          : arena_printf(keep, "run %" PRIu64, run);
}

/* "run 7 (89abcdef0123); passed in run 6 (0123456789ab)" */
static const char *since_text(const struct case_history *since, struct arena *keep)
{
    if (since->failing_run == 0)
        return "";
    const char *text = run_text(since->failing_run, since->failing_commit, keep);
    const char *good =
        since->good_run != 0 ? run_text(since->good_run, since->good_commit, keep) : NULL;
    if (text != NULL && good != NULL)
        text = arena_printf(keep, "%s; passed in %s%s", text, good,
                            since->good_elsewhere ? " of the other database" : "");
    return text != NULL ? markdown_text(text, keep) : "";
}

/* A code span; what cannot be in one is left out. */
static const char *code_text(const char *text, struct arena *keep)
{
    char *out = arena_string(keep, text);
    for (char *at = out; at != NULL && *at != '\0'; at++)
        if (*at == '`' || *at == '|' || (unsigned char)*at < 0x20)
            *at = '?';
    return out != NULL ? out : "";
}

/* What broke, in one line for each cause, module and blame. */
static void print_clusters(const struct difference *d, struct arena *keep)
{
    if (d->cluster_count == 0)
        return;
    (void)puts("\n| cases | smallest example | cause | module | blame | since | why |\n"
               "|---|---|---|---|---|---|---|");
    for (uint32_t i = 0; i < d->cluster_count && i < MARKDOWN_CLUSTERS; i++) {
        const struct cluster *c = &d->clusters[i];
        char name[160];
        (void)printf("| %u | %s | %s | %s | %s | %s | %s |\n", c->cases,
                     markdown_text(diff_case_name(c->example, name), keep),
                     markdown_text(c->cause, keep), markdown_text(c->module, keep),
                     markdown_text(c->blame, keep), since_text(&c->since, keep),
                     reason_text(c->reason, keep));
    }
    if (d->cluster_count > MARKDOWN_CLUSTERS)
        (void)printf("\n... and %u more causes.\n", d->cluster_count - MARKDOWN_CLUSTERS);
    const struct diff_case *first = d->clusters[0].example;
    (void)printf("\nTo see the first one: `twinstack run -k %s.%s`",
                 code_text(first->scenario, keep), code_text(first->variant, keep));
    if (first->folder != NULL)
        (void)printf(", or its sealed case: `twinstack check %s`", code_text(first->folder, keep));
    (void)puts(".");
}

/* A case that the other run did not ask for is only counted, unless it was asked about. */
static bool is_row(const struct compare_only *only, enum diff_group group)
{
    return group != DIFF_SAME && is_wanted(only, group) &&
           (only->given || group != DIFF_NOT_SELECTED);
}

/* Every case that differs; folded away where the clusters have said it shorter. */
static void print_cases(const struct difference *difference, const struct compare_only *only,
                        struct arena *keep)
{
    const struct run_diff *d = &difference->diff;
    uint32_t wanted = 0, shown = 0;
    for (uint32_t i = 0; i < d->row_count; i++)
        wanted += is_row(only, d->rows[i].group);
    const bool folded = difference->cluster_count > 0 && wanted > MARKDOWN_OPEN_ROWS;
    if (folded)
        (void)printf("\n<details><summary>%u cases that differ</summary>\n", wanted);
    (void)puts("\n| | case | before | now | reason |\n|---|---|---|---|---|");
    for (uint32_t i = 0; i < d->row_count && shown < MARKDOWN_ROWS; i++) {
        char name[160];
        const struct diff_row *row = &d->rows[i];
        if (!is_row(only, row->group))
            continue;
        shown++;
        (void)printf("| %s | %s | %s | %s | %s |\n", diff_group_name(row->group),
                     markdown_text(diff_case_name(shown_of(row), name), keep), verdict_of(row->a),
                     verdict_of(row->b), reason_text(shown_of(row)->reason, keep));
    }
    if (wanted > shown)
        (void)printf("\n... and %u more.\n", wanted - shown);
    if (folded)
        (void)puts("\n</details>");
}

void compare_print_markdown(const struct difference *difference, const struct compare_only *only,
                            struct arena *keep)
{
    const struct run_info *a = difference->a, *b = difference->b;
    const struct run_diff *d = &difference->diff;
    (void)printf("### %u new, %u fixed, %u changed", d->counts[DIFF_NEW], d->counts[DIFF_FIXED],
                 d->counts[DIFF_CHANGED]);
    if (d->counts[DIFF_GONE] > 0)
        (void)printf(", %u gone", d->counts[DIFF_GONE]);
    const char *headline = difference_headline(difference, keep);
    (void)printf("\n\n%s%s%s", headline != NULL ? "**" : "",
                 headline != NULL ? markdown_text(headline, keep) : "",
                 headline != NULL ? "**\n\n" : "");
    for (int side = 0; side < 2; side++) {
        const struct run_info *run = side == 0 ? a : b;
        if (run->state != RUN_COMPLETE)
            (void)printf("> **run %" PRIu64 " is not whole**: it is%s\n>\n", run->id,
                         state_of(run));
    }
    for (uint32_t i = 0; i < d->fact_count; i++)
        (void)printf("> **%s**: %s → %s\n>\n", markdown_text(d->facts[i].name, keep),
                     markdown_text(or_unknown(d->facts[i].a), keep),
                     markdown_text(or_unknown(d->facts[i].b), keep));
    print_clusters(difference, keep);
    print_cases(difference, only, keep);
    (void)puts("\n| engine | cases | now : before | verdict |\n|---|---|---|---|");
    for (uint32_t i = 0; i < d->time_count; i++)
        if (d->times[i].cases > 0)
            (void)printf("| %s | %u | %.3f | %s |\n", markdown_text(d->times[i].engine, keep),
                         d->times[i].cases, d->times[i].ratio,
                         change_words(d->times[i].change.change));
    print_totals(stdout, d, only);
}
