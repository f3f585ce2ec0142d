/* What a bench measures: lanes, stages, samples. Each enum has one table of names, which the store
 * and JSON use. */
#ifndef MODEL_BENCH_H
#define MODEL_BENCH_H

#include <stdbool.h>
#include <stdint.h>

#include "model/case.h"

/* The control repeats the offset lane: any difference is noise. */
enum bench_lane { LANE_OFFSET, LANE_DUMP, LANE_CONTROL, LANE_OTHER };
enum bench_stage { STAGE_PARSE, STAGE_UNWIND, STAGE_LOAD, STAGE_RESOLVE, STAGE_TOTAL, STAGE_OTHER };

/* BENCH_WAYS: the lanes that are compared, the first ones; BENCH_LANES: those that are measured. */
enum { BENCH_WAYS = LANE_CONTROL, BENCH_LANES = LANE_OTHER, BENCH_STAGES = STAGE_OTHER };

/* One lane's stage in one round of a bench: nanoseconds per case of the ratio's processor. */
struct bench_sample {
    enum bench_lane lane;
    enum bench_stage stage;
    bool cold;
    uint32_t round;
    uint64_t ns;
};

/* One case by both ways in one process of a bench: the least of its rounds, which the rest of a
 * machine disturbs least. */
struct bench_case {
    uint32_t process; /* from 0 on */
    const char *scenario, *variant;
    enum cpu arch;
    enum case_kind kind;
    bool cold;
    uint64_t ns[BENCH_WAYS]; /* by enum bench_lane; 0: not measured */
};

/* "offset", "dump", "offset-control"; the reverse gives LANE_OTHER for any other text. */
const char *bench_lane_name(enum bench_lane lane);
enum bench_lane bench_lane_parse(const char *text);

/* "parse", "unwind", "load", "resolve", "total"; likewise. */
const char *bench_stage_name(enum bench_stage stage);
enum bench_stage bench_stage_parse(const char *text);

#endif
