/* What an effect on times must exceed to count, out of what the database remembers. */
#ifndef VERBS_TIME_LIMITS_H
#define VERBS_TIME_LIMITS_H

#include "compare/run_diff.h"
#include "store/store.h"

enum { TIME_HISTORY_RUNS = 30 };

/* The A/A control of the newest bench is the noise, or FLOOR where that is larger; the subjects'
 * medians in the last runs like RUN (as many cases, give or take a tenth; not RUN itself) are the
 * fences.  What STORE does not know stays 0. */
enum status time_limits_read(struct store *store, const struct run_info *run, double floor,
                             struct arena *keep, struct diff_limits *out, struct fault *fault);

/* Nanoseconds of one lane's stage in every round of a bench: the warm or the cold ones. */
struct bench_series {
    double *values;
    size_t count;
    struct interval median; /* bootstrap, 95 % */
    double mad;
};
struct bench_series bench_series_of(const struct bench_sample *samples, uint32_t count,
                                    const char *lane, const char *stage, bool cold,
                                    struct arena *keep);

#endif
