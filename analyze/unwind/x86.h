/* One step of an unwinder: turns the walker's registers into those of the caller. */
#ifndef UNWIND_X86_H
#define UNWIND_X86_H

#include "unwind/walker.h"

/* Returns STOP_NONE, or why there is no caller. */
enum stop_reason unwind_step_x86(struct unwind_walker *w);

#endif
