/* Which cases a stored run was asked to capture: a case that it was not asked for does not count as
 * gone. */
#ifndef STUDY_SELECTION_H
#define STUDY_SELECTION_H

#include "base/arena.h"
#include "base/fault.h"
#include "model/difference.h"
#include "model/run.h"

struct selection {
    const char *expr, *variants; /* of -k and --variant; NULL: all */
    uint32_t shard, shard_count; /* of --shard I/N; 0: not a part */
};

/* The value of option NAME at word *i of ARGV, in either form ("-k X", "-k=X"), and moves *i past
 * it; NULL: another option. */
const char *selection_value(const char *name, int argc, char *const *argv, int *i);

/* Reads it off the run's command line; a run without one took all.  OUT lives in KEEP.
 * Fails: ERR_MEMORY. */
enum status selection_read(const struct run_info *run, struct arena *keep, struct selection *out,
                           struct fault *fault);

/* True when a run of this selection takes a case like C; of a shard that is unknown: false. */
bool selection_takes(const struct selection *s, const struct diff_case *c);

/* True when EXPR, an expression as for `run -k`, selects C.  Fails: ERR_USAGE, and *selected is
 * false. */
enum status selection_matches(const char *expr, const struct diff_case *c, bool *selected,
                              struct fault *fault);

/* Marks those rows of DIFF as "not selected" that are gone because run B was not asked for them.
 * Two runs of one command line, shard and all, were asked for the same.  Fails: ERR_MEMORY. */
enum status selection_apply(const struct run_info *a, const struct run_info *b, struct arena *keep,
                            struct run_diff *diff, struct fault *fault);

#endif
