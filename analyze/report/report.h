/* Reports of a stored run: for people (terminal, Markdown) and for other programs (REPORT_FORMATS).
 *
 * Every writer takes the same input and writes to a stream; the same input gives the same bytes. A
 * writer that leaves something out to limit the size reports how much. A write error shows in
 * ferror(). */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/fault.h"
#include "study/cost.h"

struct report_style {
    uint32_t columns; /* 0: 100 */
    bool color;
    bool details;   /* also the cases that do not deviate, findings, hooks, times */
    const char *db; /* for commands that the report suggests; NULL: the default database */
};

enum status report_text(const struct run_figures *report, const struct report_style *style,
                        struct arena *scratch, FILE *out, struct fault *fault);
/* Only what a million crashes cost. */
enum status report_cost(const struct costs *costs, const struct cost_terms *terms,
                        const struct report_style *style, struct arena *scratch, FILE *out,
                        struct fault *fault);
/* At most MAX_BYTES (0: 1,000,000, under the 1,024 KiB of a CI step summary): the totals are always
 * complete, lists end with "and N more". */
enum status report_markdown(const struct run_figures *report, size_t max_bytes,
                            struct arena *scratch, FILE *out, struct fault *fault);

/* ---- formats -------------------------------------------------------------------------- */

struct report_job {
    const struct run_figures *report;
    const char *badge;                /* a name of BADGES */
    const char *engine;               /* whose stacks; NULL: the first subject that gave one */
    const struct cost_question *cost; /* NULL: the default terms */
    struct arena *scratch;
};

/* A file for other programs: a row below, and a function report_NAME. */
typedef enum status report_fn(const struct report_job *job, FILE *out, struct fault *fault);
struct report_format {
    const char *option, *help;
    bool figures; /* those of the whole run, not its head alone */
    bool symbols; /* also what named its frames */
    report_fn *write;
};

/* badge: in the form of https://shields.io/badges/endpoint-badge. */
#define REPORT_FORMATS(ROW)                                                                        \
    ROW(json, true, true, "everything, in the documented schema")                                  \
    ROW(junit, false, false, NULL)                                                                 \
    ROW(ctrf, false, false, "CTRF JSON")                                                           \
    ROW(md, true, false, "Markdown, limited in length")                                            \
    ROW(openmetrics, true, false, "OpenMetrics text")                                              \
    ROW(badge, true, false, "shields endpoint JSON")                                               \
    ROW(folded, false, false, "all stacks, as folded lines")                                       \
    ROW(speedscope, false, false, "all stacks, for speedscope")

#define REPORT_DECLARATION(NAME, FIGURES, SYMBOLS, HELP)                                           \
    enum status report_##NAME(const struct report_job *job, FILE *out, struct fault *fault);
REPORT_FORMATS(REPORT_DECLARATION)

/* The end of a report in JSON: a line's, and whether all of it was written.  Fails: ERR_IO. */
enum status report_end_json(struct json *j, FILE *out, struct fault *fault);

#define REPORT_FORMAT(NAME, FIGURES, SYMBOLS, HELP)                                                \
    {"--" #NAME, HELP, FIGURES, SYMBOLS, report_##NAME},

#endif
