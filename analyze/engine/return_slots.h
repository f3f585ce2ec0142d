/* Where in the memory of a dump the return addresses are that another walk found.
 *
 * A record has no stack pointers, so a page could show only the return slot of the dump's walk
 * where the two part. */
#ifndef ENGINE_RETURN_SLOTS_H
#define ENGINE_RETURN_SLOTS_H

#include "engine/dump.h"

/* Adds to STACK, of an offset engine, evidence with nothing but a return slot: for its first
 * RETURN_SLOTS_MAX frames that no frame with the same callee of BESIDE has, the dump's stack of the
 * same thread.  The slot is the word of the thread's stack, from its stack pointer on, that has the
 * return address.  If no word or several have it, or the walk has it twice, nothing is added,
 * because it is not known which of them the walk read.  Nothing is added to a stack that begins
 * elsewhere, either.  This is made for people once all engines have answered; none sees it.  Fails:
 * ERR_MEMORY. */
enum { RETURN_SLOTS_MAX = 8 };
enum status return_slots_add(const struct dump_session *session, const struct stack *beside,
                             struct arena *keep, struct stack *stack, struct fault *fault);

#endif
