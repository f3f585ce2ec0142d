/* See compare_text.h. */
#include "verbs/compare_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "model/command_line.h"
#include "report/words.h"

enum { ROWS_MOST = 200, CLUSTERS_MOST = 20, OPEN_ROWS = 10, NAMES_MOST = 2, REASON_BYTES = 200 };

static const char *or_unknown(const char *text)
{
    return text != NULL ? text : "(unknown)";
}

/* " interrupted" of a run that is not whole. */
static const char *state_of(const struct run_info *run)
{
    static const char *const words[RUN_STATE_COUNT] = {" running", "", " interrupted"};
    return words[run->state];
}

/* ---- the head ------------------------------------------------------------------------- */

static struct sheet_cell fact_cell(const void *rows, size_t at, size_t column, struct arena *keep)
{
    const struct diff_fact *fact = &((const struct diff_fact *)rows)[at];
    (void)keep;
    if (column == 0)
        return cell_text(INK_PLAIN, fact->name);
    return cell_text(INK_PLAIN, or_unknown(column == 1 ? fact->a : fact->b));
}

static void put_facts(struct sheet *s, const struct run_diff *d)
{
    static const struct sheet_column columns[] = {{"", 20, 0, SHEET_ALWAYS, SHEET_LEFT},
                                                  {"before", 0, 0, SHEET_ALWAYS, SHEET_WRAP},
                                                  {"now", 0, 0, SHEET_ALWAYS, SHEET_WRAP}};
    if (d->fact_count == 0) {
        sheet_text(s, INK_DIM, 0, 0, "environment: the same on both sides");
        return;
    }
    sheet_text(s, INK_WARN, 0, 0, "ENVIRONMENT IS NOT THE SAME: results may differ for that alone");
    sheet_show(s, columns, 3, fact_cell, d->facts, d->fact_count);
}

static void put_head(struct sheet *s, const struct difference *difference)
{
    const struct run_info *a = difference->a, *b = difference->b;
    const struct run_diff *d = &difference->diff;
    const char *gone =
        d->counts[DIFF_GONE] > 0 ? arena_printf(s->keep, ", %u gone", d->counts[DIFF_GONE]) : "";
    const char *title =
        arena_printf(s->keep, "%u new, %u fixed, %u changed%s", d->counts[DIFF_NEW],
                     d->counts[DIFF_FIXED], d->counts[DIFF_CHANGED], text_or_empty(gone));
    sheet_heading(s, "", text_or_empty(title));
    sheet_textf(s, INK_PLAIN, "run %" PRIu64 " (%.12s%s) -> run %" PRIu64 " (%.12s%s)", a->id,
                a->commit != NULL ? a->commit : "?", state_of(a), b->id,
                b->commit != NULL ? b->commit : "?", state_of(b));
    sheet_text(s, INK_TITLE, 0, 0, difference_headline(difference, s->keep));
    put_facts(s, d);
}

/* ---- what broke ----------------------------------------------------------------------- */

static const char *reason_text(const char *reason, struct arena *keep)
{
    size_t bytes = reason != NULL ? strlen(reason) : 0;
    if (bytes <= REASON_BYTES)
        return reason;
    for (bytes = REASON_BYTES; bytes > 0 && ((unsigned char)reason[bytes] & 0xc0) == 0x80;)
        bytes--;
    return arena_printf(keep, "%.*s ...", (int)bytes, reason);
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
    return text;
}

static struct sheet_cell cluster_cell(const void *rows, size_t at, size_t column,
                                      struct arena *keep)
{
    const struct failure *c = &((const struct failure *)rows)[at];
    char name[160];
    const char *texts[] = {arena_printf(keep, "%u", c->cases),
                           c->sentence,
                           failure_blames_text(c, keep),
                           since_text(&c->since, keep),
                           arena_string(keep, diff_case_name(c->example, name)),
                           reason_text(c->example->reason, keep)};
    return cell_text(INK_PLAIN, texts[column]);
}

/* A terminal is too narrow for six columns of sentences. */
static void cluster_entry(const void *rows, size_t at, struct arena *keep, struct sheet_entry *out)
{
    const struct failure *c = &((const struct failure *)rows)[at];
    const char *since = since_text(&c->since, keep), *blame = failure_blames_text(c, keep);
    char name[160];
    out->ink = INK_BAD;
    out->head = arena_printf(keep, "%u case%s: ", c->cases, c->cases == 1 ? "" : "s");
    out->text = c->sentence;
    out->most = 2;
    out->why = arena_printf(keep, "e.g. %s: %s", diff_case_name(c->example, name),
                            text_or_empty(c->example->reason));
    out->note = arena_printf(keep, "%s%s%s%s%s", blame[0] != '\0' ? "blame: " : "", blame,
                             blame[0] != '\0' && since[0] != '\0' ? " · " : "",
                             since[0] != '\0' ? "since " : "", since);
    out->stands_for = 1;
}

/* What broke, one entry for each mechanism and place. */
static void put_clusters(struct sheet *s, const struct difference *d)
{
    static const struct sheet_column columns[] = {
        {"cases", 0, 0, SHEET_ALWAYS, SHEET_LEFT}, {"what", 0, 0, SHEET_ALWAYS, SHEET_WRAP},
        {"blame (cases)", 0, 0, 4, SHEET_WRAP},    {"since", 0, 0, 1, SHEET_WRAP},
        {"smallest example", 0, 0, 3, SHEET_LEFT}, {"why", 0, 0, 2, SHEET_WRAP}};
    struct sheet_table table = {
        .columns = columns, .count = 6, .cell = cluster_cell, .thing = "group"};
    const uint32_t count = d->clusters.count;
    const uint32_t shown = count < CLUSTERS_MOST ? count : CLUSTERS_MOST;
    if (count == 0)
        return;
    sheet_text(s, INK_PLAIN, 0, 0, "What broke, by mechanism and place:");
    if (s->markdown) {
        sheet_table_measure(s, &table, d->clusters.rows, shown);
        sheet_table_begin(s, &table);
        sheet_table_rows(s, &table, d->clusters.rows, shown);
        table.left += count - shown;
        sheet_table_end(s, &table);
    } else {
        (void)sheet_list(s, cluster_entry, d->clusters.rows, shown, "group", NULL);
        sheet_more(s, count - shown, true, "group", NULL);
    }
    const struct diff_case *first = d->clusters.rows[0].example;
    char *name = arena_printf(s->keep, "%s.%s", first->scenario, first->variant);
    if (name == NULL)
        return;
    const char *parts[] = {
        "To see the first one: ", command_line_join(1, &name, "run -k", s->keep),
        first->folder != NULL ? ", or its sealed case: " : ".",
        first->folder != NULL ? arena_printf(s->keep, "twinstack check %s", first->folder) : NULL,
        "."};
    sheet_commands(s, parts, first->folder != NULL ? 5 : 3);
}

/* ---- which cases differ --------------------------------------------------------------- */

/* Cases of which the same is to be said. */
struct case_row {
    const struct diff_row *const *rows;
    uint32_t count;
};

static const struct diff_case *shown_of(const struct diff_row *row)
{
    return row->b != NULL ? row->b : row->a;
}

static const char *verdict_of(const struct diff_case *c)
{
    return c == NULL ? "-" : verdict_name(c->verdict);
}

/* A case that the other run did not ask for is only counted, unless it was asked about. */
static bool is_row(const struct compare_only *only, enum diff_group group)
{
    return only->given ? only->groups[group] : group != DIFF_SAME && group != DIFF_NOT_SELECTED;
}

static int by_what_is_said(const void *a, const void *b)
{
    const struct diff_row *x = *(const struct diff_row *const *)a;
    const struct diff_row *y = *(const struct diff_row *const *)b;
    if (x->group != y->group)
        return (int)x->group - (int)y->group;
    const int before = strcmp(verdict_of(x->a), verdict_of(y->a));
    const int now = before != 0 ? before : strcmp(verdict_of(x->b), verdict_of(y->b));
    return now != 0
               ? now
               : strcmp(text_or_empty(shown_of(x)->reason), text_or_empty(shown_of(y)->reason));
}

/* Of one group, the most cases first. */
static int by_cases(const void *a, const void *b)
{
    const struct case_row *x = a, *y = b;
    if (x->rows[0]->group != y->rows[0]->group)
        return (int)x->rows[0]->group - (int)y->rows[0]->group;
    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return (x->rows[0] > y->rows[0]) - (x->rows[0] < y->rows[0]);
}

static const char *names_text(const struct case_row *row, struct arena *keep)
{
    const char *text = "";
    char name[160];
    uint32_t i = 0;
    for (; i < row->count && i < NAMES_MOST && text != NULL; i++)
        text = arena_printf(keep, "%s%s%s", text, i > 0 ? ", " : "",
                            diff_case_name(shown_of(row->rows[i]), name));
    return i < row->count && text != NULL
               ? arena_printf(keep, "%s and %u more", text, row->count - i)
               : text;
}

static enum ink ink_of(enum diff_group group)
{
    if (group == DIFF_NEW)
        return INK_BAD;
    return group == DIFF_FIXED ? INK_GOOD : INK_TITLE;
}

static struct sheet_cell case_cell(const void *rows, size_t at, size_t column, struct arena *keep)
{
    const struct case_row *row = &((const struct case_row *)rows)[at];
    const struct diff_row *first = row->rows[0];
    switch (column) {
    case 0:
        return cell_text(ink_of(first->group), diff_group_name(first->group));
    case 1:
        return cell_text(INK_PLAIN, names_text(row, keep));
    case 2:
        return cell_text(INK_PLAIN, verdict_of(first->a));
    case 3:
        return cell_text(INK_PLAIN, verdict_of(first->b));
    default:
        return cell_text(INK_DIM, reason_text(shown_of(first)->reason, keep));
    }
}

static uint32_t cases_of_row(const void *rows, size_t row)
{
    return ((const struct case_row *)rows)[row].count;
}

/* Gathers the rows that are asked for; returns how many. */
static uint32_t gather(const struct run_diff *d, const struct compare_only *only,
                       struct arena *keep, struct case_row **out)
{
    const struct diff_row **wanted =
        ARENA_ARRAY(keep, (size_t)d->row_count + 1, const struct diff_row *);
    uint32_t count = 0, rows = 0;
    *out = ARENA_ARRAY(keep, (size_t)d->row_count + 1, struct case_row);
    if (wanted == NULL || *out == NULL)
        return 0;
    for (uint32_t i = 0; i < d->row_count; i++)
        if (d->rows[i].counts && is_row(only, d->rows[i].group))
            wanted[count++] = &d->rows[i];
    array_sort(wanted, count, sizeof *wanted, by_what_is_said);
    for (uint32_t i = 0; i < count; i++) {
        if (i == 0 || by_what_is_said(&wanted[i - 1], &wanted[i]) != 0)
            (*out)[rows++] = (struct case_row){&wanted[i], 0};
        (*out)[rows - 1].count++;
    }
    array_sort(*out, rows, sizeof **out, by_cases);
    return rows;
}

/* ": --only new,changed": what shows all rows. */
static const char *only_text(const struct case_row *rows, uint32_t count, struct arena *keep)
{
    const char *text = NULL;
    for (uint32_t i = 0; i < count; i++)
        if (i == 0 || rows[i].rows[0]->group != rows[i - 1].rows[0]->group)
            text = arena_printf(keep, "%s%s", text == NULL ? ": --only " : text,
                                arena_printf(keep, "%s%s", i > 0 ? "," : "",
                                             diff_group_name(rows[i].rows[0]->group)));
    return text;
}

/* Every case that differs, those alike in one row. Where clusters have said it shorter, Markdown
 * folds them away, and a terminal has the first ones unless they are asked for. */
static void put_cases(struct sheet *s, const struct difference *difference,
                      const struct compare_only *only)
{
    static const struct sheet_column columns[] = {{"", 0, 0, SHEET_ALWAYS, SHEET_LEFT},
                                                  {"case", 0, 0, SHEET_ALWAYS, SHEET_WRAP},
                                                  {"before", 0, 0, SHEET_ALWAYS, SHEET_LEFT},
                                                  {"now", 0, 0, SHEET_ALWAYS, SHEET_LEFT},
                                                  {"reason", 0, 0, SHEET_ALWAYS, SHEET_WRAP}};
    struct sheet_table table = {.columns = columns,
                                .count = 5,
                                .cell = case_cell,
                                .thing = "case",
                                .stands_for = cases_of_row};
    struct case_row *rows = NULL;
    const uint32_t count = gather(&difference->diff, only, s->keep, &rows);
    const bool said = difference->clusters.count > 0 && count > OPEN_ROWS;
    const bool folded = s->markdown && said;
    const uint32_t open = said && !only->given ? OPEN_ROWS : count;
    const uint32_t most = s->markdown ? ROWS_MOST : open;
    const uint32_t shown = count < most ? count : most;
    if (count == 0)
        return;
    if (folded)
        sheet_fold(s, "Every case that differs");
    else
        sheet_text(s, INK_PLAIN, 0, 0,
                   shown < count ? "Cases that differ:" : "Every case that differs:");
    if (!s->markdown)
        table.elsewhere = only_text(rows, count, s->keep);
    sheet_table_measure(s, &table, rows, shown);
    sheet_table_begin(s, &table);
    sheet_table_rows(s, &table, rows, shown);
    for (uint32_t i = shown; i < count; i++)
        table.left += rows[i].count;
    sheet_table_end(s, &table);
    for (uint32_t i = 0; i < count; i++)
        if (i >= shown || rows[i].count > NAMES_MOST) {
            sheet_text(s, INK_DIM, 0, 0, "every case by name: --json");
            break;
        }
    if (folded)
        sheet_unfold(s);
}

/* ---- times ---------------------------------------------------------------------------- */

static enum ink change_ink(enum change change)
{
    if (change == CHANGE_SLOWER)
        return INK_BAD;
    return change == CHANGE_FASTER ? INK_GOOD : INK_DIM;
}

static struct sheet_cell time_cell(const void *rows, size_t at, size_t column, struct arena *keep)
{
    const struct diff_time *t = ((const struct diff_time *const *)rows)[at];
    const enum change change = t->change.change;
    if (change == CHANGE_TOO_FEW && column >= 2 && column <= 4)
        return cell_text(INK_DIM, "-");
    switch (column) {
    case 0:
        return cell_text(INK_PLAIN, t->engine);
    case 1:
        return cell_format(keep, INK_PLAIN, "%u", t->cases);
    case 2:
        return cell_format(keep, INK_PLAIN, "%+.1f %%", t->change.effect * 100);
    case 3:
        return cell_format(keep, INK_PLAIN, "%.4f", t->change.p);
    case 4:
        return cell_format(keep, INK_PLAIN, "%.1f %%", t->change.threshold * 100);
    default:
        return cell_text(change_ink(change), change_words(change));
    }
}

static void put_times(struct sheet *s, const struct run_diff *d, const struct compare_only *only)
{
    static const struct sheet_column columns[] = {
        {"engine", 22, 0, SHEET_ALWAYS, SHEET_LEFT}, {"cases", 0, 0, SHEET_ALWAYS, SHEET_RIGHT},
        {"effect", 0, 0, SHEET_ALWAYS, SHEET_RIGHT}, {"p", 6, 0, 1, SHEET_RIGHT},
        {"threshold", 0, 0, 2, SHEET_RIGHT},         {"verdict", 0, 0, SHEET_ALWAYS, SHEET_LEFT}};
    const struct diff_time *rows[CLAIMS_MAX];
    size_t count = 0;
    for (uint32_t i = 0; i < d->time_count && count < CLAIMS_MAX; i++)
        if (d->times[i].cases > 0 && (!only->given || only->changes[d->times[i].change.change]))
            rows[count++] = &d->times[i];
    if (count == 0)
        return;
    sheet_text(
        s, INK_PLAIN, 0, 0,
        "Times on the back end, of the cases that both runs have; effect: the median of what "
        "each case itself lost or gained");
    sheet_show(s, columns, 6, time_cell, rows, count);
}

/* Of both runs, as every face shows the one of a run. */
static void put_ratios(struct sheet *s, const struct difference *d)
{
    const struct dump_ratio *const ratios[] = {d->ratio_a, d->ratio_b};
    const struct run_info *const runs[] = {d->a, d->b};
    const size_t count = ratio_of_either(d->ratio_a, d->ratio_b) ? COUNT_OF(runs) : 0;
    for (size_t i = 0; i < count; i++)
        sheet_textf(s, INK_PLAIN, "run %" PRIu64 ": %s", runs[i]->id,
                    text_or_empty(ratio_sentence(ratios[i], s->keep)));
}

static void put_totals(struct sheet *s, const struct run_diff *d, const struct compare_only *only)
{
    uint32_t changes[CHANGE_COUNT] = {0}, engines = 0, cases = 0;
    for (int g = 0; g < DIFF_GROUPS; g++)
        cases += d->counts[g];
    const char *text = arena_printf(s->keep, "%u cases in all:", cases);
    for (int g = 0; g < DIFF_GROUPS && text != NULL; g++)
        text = arena_printf(s->keep, "%s%s %u %s", text, g > 0 ? "," : "", d->counts[g],
                            diff_group_name((enum diff_group)g));
    sheet_text(s, INK_PLAIN, 0, 0, text);
    for (uint32_t i = 0; i < d->time_count; i++)
        if (d->times[i].cases > 0) {
            changes[d->times[i].change.change]++;
            engines++;
        }
    const char *noisy =
        changes[CHANGE_TOO_NOISY] > 0
            ? arena_printf(s->keep, ", %u too noisy to judge", changes[CHANGE_TOO_NOISY])
            : "";
    if (engines > 0)
        sheet_textf(s, INK_PLAIN,
                    "times of %u engines: %u slower, %u faster, %u same, %u too few%s", engines,
                    changes[CHANGE_SLOWER], changes[CHANGE_FASTER], changes[CHANGE_NONE],
                    changes[CHANGE_TOO_FEW], text_or_empty(noisy));
    if (only->given)
        sheet_text(s, INK_DIM, 0, 0, "(the lists above are filtered, these totals are not)");
}

void compare_write(struct sheet *s, const struct difference *difference,
                   const struct compare_only *only)
{
    put_head(s, difference);
    if (!only->given || only->groups[DIFF_NEW] || only->groups[DIFF_CHANGED])
        put_clusters(s, difference);
    put_cases(s, difference, only);
    put_times(s, &difference->diff, only);
    put_ratios(s, difference);
    put_totals(s, &difference->diff, only);
}
