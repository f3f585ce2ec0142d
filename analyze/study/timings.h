/* What each way costs in a run, as spreads over its cases. Computed here, once; the terminal report
 * and the timing page only show it. Times of crowded cases count nowhere; sizes always do. */
#ifndef STUDY_TIMINGS_H
#define STUDY_TIMINGS_H

#include "base/json.h"
#include "model/bench.h"
#include "study/figures.h"

struct timings_row {
    const char *key, *name; /* in JSON, and for people */
    bool bytes;             /* else nanoseconds */
    struct spread spread;
};

enum { TIMINGS_CAPTURE = 12, TIMINGS_PARTS = 6, TIMINGS_SLOWEST = 10 };

struct timings_engine {
    const char *engine;
    enum engine_kind kind;
    bool subject;
    struct spread total; /* nanoseconds, symbols loaded */
    struct timings_row parts[TIMINGS_PARTS];
};

struct timings_slow {
    const struct run_case *c;
    const char *engine;
    uint64_t ns;
    uint32_t frames;
};

struct timings {
    struct timings_row capture[TIMINGS_CAPTURE]; /* in the dying process */
    struct timings_engine *engines;              /* in the order of the figures */
    uint32_t engine_count;
    struct timings_slow slowest[TIMINGS_SLOWEST]; /* stacks of the engines under test */
    uint32_t slow_count;
};

/* FIGURES has all cases in memory, with their scores and claims. OUT borrows from it. Fails:
 * ERR_MEMORY. */
enum status timings_make(const struct run_figures *figures, struct arena *keep, struct timings *out,
                         struct fault *fault);

/* The samples of a bench that belong together: their numbers, and where a picture has them. */
struct timings_group {
    enum bench_lane lane;
    enum bench_stage stage;
    bool cold;
    struct spread spread;
};

/* In the order of the first sample of each group. Fails: ERR_MEMORY. */
enum status timings_group(const struct bench_sample *samples, uint32_t count, struct arena *keep,
                          struct timings_group **out, uint32_t *out_count, struct fault *fault);

/* Writes the members "headline", "ratio", "capture" and "engines" of an object: see
 * report/README.md for the headline. Fails: ERR_MEMORY. */
enum status timings_write_json(struct json *j, const struct run_figures *figures,
                               struct arena *keep, struct fault *fault);

/* An array: the value of "groups". */
enum status timings_write_groups(struct json *j, const struct bench_sample *samples, uint32_t count,
                                 struct arena *keep, struct fault *fault);

#endif
