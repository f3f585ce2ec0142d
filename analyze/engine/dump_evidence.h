/* Why each frame of a dump's stack was found. */
#ifndef ENGINE_DUMP_EVIDENCE_H
#define ENGINE_DUMP_EVIDENCE_H

#include "engine/dump.h"

/* Walks the thread of STACK once more and notes why each physical frame was found, for the first
 * DUMP_EVIDENCE_MAX of them. Notes nothing if the thread cannot be walked. This is a separate walk,
 * so that it does not count in the timings. Fails: ERR_MEMORY. */
enum { DUMP_EVIDENCE_MAX = 128 };
enum status dump_add_evidence(struct dump_session *session, struct arena *keep, struct stack *stack,
                              struct fault *fault);

#endif
