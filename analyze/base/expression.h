/* The expression of -k: words joined by `and`, `or`, `not` and parentheses. Precedence, as usual:
 * not, and, or. */
#ifndef BASE_EXPRESSION_H
#define BASE_EXPRESSION_H

#include <stdbool.h>

#include "base/fault.h"

/* True when WORD is true of CONTEXT. */
typedef bool expression_word_fn(const void *context, const char *word);

/* Whether EXPR is true of CONTEXT; NULL always is. Fails: ERR_USAGE with the place in EXPR, and
 * *value is false. */
enum status expression_of(const char *expr, expression_word_fn *word, const void *context,
                          bool *value, struct fault *fault);

#endif
