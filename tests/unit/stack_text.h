/* What is read from a text of stacks, as one text: what the tests of notations compare. */
#ifndef TESTS_UNIT_STACK_TEXT_H
#define TESTS_UNIT_STACK_TEXT_H

#include "stacks/stack_input.h"

/* Writes TEXT to a scratch file and opens it; ends the test when it cannot. */
struct stack_input *stack_text_open(const char *text, size_t bytes);

/* A line for each stack of INPUT, which it closes: "label: module!0xoffset@kind ...", with
 * {code id,debug id} and (file:line) where they are known, or "label: !code@offset" of a fault. The
 * text lives until the next call. */
const char *stack_text_of(struct stack_input *input);

/* The same of TEXT. */
const char *stack_text(const char *text, size_t bytes);

#endif
