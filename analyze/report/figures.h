/* Figures and words that several writers of this room share. */
#ifndef REPORT_FIGURES_H
#define REPORT_FIGURES_H

#include "compare/statistics.h"
#include "report/report.h"

/* The claim of ENGINE in a case, or NULL. */
const struct engine_claim *case_claim(const struct run_case *c, const char *engine);
const struct engine_score *case_score(const struct run_case *c, const char *engine);

/* True when the case's stack of that engine counts for timing: it has frames and a time. */
bool case_is_timed(const struct run_case *c, const char *engine);

/* Collects GET(case) of the cases where it is not 0 into OUT (room for all); returns how many. */
typedef uint64_t case_number_fn(const struct run_case *c, const void *context);
size_t collect_numbers(const struct report_run *report, case_number_fn *get, const void *context,
                       double *out);

uint64_t case_total_ns(const struct run_case *c, const void *engine);

/* The judge that stands for "the tools of others read the dump": dbghelp, winedbg or lldb. */
const char *foreign_dump_engine(const struct report_run *report);

/* Cases whose verdict fails the run. */
uint32_t failing_cases(const struct report_run *report);

/* "1.2 ms", "34 µs", "5.6 s": three digits at most; "-" for NaN. */
const char *duration_text(double ns, char out[24]);
const char *bytes_text(double bytes, char out[24]); /* "1.2 MB" */

/* "scenario.variant", with "#2" behind it from the second repeat on. */
const char *case_name(const struct run_case *c, char out[160]);

/* RFC 3339, UTC, seconds. */
const char *time_text(uint64_t ns, char out[32]);

/* Text for a Markdown table cell: names come from dumps, so nothing in them may be markup. */
const char *markdown_text(const char *text, struct arena *keep);

#endif
