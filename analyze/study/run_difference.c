/* See run_difference.h. */
#include "study/run_difference.h"

#include <math.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "compare/run_diff.h"
#include "compare/statistics.h"
#include "store/store.h"
#include "study/bench.h"
#include "study/selection.h"

enum { TIME_HISTORY_RUNS = 30 };

/* ---- limits --------------------------------------------------------------------------- */

static bool is_alike(const struct run_info *a, const struct run_info *b)
{
    const double apart = fabs((double)a->case_count - (double)b->case_count);
    return a->id != b->id && a->case_count > 0 && apart <= 0.1 * b->case_count &&
           text_equal(a->platform, b->platform);
}

/* The fence of METRIC over earlier runs of the same platform with about as many cases as RUN;
 * medians over other cases are not comparable. The writer of dumps is not compared: `run` uses the
 * one of the platform. */
static enum status read_fence(struct store *store, const struct run_info *run, enum metric metric,
                              const struct run_page *page, struct arena *keep, double *out,
                              struct fault *fault)
{
    struct trend_point *points = NULL;
    uint32_t count = 0;
    double values[TIME_HISTORY_RUNS], scratch[TIME_HISTORY_RUNS];
    size_t known = 0;
    const struct trend_query query = {.metric = metric, .limit = page->count};
    if (store_read_trend(store, &query, keep, &points, &count, fault) != ERR_NONE)
        return fault->code;
    for (uint32_t i = count; i-- > 0 && known < TIME_HISTORY_RUNS;)
        for (uint32_t k = 0; k < page->count; k++)
            if (page->runs[k].id == points[i].run_id && is_alike(&page->runs[k], run) &&
                points[i].value > 0)
                values[known++] = points[i].value;
    *out = statistics_fence_share(values, known, scratch);
    return ERR_NONE;
}

static enum status read_limits(struct store *store, const struct run_info *run, double floor,
                               struct arena *keep, struct diff_limits *out, struct fault *fault)
{
    static const struct {
        const char *engine;
        enum metric metric;
    } subjects[] = {{ENGINE_NAME_OFFSET, METRIC_OFFSET}, {ENGINE_NAME_DUMP, METRIC_DUMP}};
    struct run_page page;
    const struct run_query query = {.limit = TIME_HISTORY_RUNS * 2};
    double noise = 0;
    uint64_t bench = 0;
    memset(out, 0, sizeof *out);
    if (bench_newest_noise(store, keep, &noise, &bench, fault) != ERR_NONE ||
        store_list_runs(store, &query, keep, &page, fault) != ERR_NONE)
        return fault->code;
    out->measured = bench != 0 && noise > 0 ? noise : 0;
    out->noise = out->measured > floor ? out->measured : floor;
    for (size_t i = 0; i < COUNT_OF(subjects); i++) {
        struct diff_fence *fence = &out->fences[out->fence_count++];
        fence->engine = subjects[i].engine;
        if (read_fence(store, run, subjects[i].metric, &page, keep, &fence->share, fault) !=
            ERR_NONE)
            return fault->code;
    }
    return ERR_NONE;
}

/* ---- the difference ------------------------------------------------------------------- */

enum status difference_make(struct store *store, const struct diff_side *a,
                            const struct diff_side *b, double floor, struct arena *keep,
                            struct difference *out, struct fault *fault)
{
    memset(out, 0, sizeof *out);
    out->a = a->run;
    out->b = b->run;
    if (read_limits(store, b->run, floor, keep, &out->limits, fault) != ERR_NONE ||
        run_diff_make(a, b, &out->limits, keep, &out->diff, fault) != ERR_NONE)
        return fault->code;
    selection_apply(a->run, b->run, &out->diff);
    return clusters_make(store, a->run, b->run, &out->diff, keep, &out->clusters, fault);
}

enum status difference_of_verdicts(const struct diff_side *a, const struct diff_side *b,
                                   struct arena *keep, struct run_diff *out, struct fault *fault)
{
    if (run_diff_make(a, b, NULL, keep, out, fault) == ERR_NONE)
        selection_apply(a->run, b->run, out);
    return fault->code;
}

enum status difference_of_facts(const struct run_info *a, const struct run_info *b,
                                struct arena *keep, struct run_diff *out, struct fault *fault)
{
    const struct diff_side before = {.run = a}, now = {.run = b};
    return run_diff_make(&before, &now, NULL, keep, out, fault);
}

bool difference_is_slower(const struct run_diff *diff)
{
    for (uint32_t i = 0; i < diff->time_count; i++)
        if (diff->times[i].subject && diff->times[i].change.change == CHANGE_SLOWER)
            return true;
    return false;
}

/* ---- JSON ----------------------------------------------------------------------------- */

static const char *verdict_of(const struct diff_case *c)
{
    return c != NULL ? verdict_name(c->verdict) : NULL;
}

/* WAS, IS: the keys of the two verdicts. GROUP: where rows of several groups are one list; or NULL.
 */
static void write_row(struct json *j, const struct diff_row *row, const char *group,
                      const char *was, const char *is)
{
    const struct diff_case *c = row->b != NULL ? row->b : row->a;
    json_object(j);
    if (group != NULL)
        json_key_string(j, "group", group);
    json_key_string(j, "scenario", c->scenario);
    json_key_string(j, "variant", c->variant);
    json_key_uint(j, "repeat", c->repeat);
    json_key_string(j, was, verdict_of(row->a));
    json_key_string(j, is, verdict_of(row->b));
    json_key_string(j, "signature", c->signature);
    json_key_string(j, "reason", c->reason);
    json_object_end(j);
}

static void write_counts(struct json *j, const char *key, const struct run_diff *diff)
{
    json_key_object(j, key);
    for (int g = 0; g < DIFF_GROUPS; g++)
        json_key_uint(j, diff_group_name((enum diff_group)g), diff->counts[g]);
    json_object_end(j);
}

/* Counts a case of GROUP in SEEN; true: it is listed. */
static bool is_listed(const struct difference_rows *rows, enum diff_group group,
                      uint32_t seen[DIFF_GROUPS])
{
    const uint32_t before = group == rows->group ? rows->after : 0, at = seen[group]++;
    return at >= before && (rows->most == 0 || at - before < rows->most);
}

void difference_write_changes(struct json *j, const struct run_diff *diff,
                              const struct difference_rows *rows)
{
    uint32_t seen[DIFF_GROUPS] = {0};
    json_object(j);
    for (int g = 0; g < DIFF_GROUPS; g++) {
        if (g == DIFF_SAME)
            continue;
        json_key_array(j, diff_group_name((enum diff_group)g));
        for (uint32_t i = 0; i < diff->row_count; i++)
            if (diff->rows[i].group == (enum diff_group)g && diff->rows[i].counts &&
                is_listed(rows, diff->rows[i].group, seen))
                write_row(j, &diff->rows[i], NULL, "was", "is");
        json_array_end(j);
    }
    write_counts(j, "counts", diff);
    json_object_end(j);
}

static void write_facts(struct json *j, const struct run_diff *diff)
{
    json_key_array(j, "environment");
    for (uint32_t i = 0; i < diff->fact_count; i++) {
        json_object(j);
        json_key_string(j, "name", diff->facts[i].name);
        json_key_string(j, "a", diff->facts[i].a);
        json_key_string(j, "b", diff->facts[i].b);
        json_object_end(j);
    }
    json_array_end(j);
}

/* Every case by name: the older form of `changes`, which `compare --json` keeps. */
static void write_cases(struct json *j, const struct run_diff *diff,
                        const struct difference_rows *rows)
{
    uint32_t seen[DIFF_GROUPS] = {0};
    json_key_array(j, "cases");
    for (uint32_t i = 0; i < diff->row_count; i++) {
        const struct diff_row *row = &diff->rows[i];
        if (is_listed(rows, row->group, seen))
            write_row(j, row, diff_group_name(row->group), "a", "b");
    }
    json_array_end(j);
}

static void write_time(struct json *j, const struct diff_time *t)
{
    const bool enough = t->change.change != CHANGE_TOO_FEW;
    json_object(j);
    json_key_string(j, "engine", t->engine);
    json_key_bool(j, "subject", t->subject);
    json_key_uint(j, "cases", t->cases);
    json_key_uint(j, "samples", t->cases);
    json_key_number(j, "a_ns", t->before_ns);
    json_key_number(j, "b_ns", t->now_ns);
    json_key_number(j, "ratio", t->ratio);
    json_key_string(j, "change", change_name(t->change.change));
    json_key_number(j, "effect", enough ? t->change.effect : (double)NAN);
    json_key_number(j, "threshold", enough ? t->change.threshold : (double)NAN);
    json_key_number(j, "p", enough ? t->change.p : (double)NAN);
    json_object_end(j);
}

/* Both names of the list, with the same rows. */
static void write_times(struct json *j, const char *key, const struct run_diff *diff)
{
    json_key_array(j, key);
    for (uint32_t i = 0; i < diff->time_count; i++)
        if (diff->times[i].cases > 0)
            write_time(j, &diff->times[i]);
    json_array_end(j);
}

void difference_write_json(struct json *j, const struct difference *d,
                           const struct difference_rows *rows)
{
    char sentence[DIFFERENCE_SENTENCE_BYTES];
    json_object(j);
    json_key_uint(j, "schema_version", DIFFERENCE_VERSION);
    json_key(j, "a");
    run_info_write_json(j, d->a);
    json_key(j, "b");
    run_info_write_json(j, d->b);
    json_key_string(j, "sentence", difference_sentence(d, sentence));
    write_facts(j, &d->diff);
    write_counts(j, "totals", &d->diff);
    json_key(j, "changes");
    difference_write_changes(j, &d->diff, rows);
    write_cases(j, &d->diff, rows);
    json_key_uint(j, "broke", d->clusters.cases);
    json_key(j, "clusters");
    clusters_write_json(j, &d->clusters);
    write_times(j, "timing", &d->diff);
    write_times(j, "times", &d->diff);
    ratio_write_both(j, d->ratio_a, d->ratio_b);
    json_object_end(j);
}
