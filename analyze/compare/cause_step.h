/* Rules about one step of a walk: how it left the last frame that it shares with others. */
#ifndef COMPARE_CAUSE_STEP_H
#define COMPARE_CAUSE_STEP_H

#include "compare/mismatch.h"

/* "the walks part at main (a.exe!0x10), which dump leaves by UWOP_SET_FPREG, UWOP_PUSH_NONVOL": the
 * unwind codes that were undone there, the rarest first, and last those that the same walk undid
 * before and was right. In KEEP; NULL: not known, or the difference is not one of walks. *CODES:
 * the codes alone. */
const char *rule_parting(const struct difference *d, struct arena *keep, const char **codes);

/* After the step, the walk is at a place that no other engine has: whatever is wrong with that
 * place follows from the step. */
rule_fn because_stray_step;

#endif
