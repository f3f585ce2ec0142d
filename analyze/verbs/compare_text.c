/* See compare_text.h. */
#include "verbs/compare_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/words.h"
#include "verbs/terminal.h"

enum { NAME_COLUMNS = 34, VERDICT_COLUMNS = 13, REASON_INDENT = 4, MARKDOWN_ROWS = 200 };
enum { MARKDOWN_CLUSTERS = 20, REASON_BYTES = 200 };

static const struct run_case *shown_of(const struct diff_row *row)
{
    return row->b != NULL ? row->b : row->a;
}

static const char *verdict_of(const struct run_case *c)
{
    return c == NULL ? "-" : verdict_name(c->result.verdict);
}

/* "new,fixed,slower" holds WORD; NULL holds all but "same". */
static bool is_wanted(const char *only, const char *word)
{
    const size_t size = strlen(word);
    if (only == NULL)
        return strcmp(word, "same") != 0;
    for (const char *at = only; *at != 0; at += strcspn(at, ","), at += *at == ',')
        if (strcspn(at, ",") == size && strncmp(at, word, size) == 0)
            return true;
    return false;
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
    const struct run_case *said = shown_of(row);
    char name[160];
    (void)fputs("  ", page->out);
    page_cell(page, INK_PLAIN, NAME_COLUMNS, case_name(said, name));
    (void)fputs(" ", page->out);
    page_cellf(page, INK_PLAIN, 0, "%s -> %s", verdict_of(row->a), verdict_of(row->b));
    page_line(page);
    if (said->result.reason != NULL && said->result.reason[0] != '\0') {
        (void)fprintf(page->out, "%*s", REASON_INDENT, "");
        page_wrap(page, INK_DIM, REASON_INDENT, said->result.reason);
    }
}

static enum ink ink_of(enum diff_group group)
{
    return group == DIFF_NEW ? INK_BAD : group == DIFF_FIXED ? INK_GOOD : INK_TITLE;
}

static void print_rows(const struct page *page, const struct run_diff *d, const char *only)
{
    for (int g = 0; g < DIFF_GROUPS; g++) {
        const char *word = diff_group_name((enum diff_group)g);
        if (d->counts[g] == 0 || !is_wanted(only, word))
            continue;
        page_line(page);
        page_cellf(page, ink_of((enum diff_group)g), 0, "%s: %u", word, d->counts[g]);
        page_line(page);
        for (uint32_t i = 0; i < d->row_count; i++)
            if (d->rows[i].group == (enum diff_group)g)
                print_row(page, &d->rows[i]);
    }
}

static void print_times(const struct page *page, const struct run_diff *d, const char *only)
{
    bool titled = false;
    for (uint32_t i = 0; i < d->time_count; i++) {
        const struct diff_time *t = &d->times[i];
        const enum change change = t->change.change;
        if (t->cases == 0 || (only != NULL && !is_wanted(only, change_name(change))))
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
                  0,
                  change == CHANGE_TOO_FEW ? "no verdict: too few samples" : change_name(change));
        page_line(page);
    }
}

/* " interrupted" of a run that is not whole. */
static const char *state_of(const struct run_info *run)
{
    static const char *const words[RUN_STATE_COUNT] = {" running", "", " interrupted"};
    return words[run->state];
}

static void print_totals(FILE *out, const struct run_diff *d, const char *only)
{
    uint32_t changes[CHANGE_FASTER + 1] = {0}, engines = 0, cases = 0;
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
    (void)fputs(only != NULL ? " (the lists above are filtered, these totals are not)\n" : "\n",
                out);
}

void compare_print(const struct run_info *a, const struct run_info *b, const struct run_diff *diff,
                   const char *only)
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

static const char *reason_of(const struct run_case *c, struct arena *keep)
{
    const char *reason = c->result.reason != NULL ? c->result.reason : "";
    size_t bytes = strlen(reason);
    if (bytes <= REASON_BYTES)
        return markdown_text(reason, keep);
    for (bytes = REASON_BYTES; bytes > 0 && ((unsigned char)reason[bytes] & 0xc0) == 0x80;)
        bytes--;
    const char *cut = arena_printf(keep, "%.*s ...", (int)bytes, reason);
    return cut != NULL ? markdown_text(cut, keep) : "";
}

/* "module" of the first "module!0x" in a reason; "": none. */
static const char *module_of(const char *reason, struct arena *keep)
{
    const char *mark = reason != NULL ? strstr(reason, "!0x") : NULL;
    const char *start = mark;
    while (start != NULL && start > reason && start[-1] != ' ' && start[-1] != '(')
        start--;
    const char *text = start != NULL ? arena_text(keep, start, (size_t)(mark - start)) : NULL;
    return text != NULL ? text : "";
}

/* What a reason says of whose fault it is; "": nothing. */
static const char *blame_of(const char *reason, struct arena *keep)
{
    static const char mark[] = "; blame: ";
    const char *at = reason != NULL ? strstr(reason, mark) : NULL;
    const char *text = at != NULL ? arena_string(keep, at + sizeof mark - 1) : NULL;
    return text != NULL ? text : "";
}

struct cluster {
    const char *cause, *module;
    const struct run_case *example; /* the one with the shortest name: simple ones have those */
    uint32_t cases;
};

static bool is_worse(const struct diff_row *row)
{
    return row->counts && row->b != NULL &&
           (row->group == DIFF_NEW || row->group == DIFF_CHANGED) &&
           run_verdict_fails(row->b->result.verdict);
}

static size_t name_bytes(const struct run_case *c)
{
    return strlen(c->scenario) + strlen(c->variant);
}

static int by_cases(const void *x, const void *y)
{
    const struct cluster *a = x, *b = y;
    if (a->cases != b->cases)
        return a->cases > b->cases ? -1 : 1;
    return strcmp(a->example->scenario, b->example->scenario);
}

/* What broke, in one line for each cause and module. */
static void print_clusters(const struct run_diff *d, struct arena *keep)
{
    struct cluster *clusters = ARENA_ARRAY(keep, (size_t)d->row_count + 1, struct cluster);
    uint32_t count = 0;
    for (uint32_t i = 0; clusters != NULL && i < d->row_count; i++) {
        const struct run_case *c = d->rows[i].b;
        uint32_t at = 0;
        if (!is_worse(&d->rows[i]))
            continue;
        const char *cause =
            c->result.signature != NULL ? c->result.signature : verdict_name(c->result.verdict);
        const char *module = module_of(c->result.reason, keep);
        while (at < count &&
               (strcmp(clusters[at].cause, cause) != 0 || strcmp(clusters[at].module, module) != 0))
            at++;
        if (at == count)
            clusters[count++] = (struct cluster){cause, module, c, 0};
        clusters[at].cases++;
        if (name_bytes(c) < name_bytes(clusters[at].example))
            clusters[at].example = c;
    }
    if (count == 0)
        return;
    qsort(clusters, count, sizeof *clusters, by_cases);
    (void)puts("\n| cases | cause | module | blame | example | why |\n|---|---|---|---|---|---|");
    for (uint32_t i = 0; i < count && i < MARKDOWN_CLUSTERS; i++) {
        const struct run_case *c = clusters[i].example;
        char name[160];
        (void)printf("| %u | %s | %s | %s | %s | %s |\n", clusters[i].cases,
                     markdown_text(clusters[i].cause, keep),
                     markdown_text(clusters[i].module, keep),
                     markdown_text(blame_of(c->result.reason, keep), keep),
                     markdown_text(case_name(c, name), keep), reason_of(c, keep));
    }
    if (count > MARKDOWN_CLUSTERS)
        (void)printf("\n... and %u more causes.\n", count - MARKDOWN_CLUSTERS);
    (void)puts("\nLook at an example with `twinstack check` and the folder of its case.");
}

void compare_print_markdown(const struct run_info *a, const struct run_info *b,
                            const struct run_diff *d, const char *only, struct arena *keep)
{
    uint32_t wanted = 0;
    (void)printf("### %u new, %u fixed, %u changed\n\n", d->counts[DIFF_NEW], d->counts[DIFF_FIXED],
                 d->counts[DIFF_CHANGED]);
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
    print_clusters(d, keep);
    (void)puts("\n| | case | before | now | reason |\n|---|---|---|---|---|");
    for (uint32_t i = 0; i < d->row_count; i++) {
        char name[160];
        const struct diff_row *row = &d->rows[i];
        if (row->group == DIFF_SAME || !is_wanted(only, diff_group_name(row->group)) ||
            wanted++ >= MARKDOWN_ROWS)
            continue;
        (void)printf("| %s | %s | %s | %s | %s |\n", diff_group_name(row->group),
                     markdown_text(case_name(shown_of(row), name), keep), verdict_of(row->a),
                     verdict_of(row->b), reason_of(shown_of(row), keep));
    }
    if (wanted > MARKDOWN_ROWS)
        (void)printf("\n... and %u more.\n", wanted - MARKDOWN_ROWS);
    (void)puts("\n| engine | cases | now : before | verdict |\n|---|---|---|---|");
    for (uint32_t i = 0; i < d->time_count; i++)
        if (d->times[i].cases > 0)
            (void)printf("| %s | %u | %.3f | %s |\n", markdown_text(d->times[i].engine, keep),
                         d->times[i].cases, d->times[i].ratio,
                         d->times[i].change.change == CHANGE_TOO_FEW
                             ? "too few samples"
                             : change_name(d->times[i].change.change));
    print_totals(stdout, d, only);
}
