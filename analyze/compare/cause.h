/* Why two stacks differ. */
#ifndef COMPARE_CAUSE_H
#define COMPARE_CAUSE_H

#include "compare/mismatch.h"

/* Finds the cause: the first rule that holds, else CAUSE_UNEXPLAINED. The evidence lives in
 * KEEP. */
enum status difference_explain(const struct difference *d, struct arena *keep,
                               struct explanation *out, struct fault *fault);

/* The cause excuses an engine under test.  Between two engines, any named cause does, except for
 * another address or kind in the same frame: then one of them read it wrongly, whatever else the
 * frame shows. */
bool difference_is_excused(const struct difference *d, enum cause cause);

#endif
