/* Resolved stacks as text for people and for flame graphs. Writing goes to memory, so that several
 * threads can write stacks at once and one of them prints all in order. */
#ifndef LIBRARY_STACK_TEXT_H
#define LIBRARY_STACK_TEXT_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "model/stack.h"
#include "stacks/stack_input.h"
#include "symbol/symbol_store.h"

/* Cached facts about a text: names and files recur within a batch. */
struct text_fact {
    const char *text; /* NULL: free */
    uint32_t bytes, columns;
    bool clean; /* nothing in it has to be replaced */
};

enum { TEXT_FACTS = 512 };

/* What writing a frame needs of its texts, found once. */
struct text_shape {
    struct text_fact module, function, file; /* the last two: only where the frame has them */
    uint32_t place, name;                    /* columns of module and offset, and of the function */
};

/* A growing text; its owner frees it with text_free(). */
struct text_out {
    char *text;
    size_t bytes;
    uint32_t room;
    bool failed; /* out of memory: something is missing */
    uint32_t shape_room;
    struct text_shape *shapes; /* of the stack that is written */
    struct text_fact *facts;   /* TEXT_FACTS of them; NULL until one is needed */
};

/* Empties OUT and forgets what it knows about texts: call it before any of them changes or is
 * freed. */
void text_restart(struct text_out *out);
void text_free(struct text_out *out);

/* Makes room for BYTES more. False: out of memory. */
bool text_grow(struct text_out *out, size_t bytes);

/* Inline: a line of a stack is put together from a dozen texts, most of them short constants. */
static inline void text_put(struct text_out *out, const char *text, size_t bytes)
{
    if (out->room - out->bytes < bytes && !text_grow(out, bytes))
        return;
    memcpy(out->text + out->bytes, text, bytes);
    out->bytes += bytes;
}

static inline void text_puts(struct text_out *out, const char *text)
{
    text_put(out, text, strlen(text));
}

/* printf at the end of the text. */
void text_format(struct text_out *out, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;

/* Text from files: control characters become "?", so that none reaches a terminal. */
void text_put_clean(struct text_out *out, const char *text);

/* One stack as people read it, or a part of one whose rest follows (GOES_ON). COLOUR: with terminal
 * codes. Names and paths come from files and are cleaned of control characters. */
void stack_text_write(struct text_out *out, const struct stack *stack, bool goes_on, bool colour);
void stack_text_write_fault(struct text_out *out, const struct stack_item *item, bool colour);

/* One stack whose input had addresses: stack_write_json()'s object, and in it
 *
 *     modules: [{name, code_id, debug_id, build_id, base, slide}]
 *
 * with the images that its frames lie in, in the order of the frames. A code_id or debug_id that
 * the input does not state is that of the file that answered; build_id is only what it states.
 * `slide` is how far from its preferred base the image was loaded, with a sign; null where no image
 * was found. False: out of memory. */
bool stack_write_loaded(struct json *j, const struct stack *stack, struct symbol_store *store,
                        struct arena *scratch);

/* One stack as a line of a flame graph: outermost first, ';' between, and the count 1. */
void stack_text_write_folded(struct text_out *out, const struct stack *stack);

#endif
