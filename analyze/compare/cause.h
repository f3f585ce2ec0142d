/* Why two stacks differ. */
#ifndef COMPARE_CAUSE_H
#define COMPARE_CAUSE_H

#include "compare/difference.h"

/* Finds the cause: the first rule that holds, else CAUSE_UNEXPLAINED. The evidence lives in
 * KEEP. */
enum status difference_explain(const struct difference *d, struct arena *keep,
                               struct explanation *out, struct fault *fault);

#endif
