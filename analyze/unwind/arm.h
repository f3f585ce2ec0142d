/* One step of an unwinder: turns the walker's registers into those of the caller. */
#ifndef UNWIND_ARM_H
#define UNWIND_ARM_H

#include "unwind/walker.h"

/* Returns STOP_NONE, or why there is no caller. */
enum stop_reason unwind_step_arm(struct unwind_walker *w);

#endif
