/* The figures of a run: what reports, metrics, badges, gates and pages show. Each has its one
 * definition here; no face adds up cases. */
#ifndef STUDY_FIGURES_H
#define STUDY_FIGURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/fault.h"
#include "model/difference.h"
#include "model/metric.h"
#include "model/run.h"

struct run_figures {
    const struct run_info *run;
    const struct run_case *cases; /* all of them; with claims where stacks are asked for */
    uint32_t case_count;
    const struct engine_total *engines;
    uint32_t engine_count;
    uint32_t left_out; /* cases with the verdict ERROR and no stack of any engine: in no share or
                          time, since there is nothing to judge */
    const char *const *problems; /* of the run as a whole: each fails it, whatever its cases do */
    uint32_t problem_count;
};

/* Adds the engine totals, and what is wrong with the run as a whole: it is not complete, or
 * acceptances that it used are not needed or have expired.  CASES must be all cases of the run
 * (study_read_run reads them).  Borrows RUN and CASES.  Fails: ERR_MEMORY; ERR_MALFORMED the
 * acceptances. */
enum status figures_prepare(const struct run_info *run, const struct run_case *cases,
                            uint32_t case_count, struct arena *keep, struct run_figures *out,
                            struct fault *fault);

/* The claim of ENGINE in a case, or NULL. */
const struct engine_claim *case_claim(const struct run_case *c, const char *engine);
const struct engine_score *case_score(const struct run_case *c, const char *engine);

/* True when the case's stack of that engine counts for timing: it has frames and a time. */
bool case_is_timed(const struct run_case *c, const char *engine);

/* The time of ENGINE (const char *) for the case; 0: it does not count. */
uint64_t case_total_ns(const struct run_case *c, const void *engine);

/* Cases whose verdict fails the run. */
uint32_t figures_failing(const struct run_figures *figures);
uint32_t figures_passing(const struct run_figures *figures); /* PASS, or not captured as expected */

/* One share of an engine's stacks or frames that are right, with Wilson's 95 % interval. */
struct measure {
    const char *name; /* "exact", "recall", ...: its name in JSON and metrics */
    uint64_t right, total;
    struct interval share; /* 0..1 when total is 0 */
};

enum {
    MEASURE_EXACT,
    MEASURE_TOP1,
    MEASURE_TOP5,
    MEASURE_PRECISION,
    MEASURE_RECALL,
    MEASURE_INLINE_RECALL,
    MEASURE_LINES,
    MEASURE_PHYSICAL,
    MEASURES
};

/* RIGHT of TOTAL in percent, cut (not rounded) to a tenth, so that only all of them are 100. */
double figures_percent(uint64_t right, uint64_t total);

/* The findings of one cause over all cases. */
struct cause_total {
    uint32_t findings, cases, failing;
    const struct finding *example; /* the first that fails, else the first; NULL: none */
    const struct run_case *where;  /* the example's case                               */
};

/* Returns the number of findings in all. */
uint32_t figures_causes(const struct run_figures *figures, struct cause_total out[CAUSE_COUNT]);

void figures_measures(const struct engine_total *total, struct measure out[MEASURES]);

/* How one number is spread over the cases where it is not 0; all NaN when count is 0. */
struct spread {
    size_t count;
    double median, least, p90, most;
};

typedef uint64_t case_number_fn(const struct run_case *c, const void *context);

/* Scratch holds case_count numbers. */
struct spread figures_spread(const struct run_figures *figures, case_number_fn *get,
                             const void *context, double *scratch);

/* The judge that represents foreign tools reading the dump; NULL: no such judge gave a stack. */
const char *figures_foreign_engine(const struct run_figures *figures);

struct way_times {
    uint64_t cases;    /* that have both                                         */
    double foreign_ms; /* median: dump way through a foreign debugger; NaN: none */
    double dump_ms;    /* median: dump way, ours                                 */
    double offset_ms;  /* median: offset way                                     */
};

/* The headline "dump way (foreign) : dump way (ours) : offset way", from the back end's costs
 * of the cases that have both subjects. */
struct way_times figures_way_times(const struct run_figures *figures, struct arena *scratch);

/* METRIC_EXACT and METRIC_F1 of the subjects, METRIC_CAPTURE_RATE, METRIC_SPEED_RATIO; NaN when
 * nothing was judged, and for any other metric. */
double figures_metric(const struct run_figures *figures, enum metric metric, struct arena *scratch);

#endif
