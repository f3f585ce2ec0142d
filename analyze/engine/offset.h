/* The offset engines resolve what the walkers inside the dying process recorded (module + offset)
 * into logical frames. There is one engine per walker. */
#ifndef ENGINE_OFFSET_H
#define ENGINE_OFFSET_H

#include "capture/record.h"
#include "engine/engine.h"

/* By RECORD_WALKER_*; numbers without a walker have no name. */
/* The stack of the thread under suspicion by the walker `rtl`, without the others: for measuring.
 * OWN_ONLY leaves the frames of system modules without names. A record without one gives a stack
 * that is not applicable. */
enum status offset_suspect_stack(const struct engine_input *in, const struct record *record,
                                 bool own_only, struct arena *keep, struct stack *out,
                                 struct fault *fault);

extern const struct engine engine_offset[RECORD_WALKER_COUNT];

#endif
