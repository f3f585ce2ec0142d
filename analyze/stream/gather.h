/* Where reports come in: each is stored once, whatever its sender repeats, and small ones of a
 * sender go together.
 *
 * A report that comes alone is stored at once. While many come, one waits for others, at most
 * GATHER_MS, and those that come while a group is being stored make the next one. A report is
 * acknowledged when its group is stored.
 *
 * All functions may be called by several threads at a time. */
#ifndef STREAM_GATHER_H
#define STREAM_GATHER_H

#include "stream/queued_report.h"

enum { GATHER_MS = 50 };

struct gather;

/* NULL: out of memory. QUEUE is borrowed. */
struct gather *gather_new(struct queue *queue);
void gather_free(struct gather *gather);

/* Returns when REPORT is stored. Fails: ERR_MALFORMED; ERR_MISMATCH another report has its id, for
 * QUEUE_REMEMBER_S; and as the transport's put(). */
enum status gather_put(struct gather *gather, const struct report *report, struct fault *fault);

#endif
