/* Reads stacks from a stream for `signatures`: the output of `resolve --ndjson`, or unresolved
 * offset stacks in any form that `resolve` reads. */
#ifndef STUDY_RESOLVED_INPUT_H
#define STUDY_RESOLVED_INPUT_H

#include "base/arena.h"
#include "base/fault.h"
#include "model/stack.h"

/* Called once per stack, which is valid until the call returns; NUMBER counts from 1. False ends
 * the reading. */
typedef bool resolved_fn(void *context, const struct stack *stack, const char *label,
                         uint64_t number);

/* Reads PATH ("-": standard input) to its end. BAD counts lines that are not a stack. Fails:
 * ERR_ABSENT, ERR_IO, ERR_MEMORY; ERR_LIMIT a line over LIMIT_JSON_BYTES. */
enum status resolved_input_read(const char *path, resolved_fn *take, void *context, uint64_t *bad,
                                struct fault *fault);

#endif
