/* What each way costs in a run, as spreads over its cases of each processor. Computed here, once;
 * the terminal report and the timing page only show it. Times of crowded cases count nowhere; sizes
 * always do. */
#ifndef STUDY_TIMINGS_H
#define STUDY_TIMINGS_H

#include "base/json.h"
#include "model/bench.h"
#include "study/figures.h"
#include "study/samples.h"

struct timings_row {
    const char *key, *name; /* in JSON, and for people */
    bool bytes;             /* else nanoseconds */
    struct measurement measured;
};

enum { TIMINGS_CAPTURE = 12, TIMINGS_PARTS = 6, TIMINGS_SLOWEST = 10 };

struct timings_engine {
    const char *engine;
    enum engine_kind kind;
    bool subject;
    struct measurement total; /* nanoseconds, symbols loaded */
    struct timings_row parts[TIMINGS_PARTS];
};

struct timings_slow {
    const struct run_case *c; /* only its name is set */
    const char *engine;
    uint64_t ns;
    uint32_t frames;
};

/* The cases of one processor. */
struct timings_set {
    enum cpu arch;
    struct timings_row capture[TIMINGS_CAPTURE]; /* in the dying process */
    struct timings_engine *engines;              /* in the order of the figures */
};

struct timings {
    struct timings_set
        sets[CPU_COUNT]; /* the first is that of the other figures: struct processors */
    uint32_t set_count;  /* at least 1, also of a run without cases */
    uint32_t engine_count;
    struct timings_slow slowest[TIMINGS_SLOWEST]; /* stacks of the engines under test */
    uint32_t slow_count;
    uint64_t *case_ids;             /* of the cases with a stack, in the order of the run */
    uint32_t case_count, case_room; /* of these */
    uint32_t stacks;                /* of all engines */
};

/* Times that are taken case by case, in the order of the run; the cases need not stay. ENGINES are
 * those of the run: times of others do not count. */
struct timings_count {
    struct timings *out;
    const struct engine_total *engines; /* borrowed until timings_end() */
    struct arena *keep;
    struct sample_set rows;
};
void timings_begin(struct timings_count *count, const struct engine_total *engines,
                   uint32_t engine_count, struct arena *keep, struct timings *out);
enum status timings_add(struct timings_count *count, const struct run_case *c, struct fault *fault);
/* In the order of the engines of FIGURES, which have them all, and of their processors. Frees what
 * COUNT holds, also after a fault. */
enum status timings_end(struct timings_count *count, const struct run_figures *figures,
                        struct fault *fault);

/* One of OUT's case_ids, with its claims and scores; FIGURES stay in the database. Fails: as the
 * database. */
enum status timings_read_case(const struct run_figures *figures, uint64_t case_id,
                              struct arena *keep, struct run_case *out, struct fault *fault);

/* True where the engine gave a stack, which a page of times shows. */
bool timings_has_stack(const struct engine_score *score);

/* Writes the members of headline_write_members(), and of each processor "arch", "capture" and
 * "engines": the first one's as members of the object, then an array "others" of objects. */
void timings_write_json(struct json *j, const struct run_figures *figures);

/* An array: the value of "groups". */
enum status timings_write_groups(struct json *j, const struct bench_sample *samples, uint32_t count,
                                 struct arena *keep, struct fault *fault);

#endif
