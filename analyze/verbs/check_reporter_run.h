/* `check --dumps` with --db, --html or --out: the pairs as a run, and as sealed cases. */
#ifndef VERBS_CHECK_REPORTER_RUN_H
#define VERBS_CHECK_REPORTER_RUN_H

#include "verbs/check_reporter.h"

/* Does what OPTIONS name and returns the exit code, EXIT_GOOD where all was written. Pairs are read
 * once more, one after the other. */
int check_reporter_run(const struct check_reporter_options *options,
                       const struct reporter_result *result, struct arena *keep);

#endif
