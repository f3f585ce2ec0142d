/* The offset engines resolve what the walkers inside the dying process recorded (module + offset)
 * into logical frames. There is one engine per walker. */
#ifndef ENGINE_OFFSET_H
#define ENGINE_OFFSET_H

#include "capture/record.h"
#include "engine/engine.h"

/* By RECORD_WALKER_*; numbers without a walker have no name. */
extern const struct engine engine_offset[RECORD_WALKER_COUNT];

#endif
