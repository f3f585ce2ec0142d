/* Makes one run of the parts that `run --shard I/N` captured, perhaps on several machines. */
#ifndef STUDY_MERGE_H
#define STUDY_MERGE_H

#include "study/runs.h"

/* Adds a run to TO with the cases of all WORDS, which name runs as in study_read_side; OUT
 * describes it.  Its command line is that of the parts without --shard, so that a case in no part
 * counts as gone.  Its start is that of the last part. Fails: ERR_USAGE a run is no part, has not
 * ended, or ran under other conditions than the first one; the same part twice.  ERR_ABSENT a part
 * is missing; as store_find_run. */
enum status study_merge(struct store *to, const char *const *words, uint32_t count,
                        struct arena *keep, struct run_info *out, struct fault *fault);

#endif
