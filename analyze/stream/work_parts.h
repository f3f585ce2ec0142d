/* What work.c and work_shadow.c share; no other file includes this. */
#ifndef STREAM_WORK_PARTS_H
#define STREAM_WORK_PARTS_H

#include "stream/work.h"

/* Puts a sampled record into the channel of shadow comparisons. A failure is counted and loses the
 * sample: what is counted must not wait for it. */
void work_forward(const struct work_options *options, const struct queue_message *message,
                  struct work_figures *figures);

/* Judges at most one sampled report. False: none was waiting. */
bool work_judge_one(const struct work_options *options, struct work_figures *figures);

#endif
