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

enum change {
    CHANGE_TOO_FEW,
    CHANGE_NONE,
    CHANGE_SLOWER,
    CHANGE_FASTER,
    CHANGE_TOO_NOISY, /* no change is seen, but the noise would hide a large one */
    CHANGE_COUNT
};

struct change_verdict {
    enum change change;
    double effect;    /* median(now) / median(before) - 1    */
    double threshold; /* max(3 %, noise, fence), as a share */
    double p;
    double spread; /* of the pairs' ratios, as a standard deviation; 0: no pairs */
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

/* What is read of the cases that are compared. */
enum diff_detail {
    DIFF_VERDICTS, /* which cases fail: name, kind, verdict, signature, reason */
    DIFF_STACKS,   /* also what each case has: truth, and stacks of engines under test */
    DIFF_TIMES,    /* everything that a diff_case holds, and times        */
};

/* What a case has. */
enum {
    DIFF_HAS_TRUTH = 1,
    DIFF_HAS_OFFSET = 2, /* a stack of the engine under test of the offset way */
    DIFF_HAS_DUMP = 4,
};

/* What a comparison needs of a case: runs of 100,000 cases are compared, and a whole `run_case` is
 * several times as large. */
struct diff_case {
    const char *scenario, *variant;
    const char *reason, *signature, *folder; /* NULL: none; folder only where the case fails */
    const struct finding *finding;           /* findings_deciding(); NULL: none */
    const struct finding *second;            /* likewise */
    enum case_kind kind;
    enum verdict verdict;
    uint32_t repeat;
    uint32_t frames; /* of the longest stack of an engine under test */
    uint32_t index;  /* in its run, as the cases were passed */
    unsigned has;    /* DIFF_HAS_...; 0 unless more than the verdicts was read */
};

/* One run of a comparison. */
struct diff_side {
    const struct run_info *run;
    struct diff_case *cases; /* by repeat and name, if the database gave them */
    uint32_t count;
    struct diff_series {
        const char *engine;
        bool subject;
        uint64_t *total_ns; /* by index of the case; 0: there is no time */
    } series[CLAIMS_MAX];
    uint32_t series_count;
};

struct diff_row {
    enum diff_group group;
    const struct diff_case *a, *b; /* before and now; NULL: not in that run */
    bool counts; /* in its group: if a case ran more than once, only one row is marked */
};

/* Since when a case fails: the oldest of the consecutive runs in which it does, and the run before
 * that. */
struct case_history {
    uint64_t failing_run, good_run; /* 0: unknown; good_run is also 0 when it always failed */
    const char *failing_commit, *good_commit; /* NULL: unknown */
    bool good_elsewhere; /* the good run's number is of another database than the failing one's */
};

/* The fact that makes two runs measure different things: who wrote the dumps. Times of the dump way
 * are then not compared, and the gate is closed. */
#define DIFF_FACT_WRITER "writer of dumps"

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
    double measured; /* the part of `noise` that was measured; 0: no bench */
};

/* The series of ENGINE in SIDE, whose count is set; added when new. NULL: FAULT is set; ERR_LIMIT:
 * there are CLAIMS_MAX others. */
struct diff_series *diff_side_series(struct diff_side *side, const char *engine, bool subject,
                                     struct arena *keep, struct fault *fault);

const char *diff_group_name(enum diff_group group); /* "new", "fixed", ... */
const char *change_words(enum change change);       /* as people read it: "too noisy to judge" */
const char *change_name(enum change change);        /* "too_few", "same", "slower", ... */

#endif
