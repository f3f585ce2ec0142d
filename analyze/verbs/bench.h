/* What the halves of `twinstack bench` share: one measures, the other tells. */
#ifndef VERBS_BENCH_H
#define VERBS_BENCH_H

#include <stdio.h>

#include "base/json.h"
#include "store/store.h"
#include "verbs/time_limits.h"

/* One bench: its samples, in nanoseconds a case, and the cases that it was taken of. */
struct bench_result {
    const struct bench_sample *samples;
    uint32_t sample_count;
    const struct case_timing *timings; /* of the dying processes; 0: not measured */
    uint32_t case_count;
    struct store *store; /* of earlier benches; NULL: none is asked */
};

/* Lanes and stages by the names under which samples are stored. */
#define BENCH_DUMP "dump"
#define BENCH_OFFSET "offset"
#define BENCH_CONTROL "offset-control"
#define BENCH_TOTAL "total"

/* What a report costs where it is taken, once a case. */
void bench_print_capture(const struct bench_result *bench, struct arena *keep);
void bench_write_capture(const struct bench_result *bench, struct arena *keep, struct json *j);

/* The back end, warm or cold; true when the offset way or the dump way became slower than in the
 * last bench. */
bool bench_print(const struct bench_result *bench, bool cold, struct arena *keep);
bool bench_write(const struct bench_result *bench, bool cold, struct arena *keep, struct json *j);

#endif
