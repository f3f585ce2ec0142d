/* Why each frame of a dump's stack was found. */
#ifndef ENGINE_DUMP_EVIDENCE_H
#define ENGINE_DUMP_EVIDENCE_H

#include "engine/dump.h"

/* Walks the thread of STACK once more and notes why each physical frame was found, for the first
 * DUMP_EVIDENCE_MAX of them. Notes nothing if the thread cannot be walked. This is a separate walk,
 * so that it does not count in the timings. CODE_BEFORE is the code from the begin of the function
 * on, if unwind data or symbols know it and it is at most DUMP_CODE_MAX bytes away: the begin of an
 * instruction, so CODE_ALIGNED is set, although pc need not be one. Else it is a few bytes.
 * CODE_AFTER ends at the end of the function, or has DUMP_CODE_AFTER bytes. Fails: ERR_MEMORY. */
enum { DUMP_EVIDENCE_MAX = 128, DUMP_CODE_MAX = 16 << 10, DUMP_CODE_AFTER = 32 };
enum status dump_add_evidence(struct dump_session *session, struct arena *keep, struct stack *stack,
                              struct fault *fault);

#endif
