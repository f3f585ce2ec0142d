/* Views: the list of runs, one run. */
#ifndef VIEW_RUNS_H
#define VIEW_RUNS_H

#include "view/view.h"

/* Findings of a run by cause, most first: [{cause, findings, cases, subject_findings}]. */
enum status view_write_causes(const struct view_input *in, uint64_t run_id, struct json *out,
                              struct fault *fault);

view_function view_runs, view_run;

#endif
