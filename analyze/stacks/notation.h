/* The table of notations: every way in which a stack is written down that this room reads.
 *
 * A notation is a file notation_NAME.c with one object, and a row below. It is found in one of
 * three places, and a row fills in the functions of one of them:
 *
 *   a stream         `recognise` looks at its first bytes, `next` returns one stack after another
 *   a JSON object    `is_object` looks at an object of a document, `read_walk` reads one of its
 *                    stacks (the documents themselves are read by json_documents.c)
 *   a line of text   `line` reads one line, which may come between lines of other notations
 *                    (notation_text.c asks the rows in this order, after our own form);
 *                    `starts` knows the lines that begin the stack of another thread
 *
 * The first row that recognises a stream, an object or a line reads it. */
#ifndef STACKS_NOTATION_H
#define STACKS_NOTATION_H

#include "stacks/stack_pattern.h"
#include "stacks/stack_reader.h"

enum line_is { LINE_UNKNOWN, LINE_NO_FRAME, LINE_FRAME };

#define NO_THREAD UINT64_MAX

struct notation {
    const char *name;

    bool (*recognise)(struct stack_input *input);
    bool (*next)(struct stack_input *input, struct arena *keep, struct stack_item *out);
    bool by_line; /* each line is understood on its own: a bad one does not end the stream */

    bool (*is_object)(const cJSON *object);
    const cJSON *(*first_walk)(const cJSON *object); /* of stacks that are not in `threads`; NULL */
    const cJSON *(*next_walk)(
        struct stack_input *input); /* of those that are in no one list; NULL */
    void (*begin)(struct stack_input *input, struct fault *fault); /* of an object; NULL: nothing */
    void (*read_walk)(struct stack_input *input, const cJSON *walk, struct arena *keep,
                      struct stack_item *out);

    enum line_is (*line)(struct stack_input *input, struct pattern_text line, struct frame *out);
    /* *THREAD is NO_THREAD for another event rather than another thread. */
    bool (*starts)(const struct stack_input *input, struct pattern_text line, uint64_t *thread);
};

#define NOTATIONS(ROW)                                                                             \
    ROW(record)                                                                                    \
    ROW(xml)                                                                                       \
    ROW(sentry)                                                                                    \
    ROW(images)                                                                                    \
    ROW(tecken)                                                                                    \
    ROW(createdump)                                                                                \
    ROW(reports)                                                                                   \
    ROW(rust)                                                                                      \
    ROW(values)                                                                                    \
    ROW(json)                                                                                      \
    ROW(json_lines)                                                                                \
    ROW(resolved)                                                                                  \
    ROW(go)                                                                                        \
    ROW(panic)                                                                                     \
    ROW(kernel)                                                                                    \
    ROW(stackdump)                                                                                 \
    ROW(perf)                                                                                      \
    ROW(umdh)                                                                                      \
    ROW(markup)                                                                                    \
    ROW(windbg)                                                                                    \
    ROW(machine)                                                                                   \
    ROW(wpa)                                                                                       \
    ROW(scripts)                                                                                   \
    ROW(spellings)                                                                                 \
    ROW(log)                                                                                       \
    ROW(creator)                                                                                   \
    ROW(crashrpt)                                                                                  \
    ROW(event)                                                                                     \
    ROW(text)

#define NOTATION_DECLARATION(NAME) extern const struct notation notation_##NAME;
NOTATIONS(NOTATION_DECLARATION)

/* All of them, in that order, and NULL. */
extern const struct notation *const notations[];

#endif
