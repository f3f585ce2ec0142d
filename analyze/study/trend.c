/* See trend.h. */
#include "study/trend.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/array.h"
#include "base/quantile.h"
#include "base/text.h"
#include "compare/statistics.h"
#include "store/store.h"
#include "study/bench.h"
#include "study/ratio.h"

enum { LEVEL_RUNS_MIN = 4 };
static const double effect_min = 0.03; /* of times, as in statistics_change() */
static const double unknown = (double)NAN;

/* ---- points --------------------------------------------------------------------------- */

/* Of whole runs, not of one case or build. */
static bool is_whole(const struct trend_query *query)
{
    return query->scenario == NULL && query->variant == NULL;
}

static enum status set_band(struct trend *out, struct arena *keep, struct fault *fault)
{
    double *values = ARENA_ARRAY(keep, (size_t)out->count + 1, double);
    uint32_t known = 0;
    out->low = out->high = unknown;
    if (values == NULL)
        return fault_no_memory(fault, "trend");
    for (uint32_t i = 0; i < out->count; i++)
        if (!isnan(out->points[i].value))
            values[known++] = out->points[i].value;
    if (known >= 4) {
        const double first = quantile_of(values, known, 0.25);
        const double third = quantile_of(values, known, 0.75);
        out->low = first - 1.5 * (third - first);
        out->high = third + 1.5 * (third - first);
    }
    return ERR_NONE;
}

/* Ratios of benches where there are some, as for each run alone (study/ratio.h). */
static enum status take_benches(struct store *store, struct trend *t, struct arena *keep,
                                struct fault *fault)
{
    const struct run_query query = {.label = RUN_LABEL_BENCH, .limit = STORE_PAGE_MAX};
    struct run_page page;
    if (store_list_runs(store, &query, keep, &page, fault) != ERR_NONE)
        return fault->code;
    for (uint32_t i = 0; i < t->count && page.count > 0; i++) {
        struct trend_point *point = &t->points[i];
        struct run_info run;
        bool same = false, own = false; /* a bench's own point has no value */
        for (uint32_t b = 0; b < page.count; b++) {
            same = same || text_equal(page.runs[b].commit, point->commit);
            own = own || page.runs[b].id == point->run_id;
        }
        if (!same || own)
            continue;
        if (store_read_run(store, point->run_id, keep, &run, fault) != ERR_NONE)
            return fault->code;
        const struct run_info *bench = ratio_bench_of(&run, page.runs, page.count);
        const uint64_t id = bench != NULL ? bench->id : 0;
        enum cpu arch = CPU_UNKNOWN;
        const double value = id != 0 ? ratio_value_of_bench(store, id, keep, &arch) : unknown;
        if (isnan(value))
            continue;
        point->value = value;
        point->arch = arch;
        point->bench = id;
    }
    return ERR_NONE;
}

/* The newest point that has a value. */
static const struct trend_point *newest_of(const struct trend *t)
{
    for (uint32_t i = t->count; i-- > 0;)
        if (!isnan(t->points[i].value))
            return &t->points[i];
    return NULL;
}

/* A run of a few cases (`run -k`) has other medians than the whole suite, a bench another ratio
 * than a run, and each processor its own: Trend shows them, but they do not count for a level, and
 * no sparkline has them. */
static enum status choose_points(struct trend *t, const struct trend_query *query,
                                 struct arena *keep, struct fault *fault)
{
    uint32_t most = 0;
    const bool whole = is_whole(query);
    const struct trend_point *newest = newest_of(t);
    t->counts = ARENA_ARRAY(keep, (size_t)t->count + 1, bool);
    if (t->counts == NULL) {
        t->count = 0;
        return fault_no_memory(fault, "trend");
    }
    for (uint32_t i = 0; i < t->count; i++)
        if (t->points[i].cases > most)
            most = t->points[i].cases;
    for (uint32_t i = 0; i < t->count; i++) {
        const struct trend_point *point = &t->points[i];
        t->counts[i] = !isnan(point->value) && (point->bench != 0) == (newest->bench != 0) &&
                       point->arch == newest->arch &&
                       (!whole || point->bench != 0 || point->cases >= most - most / 2);
    }
    return ERR_NONE;
}

enum status study_read_trend(struct store *store, const struct trend_query *query,
                             struct arena *keep, struct trend *out, struct fault *fault)
{
    memset(out, 0, sizeof *out);
    if (store_read_trend(store, query, keep, &out->points, &out->count, fault) != ERR_NONE) {
        out->count = 0;
        return fault->code;
    }
    if (query->metric == METRIC_SPEED_RATIO && is_whole(query) &&
        take_benches(store, out, keep, fault) != ERR_NONE)
        return fault->code;
    return choose_points(out, query, keep, fault) == ERR_NONE ? set_band(out, keep, fault)
                                                              : fault->code;
}

/* ---- levels --------------------------------------------------------------------------- */

static bool is_time(const struct trend_study *s)
{
    return s->facts->unit != METRIC_UNIT_SHARE;
}

static double threshold_of(const struct trend_study *s)
{
    if (!is_time(s))
        return 0;
    return s->noise > effect_min ? s->noise : effect_min;
}

/* The values that count, in order, each with its point. */
struct series {
    double *values, *scratch;
    uint32_t *points;
    uint32_t count;
};

static enum status make_series(const struct trend_study *s, struct arena *keep, struct series *out,
                               struct fault *fault)
{
    const size_t room = (size_t)s->trend.count + 1;
    *out = (struct series){.values = ARENA_ARRAY(keep, room, double),
                           .scratch = ARENA_ARRAY(keep, room, double),
                           .points = ARENA_ARRAY(keep, room, uint32_t)};
    if (out->values == NULL || out->scratch == NULL || out->points == NULL)
        return fault_no_memory(fault, "trend");
    for (uint32_t i = 0; i < s->trend.count; i++) {
        if (!s->trend.counts[i])
            continue;
        out->points[out->count] = i;
        out->values[out->count++] = s->trend.points[i].value;
    }
    return ERR_NONE;
}

static double median_of(const struct series *v, uint32_t first, uint32_t count)
{
    memcpy(v->scratch, v->values + first, count * sizeof *v->scratch);
    return quantile_median(v->scratch, count);
}

/* Where to cut the part of COUNT values from FIRST; 0: it is one level. */
static uint32_t find_cut(const struct series *v, uint32_t first, uint32_t count, double threshold,
                         double *p)
{
    const uint32_t cut =
        (uint32_t)statistics_change_point(v->values + first, count, LEVEL_RUNS_MIN, p, v->scratch);
    if (cut == 0)
        return 0;
    const double before = median_of(v, first, cut);
    const double now = median_of(v, first + cut, count - cut);
    return fabs(now - before) > threshold * fabs(before) ? cut : 0;
}

struct part {
    uint32_t first, count;
    double p; /* of the change at its start */
};

/* Cuts the series in two where its level changes, and each part again.  PARTS has room for one per
 * LEVEL_RUNS_MIN values. */
static uint32_t cut_series(const struct series *v, double threshold, struct part *parts)
{
    uint32_t count = 1;
    parts[0] = (struct part){0, v->count, 1};
    for (uint32_t i = 0; i < count;) {
        double p = 1;
        const uint32_t cut = find_cut(v, parts[i].first, parts[i].count, threshold, &p);
        if (cut == 0) {
            i++; /* whole; the part after it is next */
            continue;
        }
        memmove(&parts[i + 2], &parts[i + 1], (count - i - 1) * sizeof *parts);
        count++;
        parts[i + 1] = (struct part){parts[i].first + cut, parts[i].count - cut, p};
        parts[i].count = cut;
    }
    return count;
}

/* Searches each cut again between its two neighbours alone, since the first search saw all values;
 * removes a cut that is no longer found.  Returns how many parts are left. */
static uint32_t settle_cuts(const struct series *v, double threshold, struct part *parts,
                            uint32_t count)
{
    for (uint32_t i = 0; i + 1 < count;) {
        struct part *a = &parts[i], *b = &parts[i + 1];
        const uint32_t both = a->count + b->count;
        const uint32_t cut = find_cut(v, a->first, both, threshold, &b->p);
        a->count = cut != 0 ? cut : both;
        b->first = a->first + cut;
        b->count = both - cut;
        if (cut != 0) {
            i++;
            continue;
        }
        memmove(b, b + 1, (count - i - 2) * sizeof *parts);
        count--;
    }
    return count;
}

static void fill_level(const struct trend_study *s, const struct series *v, const struct part *part,
                       const struct trend_level *before, struct trend_level *out)
{
    const double around = threshold_of(s);
    const double median = median_of(v, part->first, part->count);
    *out = (struct trend_level){.first = v->points[part->first],
                                .last = v->points[part->first + part->count - 1],
                                .runs = part->count,
                                .median = median,
                                .low = median * (1 - around),
                                .high = median * (1 + around),
                                .p = part->p,
                                .before = unknown,
                                .effect = unknown};
    if (before == NULL)
        return;
    out->before = before->median;
    out->effect = before->median != 0 ? median / before->median - 1 : unknown;
    out->worse = (median > before->median) == s->facts->less_is_better;
}

static enum status find_levels(struct trend_study *s, struct arena *keep, struct fault *fault)
{
    struct series v;
    if (make_series(s, keep, &v, fault) != ERR_NONE || v.count == 0)
        return fault->code;
    const size_t room = v.count / LEVEL_RUNS_MIN + 2;
    struct part *parts = ARENA_ARRAY(keep, room, struct part);
    s->levels = ARENA_ARRAY(keep, room, struct trend_level);
    if (parts == NULL || s->levels == NULL)
        return fault_no_memory(fault, "trend");
    s->level_count = cut_series(&v, threshold_of(s), parts);
    s->level_count = settle_cuts(&v, threshold_of(s), parts, s->level_count);
    for (uint32_t i = 0; i < s->level_count; i++)
        fill_level(s, &v, &parts[i], i > 0 ? &s->levels[i - 1] : NULL, &s->levels[i]);
    return ERR_NONE;
}

/* ---- in words ------------------------------------------------------------------------- */

static const char *value_text(const struct trend_study *s, double value, struct arena *keep)
{
    static const struct {
        enum metric_unit unit;
        const char *name;
        double size;
    } steps[] = {{METRIC_UNIT_NS, "s", 1e9},     {METRIC_UNIT_NS, "ms", 1e6},
                 {METRIC_UNIT_NS, "µs", 1e3},    {METRIC_UNIT_NS, "ns", 0},
                 {METRIC_UNIT_BYTES, "MB", 1e6}, {METRIC_UNIT_BYTES, "KB", 1e3},
                 {METRIC_UNIT_BYTES, "bytes", 0}};
    if (s->facts->unit == METRIC_UNIT_SHARE)
        return arena_printf(keep, "%.2f %%",
                            floor(1e4 * value + 1e-6) / 100); /* 100: only of all */
    if (s->facts->unit == METRIC_UNIT_RATIO)
        return arena_printf(keep, "%.*f×", ratio_decimals(value), value);
    for (size_t i = 0; i < COUNT_OF(steps); i++)
        if (steps[i].unit == s->facts->unit && value >= steps[i].size)
            return arena_printf(keep, "%.3g %s", value / (steps[i].size > 0 ? steps[i].size : 1),
                                steps[i].name);
    return arena_printf(keep, "%g", value);
}

static const char *say(const struct trend_study *s, struct arena *keep)
{
    uint32_t counted = 0;
    for (uint32_t i = 0; i < s->level_count; i++)
        counted += s->levels[i].runs;
    if (counted < 2 * LEVEL_RUNS_MIN)
        return arena_printf(keep,
                            "Not enough runs to say whether it changed: %u here, %d are needed.",
                            (unsigned)counted, 2 * LEVEL_RUNS_MIN);
    const struct trend_level *now = &s->levels[s->level_count - 1];
    if (s->level_count == 1)
        return arena_printf(keep, "No change beyond chance and noise: %s in the median of %u runs.",
                            value_text(s, now->median, keep), (unsigned)counted);
    const struct trend_point *first = &s->trend.points[now->first];
    char day[TEXT_DATE_BYTES];
    text_utc_date(first->started_ns / 1000000000u, day);
    return arena_printf(keep, "%s since run %" PRIu64 " of %s (%s%.12s): %s, before it %s.",
                        now->worse ? "Worse" : "Better", first->run_id, day,
                        first->commit != NULL ? "commit " : "no commit",
                        first->commit != NULL ? first->commit : "",
                        value_text(s, now->median, keep),
                        value_text(s, s->levels[s->level_count - 2].median, keep));
}

enum status trend_make(struct store *store, const struct trend_query *query, struct arena *keep,
                       struct trend_study *out, struct fault *fault)
{
    memset(out, 0, sizeof *out);
    out->query = *query;
    out->noise = unknown;
    if (study_read_trend(store, query, keep, &out->trend, fault) != ERR_NONE)
        return fault->code;
    out->facts = metric_facts(query->metric);
    if (is_time(out) &&
        bench_newest_noise(store, keep, &out->noise, &out->noise_run, fault) != ERR_NONE)
        return fault->code;
    if (find_levels(out, keep, fault) != ERR_NONE ||
        store_list_branches(store, keep, &out->branches, &out->branch_count, fault) != ERR_NONE ||
        store_list_platforms(store, keep, &out->platforms, &out->platform_count, fault) != ERR_NONE)
        return fault->code;
    out->sentence = say(out, keep);
    return out->sentence != NULL ? ERR_NONE : fault_no_memory(fault, "trend");
}

/* ---- JSON ----------------------------------------------------------------------------- */

/* NULL: it is of all. */
static const char *arch_of(const struct trend_point *point)
{
    return point != NULL && point->arch != CPU_UNKNOWN ? cpu_name(point->arch) : NULL;
}

static void write_trend(struct json *j, const struct trend *trend, bool facts)
{
    json_object(j);
    json_key_array(j, "points");
    for (uint32_t i = 0; i < trend->count; i++) {
        const struct trend_point *point = &trend->points[i];
        json_object(j);
        json_key_uint(j, "run", point->run_id);
        json_key_uint(j, "started_ns", point->started_ns);
        json_key_number(j, "value", point->value);
        json_key_uint(j, "count", point->count);
        json_key_bool(j, "counts", trend->counts[i]);
        json_key_uint_known(j, "bench", point->bench);
        if (facts) {
            json_key_string(j, "commit", point->commit);
            json_key_string(j, "branch", point->branch);
            json_key_string(j, "platform", point->platform);
            json_key_uint(j, "cases", point->cases);
            json_key_string(j, "arch", arch_of(point));
        }
        json_object_end(j);
    }
    json_array_end(j);
    json_key_object(j, "band");
    json_key_number(j, "low", trend->low);
    json_key_number(j, "high", trend->high);
    json_object_end(j);
    json_object_end(j);
}

void trend_write_points(struct json *j, const struct trend *trend)
{
    write_trend(j, trend, false);
}

static void write_figure(struct json *j, const struct metric_facts *facts)
{
    json_object(j);
    json_key_string(j, "name", facts->name);
    json_key_string(j, "title", facts->title);
    json_key_string(j, "unit", metric_unit_name(facts->unit));
    json_key_string(j, "better", facts->less_is_better ? "less" : "more");
    json_object_end(j);
}

static void write_level(struct json *j, const struct trend_study *s, uint32_t i)
{
    const struct trend_level *level = &s->levels[i];
    const struct trend_point *first = &s->trend.points[level->first];
    json_object(j);
    json_key_uint(j, "from_run", first->run_id);
    json_key_uint(j, "to_run", s->trend.points[level->last].run_id);
    json_key_uint(j, "from_ns", first->started_ns);
    json_key_uint(j, "to_ns", s->trend.points[level->last].started_ns);
    json_key_string(j, "commit", first->commit);
    json_key_uint(j, "runs", level->runs);
    json_key_number(j, "median", level->median);
    json_key_number(j, "low", level->low);
    json_key_number(j, "high", level->high);
    const char *change = level->worse ? "worse" : "better";
    json_key_string(j, "change", i == 0 ? NULL : change);
    json_key(j, "last_run_before");
    i == 0 ? json_null(j) : json_uint(j, s->trend.points[s->levels[i - 1].last].run_id);
    json_key_number(j, "before", level->before);
    json_key_number(j, "effect", level->effect);
    json_key_number(j, "p", i == 0 ? unknown : level->p);
    json_object_end(j);
}

static void write_words(struct json *j, const char *key, const char **words, uint32_t count)
{
    json_key_array(j, key);
    for (uint32_t i = 0; i < count; i++)
        json_string(j, words[i]);
    json_array_end(j);
}

void trend_write_json(struct json *j, const struct trend_study *s)
{
    json_object(j);
    json_key_string(j, "metric", s->facts->name);
    json_key(j, "figure");
    write_figure(j, s->facts);
    json_key_string(j, "scenario", s->query.scenario);
    json_key_string(j, "variant", s->query.variant);
    json_key_string(j, "branch", s->query.branch);
    json_key_string(j, "platform", s->query.platform);
    json_key_string(j, "sentence", s->sentence);
    json_key_string(j, "arch", arch_of(newest_of(&s->trend)));
    json_key_object(j, "noise");
    json_key_number(j, "share", s->noise);
    json_key_uint_known(j, "bench", s->noise_run);
    json_key_number(j, "threshold", threshold_of(s));
    json_object_end(j);
    json_key_array(j, "levels");
    for (uint32_t i = 0; i < s->level_count; i++)
        write_level(j, s, i);
    json_array_end(j);
    json_key(j, "trend");
    write_trend(j, &s->trend, true);
    json_key_array(j, "figures");
    for (int i = 0; i < METRIC_COUNT; i++)
        write_figure(j, metric_facts((enum metric)i));
    json_array_end(j);
    write_words(j, "branches", s->branches, s->branch_count);
    write_words(j, "platforms", s->platforms, s->platform_count);
    json_object_end(j);
}
