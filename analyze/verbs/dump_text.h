/* The text forms of the verb `dump`: what a dump holds, its stacks, how a frame was found. */
#ifndef VERBS_DUMP_TEXT_H
#define VERBS_DUMP_TEXT_H

#include <stdio.h>

#include "engine/dump.h"

/* Text of an untrusted file: no control character of it reaches a terminal.  Padded with spaces up
 * to WIDTH bytes. */
void dump_put_plain(FILE *out, const char *text, int width);

/* A summary: system, crash, streams, counts. */
void dump_print_summary(FILE *out, const char *path, const struct dump_session *session);

/* One resolved stack, one line per logical frame; inline frames are indented. */
void dump_print_stack(FILE *out, const struct stack *stack);

/* How frame INDEX of a walk was found and how its caller was: unwind codes, addresses, rules.
 * RESOLVED may be NULL. */
void dump_print_explain(FILE *out, const struct dump_session *session,
                        const struct unwind_stack *walk, uint32_t index,
                        const struct stack *resolved);
void dump_write_explain(struct json *j, const struct dump_session *session,
                        const struct unwind_stack *walk, uint32_t index);

#endif
