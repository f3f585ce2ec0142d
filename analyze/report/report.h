/* A stored run as something to read: for people (terminal, Markdown) and for other people's
 * programs (JSON, JUnit, CTRF, OpenMetrics, badge, folded stacks, speedscope).
 *
 * Every writer takes the same input and writes to a stream; the same input gives the same
 * bytes.  What a writer leaves out for size it counts aloud.  A write error shows in ferror(). */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/fault.h"
#include "model/run.h"

struct report_run {
    const struct run_info *run;
    const struct run_case *cases; /* all of them; with claims where stacks are asked for */
    uint32_t case_count;
    const struct engine_total *engines;
    uint32_t engine_count;
    const char *const *problems; /* of the run as a whole: each fails it, whatever its cases do */
    uint32_t problem_count;
};

/* Adds the engine totals, and what is wrong with the run as a whole: it is not complete, or
 * acceptances that it used are not needed or have expired.  Fails: ERR_MEMORY; ERR_MALFORMED the
 * acceptances. */
enum status report_prepare(const struct run_info *run, const struct run_case *cases,
                           uint32_t case_count, struct arena *keep, struct report_run *out,
                           struct fault *fault);

struct report_style {
    uint32_t columns; /* 0: 100 */
    bool color;
    bool details; /* also each case's findings */
};

enum status report_text(const struct report_run *report, const struct report_style *style,
                        struct arena *scratch, FILE *out, struct fault *fault);
enum status report_json(const struct report_run *report, FILE *out, struct fault *fault);
enum status report_junit(const struct report_run *report, FILE *out, struct fault *fault);
enum status report_ctrf(const struct report_run *report, FILE *out, struct fault *fault);

/* At most MAX_BYTES (0: 1,000,000, under the 1,024 KiB of a CI step summary): the totals are
 * always there and true, lists end with "and N more". */
enum status report_markdown(const struct report_run *report, size_t max_bytes,
                            struct arena *scratch, FILE *out, struct fault *fault);
enum status report_openmetrics(const struct report_run *report, struct arena *scratch, FILE *out,
                               struct fault *fault);

/* METRIC: "verdict", "capture_rate", "exact", "f1", "speed_ratio".  Fails: ERR_USAGE. */
enum status report_badge(const struct report_run *report, const char *metric, FILE *out,
                         struct fault *fault);

/* Stacks of ENGINE (NULL: the first subject that gave one), outermost first, counted. */
enum status report_folded(const struct report_run *report, const char *engine,
                          struct arena *scratch, FILE *out, struct fault *fault);
enum status report_speedscope(const struct report_run *report, const char *engine,
                              struct arena *scratch, FILE *out, struct fault *fault);

/* ---- figures that several writers and the dashboard share --------------------------- */

struct report_ratio {
    uint64_t cases;    /* that have both                                         */
    double foreign_ms; /* median: dump way through a foreign debugger; NaN: none */
    double dump_ms;    /* median: dump way, ours                                 */
    double offset_ms;  /* median: offset way                                     */
};

/* The headline "dump way (foreign) : dump way (ours) : offset way", from the back end's costs
 * of the cases that have both subjects. */
struct report_ratio report_ratio(const struct report_run *report, struct arena *scratch);

/* capture_rate, exact, f1 of the subjects; NaN when nothing was judged. */
double report_metric(const struct report_run *report, const char *metric, struct arena *scratch);

#endif
