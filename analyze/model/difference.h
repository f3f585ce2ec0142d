/* What differs between two runs and between two series of numbers. compare produces it; reports and
 * pages show it. */
#ifndef MODEL_DIFFERENCE_H
#define MODEL_DIFFERENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/run.h"

/* An interval and the value in its middle. */
struct interval {
    double low, value, high;
};

/* A comparison with fewer samples gets no verdict. */
enum { STATISTICS_MIN_SAMPLES = 8 };

enum change { CHANGE_TOO_FEW, CHANGE_NONE, CHANGE_SLOWER, CHANGE_FASTER, CHANGE_COUNT };

struct change_verdict {
    enum change change;
    double effect;    /* median(now) / median(before) - 1    */
    double threshold; /* max(3 %, noise, fence), as a share */
    double p;
};

enum diff_group {
    DIFF_NEW,          /* fails now, did not fail before (or did not exist) */
    DIFF_FIXED,        /* failed before, does not fail now */
    DIFF_CHANGED,      /* another verdict or another cause             */
    DIFF_STILL,        /* fails as before                              */
    DIFF_SAME,         /* nothing to say                               */
    DIFF_ADDED,        /* only in the new run, where it does not fail */
    DIFF_GONE,         /* only in the old run                          */
    DIFF_ACCEPTED,     /* failed before, and now fails too but is accepted */
    DIFF_NOT_SELECTED, /* only in the old run: the new run was not asked to take it */
    DIFF_GROUPS
};

struct diff_row {
    enum diff_group group;
    const struct run_case *a, *b; /* before and now; NULL: not in that run */
    bool counts; /* in its group: if a case ran more than once, only one row is marked */
};

/* Since when a case fails: the oldest of the runs in a row in which it does, and the run before. */
struct case_history {
    uint64_t failing_run, good_run; /* 0: unknown; good_run also: it never did otherwise */
    const char *failing_commit, *good_commit; /* NULL: unknown */
};

/* A fact about the environment that differs between the two runs. */
struct diff_fact {
    const char *name, *a, *b; /* NULL: unknown there */
};

/* One engine's times on the cases that both runs have (the intersection). */
struct diff_time {
    const char *engine;
    bool subject;
    uint32_t cases;
    double before_ns, now_ns; /* medians                        */
    double ratio;             /* geometric mean of now / before */
    struct change_verdict change;
};

struct run_diff {
    struct diff_row *rows;
    uint32_t row_count;
    uint32_t counts[DIFF_GROUPS];
    struct diff_fact *facts;
    uint32_t fact_count;
    struct diff_time *times;
    uint32_t time_count;
};

/* The threshold for an effect on times, besides 3 %: shares, 0: unknown. */
struct diff_limits {
    double noise; /* measured between equal runs on this machine, or tolerated by the user */
    struct diff_fence {
        const char *engine;
        double share; /* the largest deviation among the engine's earlier runs */
    } fences[CLAIMS_MAX];
    uint32_t fence_count;
};

const char *diff_group_name(enum diff_group group); /* "new", "fixed", ... */
const char *change_name(enum change change);        /* "too_few", "same", "slower", "faster" */

#endif
