/* Compares two runs: first what differed around them, then what is new, fixed or has another cause,
 * then times. */
#ifndef COMPARE_RUN_DIFF_H
#define COMPARE_RUN_DIFF_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/fault.h"
#include "model/difference.h"

/* LIMITS may be NULL. OUT borrows A and B. Fails: ERR_MEMORY. */
enum status run_diff_make(const struct diff_side *a, const struct diff_side *b,
                          const struct diff_limits *limits, struct arena *keep,
                          struct run_diff *out, struct fault *fault);

/* True when both runs state who wrote their dumps, and it is not the same writer. */
bool run_diff_mixes_writers(const struct run_diff *diff);

/* One side from whole cases, which OUT borrows. Fails: ERR_MEMORY. */
enum status diff_side_of(const struct run_info *run, const struct run_case *cases, uint32_t count,
                         struct arena *keep, struct diff_side *out, struct fault *fault);

#endif
