/* The figures of a run: what reports, metrics, badges, gates and pages show. Each has its one
 * definition here; no face adds up cases. */
#ifndef STUDY_FIGURES_H
#define STUDY_FIGURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/fault.h"
#include "base/json.h"
#include "base/text_pool.h"
#include "model/difference.h"
#include "model/metric.h"
#include "model/run.h"
#include "model/stored.h"
#include "study/measurement.h"
#include "study/samples.h"
#include "study/trouble.h"

/* How often a scenario was built: variants of its first repeat. */
struct scenario_builds {
    const char *scenario;
    uint32_t builds;
    uint32_t cases; /* of all repeats */
};

/* A snapshot that a .NET runtime refused. */
struct refused_snapshot {
    const struct run_case *where;
    const struct finding *finding;
};

/* The cases of one build: see lanes.h. */
enum { LANES_MAX = 64 };
struct lane_total {
    const char *variant;
    const char *why; /* of its first case that is UNSUPPORTED; NULL: none is */
    enum cpu arch;
    uint32_t cases, run; /* run: not UNSUPPORTED */
};

/* The processors of a run, that of its figures of time and size first, since no figure mixes them:
 * those of which there are stacks both ways, then of dumps alone, then those of which there is only
 * a record or dump, each in cpu_order. */
struct processors {
    uint32_t count;
    enum cpu of[CPU_COUNT]; /* CPU_UNKNOWN where there is none */
    int levels[CPU_COUNT];  /* while cases are added */
};

struct store;
struct accuracy;    /* study/accuracy.h */
struct costs;       /* study/cost.h */
struct headline;    /* study/headline.h */
struct hook_matrix; /* study/hooks.h */
struct dump_ratio;  /* study/ratio.h */
struct speed;       /* study/speed.h */
struct timings;     /* study/timings.h */

struct run_figures {
    const struct run_info *run;
    const struct run_case *cases; /* all, with claims where stacks are asked for; of a run that
                                     stays in the database those that fail, deviate or are
                                     UNSUPPORTED, with scores; of findings each has the one that
                                     decides */
    uint32_t case_count;
    uint32_t total_cases; /* wherever they are */
    uint32_t verdicts[VERDICT_COUNT];
    uint32_t troubles[TROUBLES]; /* cases, by why they count as wrong */
    struct lane_total *lanes;    /* by name; the first LANES_MAX builds */
    uint32_t lane_count;
    struct processors processors;
    struct store *store; /* where the run stays; NULL: `cases` has every case */
    const struct accuracy *accuracy;
    const struct case_sums *sums;
    const struct costs *costs;
    const struct headline *headline;
    const struct hook_matrix *hooks;
    const struct speed *speed;
    const struct dump_ratio *ratio; /* which faces show; without a store, of the run itself */
    const struct timings *timings;
    const struct scenario_builds *builds; /* by scenario */
    uint32_t build_count;
    uint32_t captures_expected, captured;
    const struct engine_total *engines;
    uint32_t engine_count;
    uint32_t left_out; /* cases with the verdict ERROR and no stack of any engine: in no share or
                          time, since there is nothing to judge */
    const struct symbol_row *symbols; /* what named its frames; set by the caller, or none */
    uint32_t symbol_count;
    const char *const *problems; /* of the run as a whole: each fails it, whatever its cases do */
    uint32_t problem_count;
};

/* The figures of all cases of a run: also what is wrong with the run as a whole: it is not
 * complete, or acceptances that it used are not needed or have expired. Borrows RUN and CASES.
 * Fails: ERR_MEMORY; ERR_IO a temporary file; ERR_MALFORMED the acceptances. */
enum status figures_prepare(const struct run_info *run, const struct run_case *cases,
                            uint32_t case_count, struct arena *keep, struct run_figures *out,
                            struct fault *fault);

/* Who else looks at each case while figures are read: in the order of the run; the case is gone
 * afterwards. */
struct figures_watch {
    unsigned parts; /* what it needs of a case beside scores and findings: enum case_part */
    enum status (*look)(void *context, const struct run_case *c, struct fault *fault);
    void *context;
};

/* The figures of run WORD, whose cases stay in STORE. WATCH sees each case; NULL: none does. INFO
 * keeps what OUT borrows; STORE stays open while OUT is used. Fails: as the database; as WATCH. */
enum status figures_read(struct store *store, const char *word, const struct figures_watch *watch,
                         struct arena *keep, struct run_info *info, struct run_figures *out,
                         struct fault *fault);

/* Only engines and problems; OUT has none of the pointers to figures. Reads no case, unless
 * acceptances were used. Fails: as the database. */
enum status figures_read_head(struct store *store, const char *word, struct arena *keep,
                              struct run_info *info, struct run_figures *out, struct fault *fault);

/* All cases of FIGURES, one at a time, wherever they are. */
struct case_window {
    const struct run_figures *figures;
    unsigned parts; /* what is read of each: enum case_part */
    uint32_t count; /* of all cases */
    uint64_t *ids;  /* of those in the database, by repeat and name */
    struct arena keep, scratch;
    struct run_case *ready; /* of those in the database, READY_COUNT from case FIRST on */
    uint32_t first, ready_count;
};
/* Fails: as the database; the window is empty. Close it also then. */
void case_window_open(struct case_window *w, const struct run_figures *figures, unsigned parts,
                      struct fault *fault);
void case_window_close(struct case_window *w);
/* Case AT, which stays until the next call; NULL: it cannot be read, and FAULT is set. */
const struct run_case *case_window_get(struct case_window *w, uint32_t at, struct fault *fault);

/* The claim of ENGINE in a case, or NULL. */
const struct engine_claim *case_claim(const struct run_case *c, const char *engine);
const struct engine_score *case_score(const struct run_case *c, const char *engine);

/* True when C fails since ENGINE and another one contradict each other where the truth is silent,
 * and ENGINE is the wrong one or it is not known which is. */
bool case_is_apart(const struct run_case *c, const char *engine);

/* How many reference engines have a stack that the truth could judge, and how many of these stacks
 * are exact. */
struct case_references {
    uint32_t exact, judged;
};
struct case_references case_references(const struct run_case *c);

/* True when the case's stack of that engine counts for timing: it has frames and a time. */
bool case_is_timed(const struct run_case *c, const char *engine);

/* What C adds; FOREIGN: the engine of WAY_FOREIGN, or NULL. Times do not count where the case ran
 * crowded or has not both a record and a dump; those of the back end only where both engines under
 * test gave the same stack, and each way's where its stack is that one. */
void figure_sample_take(const struct run_case *c, const char *foreign, struct figure_sample *out);

/* SAMPLE is what C adds. After the last case, processors_end() fills the list. */
void processors_add(struct processors *p, const struct run_case *c,
                    const struct figure_sample *sample);
void processors_end(struct processors *p);

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
    MEASURE_TOP3,
    MEASURE_TOP5,
    MEASURE_PRECISION,
    MEASURE_RECALL,
    MEASURE_INLINE_RECALL,
    MEASURE_LINES,
    MEASURE_PHYSICAL,
    MEASURES
};

/* As a member of an object: {right, total, value, low, high}. */
void measure_write_json(struct json *j, const struct measure *m);

/* RIGHT of TOTAL in percent, rounded down to a tenth, so that only all of them are 100. */
double figures_percent(uint64_t right, uint64_t total);
/* SHARE as the pages have it: "99.6 %", rounded down to a tenth; "100 %" and "0.1 %" of what is not
 * quite none. */
void figures_share_text(double share, char *out, size_t room);

/* The findings of one cause over all cases. */
struct cause_total {
    uint32_t findings, cases, failing;
    const struct finding *example; /* the first that fails, else the first; NULL: none */
    const struct run_case *where;  /* the example's case                               */
};

/* Causes, and the first refused snapshots. Texts and examples live in `texts`, so that the cases
 * need not stay. */
enum { REFUSED_SHOWN = 20 };
struct case_sums {
    struct text_pool texts;
    uint32_t findings, refused_count; /* all */
    struct cause_total causes[CAUSE_COUNT];
    struct refused_snapshot refused[REFUSED_SHOWN];
};
void case_sums_add(struct case_sums *sums, const struct run_case *c);

/* True when a report lists the case: the verdict is not the promised one, or an engine under test
 * is not exact. */
bool case_deviates(const struct run_case *c);

void figures_measures(const struct engine_total *total, struct measure out[MEASURES]);

/* The judge that represents foreign tools reading the dump; NULL: no such judge gave a stack. */
const char *figures_foreign_engine(const struct run_figures *figures);

/* METRIC_EXACT and METRIC_F1 of the subjects, METRIC_CAPTURE_RATE, METRIC_SPEED_RATIO; NaN when
 * nothing was judged, and for any other metric. */
double figures_metric(const struct run_figures *figures, enum metric metric);
/* Of how many cases, stacks or frames the share METRIC is. */
uint64_t figures_metric_count(const struct run_figures *figures, enum metric metric);

#endif
