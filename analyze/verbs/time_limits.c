/* See time_limits.h. */
#include "verbs/time_limits.h"

#include <math.h>
#include <string.h>

struct bench_series bench_series_of(const struct bench_sample *samples, uint32_t count,
                                    const char *lane, const char *stage, bool cold,
                                    struct arena *keep)
{
    const double unknown = (double)NAN;
    struct bench_series out = {
        ARENA_ARRAY(keep, (size_t)count + 1, double), 0, {unknown, unknown, unknown}, unknown};
    double *scratch = ARENA_ARRAY(keep, (size_t)count + 2, double);
    for (uint32_t i = 0; out.values != NULL && i < count; i++)
        if (samples[i].cold == cold && strcmp(samples[i].subject, lane) == 0 &&
            strcmp(samples[i].stage, stage) == 0)
            out.values[out.count++] = (double)samples[i].ns;
    if (scratch == NULL || out.count == 0)
        return out;
    out.mad = statistics_mad(out.values, out.count, scratch);
    out.median = statistics_median_interval(out.values, out.count, 1, scratch);
    return out;
}

/* Today's noise, as the newest bench of this database found it. */
static enum status read_noise(struct store *store, struct arena *keep, double *noise,
                              struct fault *fault)
{
    struct run_page page;
    struct bench_sample *samples = NULL;
    uint32_t count = 0;
    const struct run_query query = {.label = "bench", .limit = 1};
    if (store_list_runs(store, &query, keep, &page, fault) != ERR_NONE)
        return fault->code;
    if (page.count == 0)
        return ERR_NONE;
    if (store_read_samples(store, page.runs[0].id, keep, &samples, &count, fault) != ERR_NONE)
        return fault->code;
    const struct bench_series a = bench_series_of(samples, count, "offset", "total", false, keep);
    const struct bench_series b =
        bench_series_of(samples, count, "offset-control", "total", false, keep);
    const double apart = fabs(b.median.value / a.median.value - 1);
    if (apart > *noise)
        *noise = apart;
    return ERR_NONE;
}

static bool is_alike(const struct run_info *a, const struct run_info *b)
{
    const double apart = fabs((double)a->case_count - (double)b->case_count);
    return a->id != b->id && a->case_count > 0 && apart <= 0.1 * b->case_count;
}

/* The runs before RUN that took about as many cases: others' medians mean something else. */
static enum status read_fence(struct store *store, const struct run_info *run, const char *metric,
                              const struct run_page *page, struct arena *keep, double *out,
                              struct fault *fault)
{
    struct trend_point *points = NULL;
    uint32_t count = 0;
    double values[TIME_HISTORY_RUNS], scratch[TIME_HISTORY_RUNS];
    size_t known = 0;
    if (store_read_trend(store, metric, NULL, NULL, (uint32_t)page->count, keep, &points, &count,
                         fault) != ERR_NONE)
        return fault->code;
    for (uint32_t i = count; i-- > 0 && known < TIME_HISTORY_RUNS;)
        for (uint32_t k = 0; k < page->count; k++)
            if (page->runs[k].id == points[i].run_id && is_alike(&page->runs[k], run) &&
                points[i].value > 0)
                values[known++] = points[i].value;
    *out = statistics_fence_share(values, known, scratch);
    return ERR_NONE;
}

enum status time_limits_read(struct store *store, const struct run_info *run, double floor,
                             struct arena *keep, struct diff_limits *out, struct fault *fault)
{
    static const struct {
        const char *engine, *metric;
    } subjects[] = {{"offset:rtl", "offset_ns"}, {"dump", "dump_ns"}};
    struct run_page page;
    const struct run_query query = {.limit = TIME_HISTORY_RUNS * 2};
    memset(out, 0, sizeof *out);
    out->noise = floor;
    if (read_noise(store, keep, &out->noise, fault) != ERR_NONE ||
        store_list_runs(store, &query, keep, &page, fault) != ERR_NONE)
        return fault->code;
    for (size_t i = 0; i < sizeof subjects / sizeof subjects[0]; i++) {
        struct diff_fence *fence = &out->fences[out->fence_count++];
        fence->engine = subjects[i].engine;
        if (read_fence(store, run, subjects[i].metric, &page, keep, &fence->share, fault) !=
            ERR_NONE)
            return fault->code;
    }
    return ERR_NONE;
}
