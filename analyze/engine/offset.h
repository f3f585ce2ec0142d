/* The offset engines: what the walkers inside the dying process recorded as module + offset,
 * turned into logical frames.  One engine a walker. */
#ifndef ENGINE_OFFSET_H
#define ENGINE_OFFSET_H

#include "engine/engine.h"

extern const struct engine engine_offset_rtl;
extern const struct engine engine_offset_dbghelp;
extern const struct engine engine_offset_dbghelp_own;
extern const struct engine engine_offset_backtrace;
extern const struct engine engine_offset_frame_pointer;

#endif
