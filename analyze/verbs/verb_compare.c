/* twinstack compare A B: what changed around two runs, what is new, what became slower. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "compare/run_diff.h"
#include "verbs/figures_text.h"
#include "verbs/stored.h"
#include "verbs/time_limits.h"
#include "verbs/verbs.h"

struct compare_options {
    const char *db, *only, *min_effect;
    bool as_json, markdown;
};

static const char *name_of(const struct diff_row *row, char out[256])
{
    const struct run_case *c = row->b != NULL ? row->b : row->a;
    (void)snprintf(out, 256, "%.120s.%.120s", c->scenario, c->variant);
    return out;
}

static const char *verdict_of(const struct run_case *c)
{
    return c == NULL ? "-" : verdict_name(c->result.verdict);
}

/* "new,fixed,slower" holds WORD; NULL holds all but "same" and "still". */
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

static void print_facts(const struct run_diff *d)
{
    if (d->fact_count == 0) {
        (void)puts("environment: the same on both sides");
        return;
    }
    (void)puts("ENVIRONMENT IS NOT THE SAME: results may differ for that alone");
    for (uint32_t i = 0; i < d->fact_count; i++)
        (void)printf("  %-20s %s -> %s\n", d->facts[i].name,
                     d->facts[i].a != NULL ? d->facts[i].a : "(unknown)",
                     d->facts[i].b != NULL ? d->facts[i].b : "(unknown)");
}

static void print_rows(const struct run_diff *d, const char *only)
{
    for (int g = 0; g < DIFF_GROUPS; g++) {
        const char *word = diff_group_name((enum diff_group)g);
        if (d->counts[g] == 0 || !is_wanted(only, word))
            continue;
        (void)printf("\n%s: %u\n", word, d->counts[g]);
        for (uint32_t i = 0; i < d->row_count && g != DIFF_SAME; i++) {
            const struct diff_row *row = &d->rows[i];
            char name[256];
            const struct run_case *said = row->b != NULL ? row->b : row->a;
            if (row->group != (enum diff_group)g)
                continue;
            (void)printf("  %-34s %s -> %s  %s\n", name_of(row, name), verdict_of(row->a),
                         verdict_of(row->b),
                         said->result.reason != NULL ? said->result.reason : "");
        }
    }
}

static bool is_time_wanted(const char *only, enum change change)
{
    return only == NULL || is_wanted(only, change_name(change));
}

static void print_times(const struct run_diff *d, const char *only)
{
    bool titled = false;
    for (uint32_t i = 0; i < d->time_count; i++) {
        const struct diff_time *t = &d->times[i];
        if (t->cases == 0 || !is_time_wanted(only, t->change.change))
            continue;
        if (!titled)
            (void)puts("\ntimes on the back end, of the cases that both runs have");
        titled = true;
        (void)printf("  %-22s %4u cases  x %.3f  p %.4f  threshold %.1f %%  %s\n", t->engine,
                     t->cases, t->ratio, t->change.p, t->change.threshold * 100,
                     t->change.change == CHANGE_TOO_FEW ? "no verdict: too few samples"
                                                        : change_name(t->change.change));
    }
}

static void print_totals(const struct run_diff *d, const char *only)
{
    (void)printf("\n%u pairs in all:", d->row_count);
    for (int g = 0; g < DIFF_GROUPS; g++)
        (void)printf("%s %u %s", g > 0 ? "," : "", d->counts[g],
                     diff_group_name((enum diff_group)g));
    (void)puts(only != NULL ? " (the lists above are filtered, these totals are not)" : "");
}

static void print_text(const struct stored_run *a, const struct stored_run *b,
                       const struct run_diff *d, const char *only)
{
    (void)printf("run %" PRIu64 " (%.12s) -> run %" PRIu64 " (%.12s)\n", a->info.id,
                 a->info.commit != NULL ? a->info.commit : "?", b->info.id,
                 b->info.commit != NULL ? b->info.commit : "?");
    print_facts(d);
    print_rows(d, only);
    print_times(d, only);
    print_totals(d, only);
}

static void print_markdown(const struct run_diff *d, const char *only)
{
    (void)printf("### %u new, %u fixed, %u changed\n\n", d->counts[DIFF_NEW], d->counts[DIFF_FIXED],
                 d->counts[DIFF_CHANGED]);
    for (uint32_t i = 0; i < d->fact_count; i++)
        (void)printf("> **%s**: `%s` → `%s`\n", d->facts[i].name,
                     d->facts[i].a != NULL ? d->facts[i].a : "?",
                     d->facts[i].b != NULL ? d->facts[i].b : "?");
    (void)puts("\n| | case | before | now |\n|---|---|---|---|");
    for (uint32_t i = 0; i < d->row_count; i++) {
        char name[256];
        const struct diff_row *row = &d->rows[i];
        if (row->group == DIFF_SAME || !is_wanted(only, diff_group_name(row->group)))
            continue;
        (void)printf("| %s | `%s` | %s | %s |\n", diff_group_name(row->group), name_of(row, name),
                     verdict_of(row->a), verdict_of(row->b));
    }
    (void)puts("\n| engine | cases | now : before | verdict |\n|---|---|---|---|");
    for (uint32_t i = 0; i < d->time_count; i++)
        if (d->times[i].cases > 0)
            (void)printf("| %s | %u | %.3f | %s |\n", d->times[i].engine, d->times[i].cases,
                         d->times[i].ratio, change_name(d->times[i].change.change));
    print_totals(d, only);
}

void run_diff_write_json(struct json *j, const struct run_diff *d)
{
    json_object(j);
    json_key(j, "environment");
    json_array(j);
    for (uint32_t i = 0; i < d->fact_count; i++) {
        json_object(j);
        json_key_string(j, "name", d->facts[i].name);
        json_key_string(j, "a", d->facts[i].a);
        json_key_string(j, "b", d->facts[i].b);
        json_object_end(j);
    }
    json_array_end(j);
    json_key(j, "totals");
    json_object(j);
    for (int g = 0; g < DIFF_GROUPS; g++)
        json_key_uint(j, diff_group_name((enum diff_group)g), d->counts[g]);
    json_object_end(j);
    json_key(j, "cases");
    json_array(j);
    for (uint32_t i = 0; i < d->row_count; i++) {
        const struct diff_row *row = &d->rows[i];
        const struct run_case *c = row->b != NULL ? row->b : row->a;
        json_object(j);
        json_key_string(j, "group", diff_group_name(row->group));
        json_key_string(j, "scenario", c->scenario);
        json_key_string(j, "variant", c->variant);
        json_key_uint(j, "repeat", c->repeat);
        json_key_string(j, "a", row->a != NULL ? verdict_of(row->a) : NULL);
        json_key_string(j, "b", row->b != NULL ? verdict_of(row->b) : NULL);
        json_key_string(j, "reason", c->result.reason);
        json_object_end(j);
    }
    json_array_end(j);
    json_key(j, "times");
    json_array(j);
    for (uint32_t i = 0; i < d->time_count; i++) {
        const struct diff_time *t = &d->times[i];
        json_object(j);
        json_key_string(j, "engine", t->engine);
        json_key_uint(j, "cases", t->cases);
        json_key_number(j, "ratio", t->ratio);
        json_key_number(j, "p", t->change.p);
        json_key_number(j, "threshold", t->change.threshold);
        json_key_string(j, "change", change_name(t->change.change));
        json_object_end(j);
    }
    json_array_end(j);
    json_object_end(j);
}

static int compare(const struct verb *self, const struct compare_options *o,
                   const struct option_list *rest, struct arena *keep)
{
    struct store *store = NULL;
    struct stored_run a, b;
    struct run_diff diff = {0};
    struct diff_limits limits;
    struct fault fault = FAULT_INIT;
    double floor = 0;
    int code = EXIT_GOOD;
    if (rest->count != 2)
        return verb_usage_error(self, "two runs are needed, not %u", rest->count);
    if (o->min_effect != NULL && !parse_share(o->min_effect, &floor))
        return verb_usage_error(self, "--min-effect is a share such as 3%%, not '%s'",
                                o->min_effect);
    if (!stored_open(o->db, STORE_READ, &store, &code))
        return code;
    if (stored_read_any(store, rest->items[0], keep, &a, &fault) != ERR_NONE ||
        stored_read_any(store, rest->items[1], keep, &b, &fault) != ERR_NONE ||
        time_limits_read(store, &b.info, floor, keep, &limits, &fault) != ERR_NONE)
        code = stored_fault(&fault, fault.code != ERR_ABSENT);
    else if (run_diff_make(&a.info, a.cases, a.case_count, &b.info, b.cases, b.case_count, &limits,
                           keep, &diff, &fault) != ERR_NONE)
        code = verb_fault(&fault);
    else if (o->as_json) {
        struct json j;
        json_to_stream(&j, stdout, true);
        run_diff_write_json(&j, &diff);
        json_newline(&j);
    } else if (o->markdown) {
        print_markdown(&diff, o->only);
    } else {
        print_text(&a, &b, &diff, o->only);
    }
    store_close(store);
    if (code != EXIT_GOOD)
        return code;
    bool slower = false;
    for (uint32_t i = 0; i < diff.time_count; i++)
        slower = slower || (diff.times[i].subject && diff.times[i].change.change == CHANGE_SLOWER);
    return diff.counts[DIFF_NEW] > 0 || slower ? EXIT_DIFFERENT : EXIT_GOOD;
}

static int run(const struct verb *self, int argc, char **argv)
{
    struct compare_options o = {.db = STORED_DATABASE};
    const struct option_row rows[] = {
        {"--only", OPTION_STRING, &o.only, "LIST",
         "only these: new, fixed, changed, still, added, gone, slower, faster"},
        {"--min-effect", OPTION_STRING, &o.min_effect, "SHARE", "smallest change of time (3%)"},
        {"--markdown", OPTION_FLAG, &o.markdown, NULL, "for a comment on a change"},
        {"--json", OPTION_FLAG, &o.as_json, NULL, "one JSON document"},
        {"--db", OPTION_STRING, &o.db, "FILE", "database (default " STORED_DATABASE ")"},
    };
    struct option_list rest;
    struct arena keep;
    int code = EXIT_GOOD;
    arena_init(&keep, 0);
    if (options_parse(self, rows, sizeof rows / sizeof rows[0], argc, argv, &keep, &rest, &code))
        code = compare(self, &o, &rest, &keep);
    arena_free(&keep);
    return code;
}

const struct verb verb_compare = {
    .name = "compare",
    .summary = "two runs: what changed around them, what is new, fixed or slower",
    .usage = "A B",
    .details = "A and B are runs: an id, the start of a uuid, latest, latest~1, baseline, or a "
               "database file\n(FILE, or FILE:RUN).  Times count on the cases that both have, and "
               "change only with\nsignificance and an effect above 3 %.\n\n"
               "examples:\n  twinstack compare baseline latest\n"
               "  twinstack compare latest~1 latest --only new,slower --markdown",
    .exits = "  0  nothing new fails and no subject became slower\n  1  it did\n  2  usage\n"
             "  3  there is no such run\n  4  database not usable",
    .run = run,
};
