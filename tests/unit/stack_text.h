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

/* For test_truncations() and test_flips(): reads a text, whatever it may be. */
void stack_text_read(const uint8_t *data, size_t bytes, void *context);

/* Each text is read as WANT says, and may be cut anywhere. */
struct stack_text_row {
    const char *name, *text, *want;
};
void stack_text_check(const struct stack_text_row *rows, size_t count);

#endif
