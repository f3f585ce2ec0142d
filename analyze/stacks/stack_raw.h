/* Text stacks as their bytes.
 *
 * Most stacks of a large stream are byte for byte the same as an earlier one. A reader that only
 * counts them needs the frames of the first: it takes stacks as they are written, compares the
 * bytes, and feeds those that are new to a second input that reads their frames. */
#ifndef STACKS_STACK_RAW_H
#define STACKS_STACK_RAW_H

#include "stacks/stack_input.h"

#define RAW_BYTES_MAX ((size_t)16 << 20) /* one stack as text */

/* From one line `> label` to the next. Borrowed from the input until its next call. */
struct stack_raw {
    const char *text;
    size_t bytes;
    const char *frames; /* `text` without the label's line */
    size_t frame_bytes;
    const char *label; /* not terminated; NULL: none */
    size_t label_bytes;
    uint64_t offset; /* in the stream */
    bool states;     /* it holds lines that say which build of a module later frames are of */
    bool too_long;   /* over RAW_BYTES_MAX; nothing else is set */
};

/* Finds the notation of INPUT from its first bytes. */
const struct notation *stack_input_find_notation(struct stack_input *input);

/* The next stack of an input in the notation `text`. Do not mix it with stack_input_next(). False
 * at the end. */
bool stack_raw_next(struct stack_input *input, struct stack_raw *out);

/* True for a line that says which build of a module later frames are of: `# module ...`,
 * minidump_stackwalk's `Module|...` and systemd-coredump's `Module ... with build-id ...`. */
bool stack_raw_states(const char *line, const char *stop);

/* True when reading INPUT failed before its end. */
bool stack_input_broken(const struct stack_input *input);

/* An input over a copy of BYTES, in any form. Fails: ERR_MEMORY. */
enum status stack_input_open_bytes(const char *text, size_t bytes, struct stack_input **out,
                                   struct fault *fault);

/* An input without a stream: stack_input_next() reads what was fed to it, up to its end. What
 * earlier texts stated about modules stays known. Module names live as long as the input. Fails:
 * ERR_MEMORY. */
enum status stack_input_open_text(struct stack_input **out, struct fault *fault);
enum status stack_input_feed(struct stack_input *input, const char *text, size_t bytes,
                             struct fault *fault);

#endif
