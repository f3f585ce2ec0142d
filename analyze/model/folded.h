/* A stack as one line of a flame graph. */
#ifndef MODEL_FOLDED_H
#define MODEL_FOLDED_H

#include <stdbool.h>
#include <stddef.h>

#include "model/stack.h"

typedef void folded_put(void *to, const char *text, size_t bytes);

/* Passes STACK to PUT in pieces, "main;middle;poke" or, WITH_MODULES, "app.exe!main;...": outermost
 * first. A frame without a function is "app.exe!0x1005". ';' within a name becomes ':', as in
 * flamegraph.pl's own converters, and control characters become '?'. */
void folded_stack_write(const struct stack *stack, bool with_modules, folded_put *put, void *to);

#endif
