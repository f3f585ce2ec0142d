/* One figure over runs: is it getting worse, and since when.  The points, the noise around them,
 * and the runs at which the figure's level changed. */
#ifndef STUDY_TREND_H
#define STUDY_TREND_H

#include "base/json.h"
#include "model/metric.h"
#include "model/stored.h"

struct store;

/* A figure over the finished runs, oldest first, and its usual band: the quartiles, widened by 1.5
 * times the distance between them; NaN with fewer than 4 values. */
struct trend {
    struct trend_point *points;
    bool *counts; /* per point: its run has a value and, in a trend of all cases, at least half of
                     the cases of the largest run here */
    uint32_t count;
    double low, high;
};

/* Fails: as study/runs.h says. */
enum status study_read_trend(struct store *store, const struct trend_query *query,
                             struct arena *keep, struct trend *out, struct fault *fault);

/* A range of runs over which the figure kept its level. */
struct trend_level {
    uint32_t first, last; /* of the points                     */
    uint32_t runs;        /* that count                        */
    double median;
    double low, high; /* the median and the noise around it     */
    double p;         /* of the change at `first`; 1: the start */
    double before;    /* median of the level before; NaN: the start */
    double effect;    /* share by which it differs from the level before; NaN: the start */
    bool worse;
};

struct trend_study {
    const struct metric_facts *facts;
    struct trend_query query;
    struct trend trend;
    double noise;       /* A/A of the newest bench, a share; NaN: no bench, or no time   */
    uint64_t noise_run; /* that bench; 0: none                                           */
    struct trend_level *levels;
    uint32_t level_count;               /* 0: no run counts */
    const char *sentence;               /* the answer to "is it getting worse, since when?" */
    const char **branches, **platforms; /* that can be chosen */
    uint32_t branch_count, platform_count;
};

/* A level changes where chance does not explain it (statistics_change_point) and the effect is
 * above the noise: max(3 %, A/A) for times, 0 for shares. */
enum status trend_make(struct store *store, const struct trend_query *query, struct arena *keep,
                       struct trend_study *out, struct fault *fault);

void trend_write_points(struct json *j, const struct trend *trend); /* and the band; no run facts */
void trend_write_json(struct json *j, const struct trend_study *study);

#endif
