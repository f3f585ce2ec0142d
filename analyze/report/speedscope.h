/* Stacks as a speedscope document of one profile, written as they come: samples first, outermost
 * frame first, and the table of frames last.
 *
 * Format: https://github.com/jlfwong/speedscope/blob/main/src/lib/file-format-spec.ts */
#ifndef REPORT_SPEEDSCOPE_H
#define REPORT_SPEEDSCOPE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "model/stack.h"

struct speedscope;

/* Begins a document on OUT whose profile is called NAME.  NULL: out of memory. */
struct speedscope *speedscope_start(FILE *out, const char *name);

/* Adds a stack that was seen COUNT times.  False: something is missing. */
bool speedscope_add(struct speedscope *s, const struct stack *stack, uint64_t count);

/* Ends the document and frees S.  False: something is missing. */
bool speedscope_end(struct speedscope *s);

#endif
