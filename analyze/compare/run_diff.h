/* Compares two runs: first what differed around them, then what is new, fixed or has another cause,
 * then times. */
#ifndef COMPARE_RUN_DIFF_H
#define COMPARE_RUN_DIFF_H

#include "base/arena.h"
#include "base/fault.h"
#include "model/difference.h"

/* LIMITS may be NULL. */
enum status run_diff_make(const struct run_info *a, const struct run_case *a_cases,
                          uint32_t a_count, const struct run_info *b,
                          const struct run_case *b_cases, uint32_t b_count,
                          const struct diff_limits *limits, struct arena *keep,
                          struct run_diff *out, struct fault *fault);

#endif
