/* Stacks of another tool as it printed them: names, lines and inline frames are its own, and its
 * modules are not looked up. */
#ifndef STACKS_CLAIMS_H
#define STACKS_CLAIMS_H

#include "stacks/stack_input.h"

/* A stack of another tool as it was printed, in place of modules to be looked up. */
void stack_item_as_claim(struct stack_item *item);
/* Moves the crashed thread's stack to the front. */
void stacks_order_claims(struct stack *stacks, uint32_t count);

/* Reads all stacks of TEXT, in any notation, as claims in KEEP, with crashed threads first where
 * the notation says who crashed. Fails with the first fault. */
enum status stack_claims_read(const char *text, size_t bytes, struct arena *keep,
                              struct stack **out, uint32_t *count, struct fault *fault);

#endif
