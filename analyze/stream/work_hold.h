/* The leases that a worker renews while it works, on a thread of its own. */
#ifndef STREAM_WORK_HOLD_H
#define STREAM_WORK_HOLD_H

#include "stream/work.h"

struct hold;

/* NULL: out of memory, or there is no thread. */
struct hold *hold_new(const struct work_options *options);
void hold_free(struct hold *hold);
enum hold_place { HOLD_ROUND, HOLD_JUDGED, HOLD_PLACES };
/* Renews the leases of MESSAGES of which DONE is false, until hold_end(). */
void hold_begin(struct hold *hold, enum hold_place place, enum queue_channel channel,
                struct queue_message *messages, const bool *done, uint32_t count);
/* Before a message is settled: sets *DONE, and no lease of it is renewed from now on. */
void hold_done(struct hold *hold, bool *done);
void hold_end(struct hold *hold, enum hold_place place);

#endif
