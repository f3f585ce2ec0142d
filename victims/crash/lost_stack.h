/* For scenarios that destroy the return addresses. */
#ifndef VICTIMS_CRASH_LOST_STACK_H
#define VICTIMS_CRASH_LOST_STACK_H

/* Wine's dispatcher goes through the wreckage to whatever looks like code.  Where functions keep
 * frame pointers (no other variant's name is as long) it then takes the destroyed one for the
 * way on, and faults itself until the stack is full. */
#define NOT_WITH_FRAME_POINTERS                                                                    \
    (sizeof VICTIM_VARIANT == sizeof "ob2-fp"                                                      \
         ? "Wine's dispatcher follows the destroyed frame pointer and faults itself"               \
         : NULL)

#endif
