/* Shares as people type them, and the run difference as JSON. */
#ifndef VERBS_FIGURES_TEXT_H
#define VERBS_FIGURES_TEXT_H

#include <stdbool.h>

#include "base/json.h"
#include "compare/run_diff.h"

/* "5%", "0.05" or "5 %": 0.05.  False for anything else or below 0. */
bool parse_share(const char *text, double *out);

void run_diff_write_json(struct json *j, const struct run_diff *diff);

#endif
