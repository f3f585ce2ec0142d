/* Whether a run is good enough: limits, and no regression from a baseline. */
#ifndef STUDY_GATE_H
#define STUDY_GATE_H

#include "base/json.h"
#include "model/lane.h"
#include "study/ratio.h"
#include "study/run_difference.h"

/* Shares are 0..1; NaN: not asked for. */
struct gate_request {
    const char *against; /* run, "baseline", or database file; NULL: none */
    double min_capture, min_exact, min_f1;
    double max_slowdown;      /* of the subjects' times, or of LANES if there are any */
    const struct lane *lanes; /* of the table of speed: see model/lane.h. Each is judged by itself,
                               * over at least MEASUREMENT_LEAST cases of both runs */
    uint32_t lane_count;
    const char *const *engines;
    uint32_t engine_count;     /* reference engines whose stacks must be exact, too */
    uint64_t max_new;          /* new failures allowed */
    const char *allow_missing; /* cases that may be gone or lose something, as for `run -k`; NULL:
                                * none */
    uint64_t max_accepted;     /* cases that pass only by acceptance; or the following */
    bool strict;               /* also: old failures, UNSUPPORTED without a baseline, another
                                * environment or commit, few samples */
    const char *checkout;      /* commit of the working folder; NULL: unknown */
    uint64_t now_ns;           /* since 1970, to print the run's age; 0: it is not printed */
    double min_agreement;      /* of the sampled reports: gate_decide_shadow() */
};

/* As many as the baseline has; without a baseline, any number. */
#define GATE_ACCEPTED_OF_BASELINE UINT64_MAX

struct gate_check {
    const char *name;
    bool holds;
    const char *text; /* the figure, and the limit */
};

enum { GATE_CHECKS_MAX = 64 };

struct gate {
    struct run_side run;        /* its cases only where the request compares */
    struct run_figures figures; /* sums; no cases */
    struct gate_check checks[GATE_CHECKS_MAX];
    uint32_t check_count;
    const struct dump_ratio *ratio, *ratio_before; /* of both runs; NULL: there is no such run */
    uint64_t run_before;
    bool shadow; /* of sampled reports: there is no run */
    bool open;   /* every check holds */
};

/* Decides about run WORD.  Fails: as study_read_run. */
enum status gate_decide(struct store *store, const char *word, const struct gate_request *request,
                        struct arena *keep, struct gate *out, struct fault *fault);

/* Decides about the reports that workers sampled, in the totals FILE: the share of them in which
 * each engine agrees with the reference must be at least `min_agreement` (NaN: 99 %). A report that
 * an engine cannot read does not agree. With `strict`, fewer than GATE_SHADOW_LEAST reports close
 * the gate; none always do. Fails: as totals_open() and totals_read_shadow(). */
enum { GATE_SHADOW_LEAST = 30 };
enum status gate_decide_shadow(const char *file, const struct gate_request *request,
                               struct arena *keep, struct gate *out, struct fault *fault);

void gate_write_json(struct json *j, const struct gate *gate);

#endif
