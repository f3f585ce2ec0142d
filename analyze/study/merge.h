/* Makes one run of the parts that `run --shard I/N` captured, perhaps on several machines. */
#ifndef STUDY_MERGE_H
#define STUDY_MERGE_H

#include "study/runs.h"

/* Makes run OUT of TO of the cases of all WORDS, which name runs as in study_read_side.  Its
 * command line is that of the parts without --shard, so that a case that no part took is gone.  It
 * began when the last part began.
 * Fails: ERR_USAGE a run that is no part, that has not ended, or that was taken otherwise than the
 * first one; the same part twice.  ERR_ABSENT a part is missing; as study_find_run. */
enum status study_merge(struct store *to, const char *const *words, uint32_t count,
                        struct arena *keep, struct run_info *out, struct fault *fault);

#endif
