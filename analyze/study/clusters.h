/* What broke between two runs, in a few rows: the cases that newly fail, or fail differently,
 * grouped as the failing cases of a run are. */
#ifndef STUDY_CLUSTERS_H
#define STUDY_CLUSTERS_H

#include "study/failures.h"
#include "study/runs.h"

/* The groups of DIFF, the largest first.  STORE gives `since`, of the example; if it does not have
 * run B, only runs A and B say since when.  Fails: ERR_MEMORY, ERR_IO. */
enum status clusters_make(struct store *store, const struct run_info *a, const struct run_info *b,
                          const struct run_diff *diff, struct arena *keep, struct failures *out,
                          struct fault *fault);

/* An array of groups, as failures_write_json() writes them, and {blame: of most of its cases}. */
void clusters_write_json(struct json *j, const struct failures *clusters);

#endif
