/* Views: the list of runs, one run. */
#ifndef PAGES_RUNS_H
#define PAGES_RUNS_H

#include "pages/view.h"

/* Findings of a run by cause, most first: [{cause, findings, cases, subject_findings}]. */
enum status view_write_causes(const struct view_input *in, uint64_t run_id, struct json *out,
                              struct fault *fault);

#endif
