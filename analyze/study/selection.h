/* Which cases of an earlier run a stored run was asked to capture: a case that it was not asked for
 * does not count as gone. */
#ifndef STUDY_SELECTION_H
#define STUDY_SELECTION_H

#include "base/fault.h"
#include "model/difference.h"
#include "model/run.h"

/* True when LIST, as for `run --variant`, has VARIANT; NULL has all. */
bool selection_has_variant(const char *list, const char *variant);

/* True when EXPR, an expression as for `run -k`, selects C.  Fails: ERR_USAGE, and *selected is
 * false. */
enum status selection_matches(const char *expr, const struct diff_case *c, bool *selected,
                              struct fault *fault);

/* Marks those rows of DIFF as "not selected" that are gone because run B was not asked for them.
 * Two runs of one selection, shard and all, were asked for the same. */
void selection_apply(const struct run_info *a, const struct run_info *b, struct run_diff *diff);

#endif
