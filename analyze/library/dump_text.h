/* The text forms of a dump: what it holds, its stacks, how a frame was found. */
#ifndef LIBRARY_DUMP_TEXT_H
#define LIBRARY_DUMP_TEXT_H

#include "base/json.h"
#include "engine/dump.h"
#include "format/minidump/lint.h"
#include "library/stack_text.h"

/* A summary: system, crash, streams, counts. PATH is printed as the dump's name. */
void dump_print_summary(struct text_out *out, const char *path, const struct dump_session *session);

/* The faults of a dump by the format, one paragraph for each kind. */
void dump_print_lint(struct text_out *out, const char *path,
                     const struct minidump_complaints *complaints);

/* One resolved stack, one line per logical frame; inline frames are indented. */
void dump_print_stack(struct text_out *out, const struct stack *stack);

/* How frame INDEX of a walk was found and how its caller was: unwind codes, addresses, rules.
 * RESOLVED may be NULL. */
void dump_print_explain(struct text_out *out, const struct dump_session *session,
                        const struct unwind_stack *walk, uint32_t index,
                        const struct stack *resolved);
void dump_write_explain(struct json *j, const struct dump_session *session,
                        const struct unwind_stack *walk, uint32_t index);

#endif
