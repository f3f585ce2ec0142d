/* What the files of libtwinstack share. */
#ifndef LIBRARY_LIBRARY_HANDLES_H
#define LIBRARY_LIBRARY_HANDLES_H

#include "base/arena.h"
#include "base/fault.h"
#include "library/twinstack.h"
#include "model/stack.h"
#include "symbol/symbol_store.h"

struct twinstack_symbols {
    struct symbol_store *store;
    struct arena keep;
    const char *folder; /* of the files that came from memory, in keep; NULL: none */
    const char **paths; /* as the caller named them, in keep */
    uint32_t path_count;
    bool by_name; /* a file may be chosen by its name: there are paths to search */
    twinstack_fetch_fn *fetched;
    void *context;
};

struct twinstack_stack {
    struct arena keep; /* empty for the stacks of a batch, which has an arena for all of them */
    struct stack stack;
};

/* An empty stack; NULL: out of memory. Free it with twinstack_stack_free. */
struct twinstack_stack *library_new_stack(void);

/* Copies FAULT to the caller, where ERROR is not NULL, and returns its code. */
enum twinstack_status library_report(const struct fault *fault, struct twinstack_error *error);

/* Nothing failed: what ERROR said before is not true any more. */
enum twinstack_status library_succeed(struct twinstack_error *error);

/* A new fault without a place. */
enum twinstack_status library_refuse(enum status code, const char *what,
                                     struct twinstack_error *error);

/* The COUNT addresses as physical frames, in KEEP. Elements may be of another version's size.
 * Fails: TWINSTACK_MEMORY; TWINSTACK_USAGE a module or an id that is none. */
enum twinstack_status library_frames(const struct twinstack_address *addresses, uint32_t count,
                                     struct arena *keep, struct stack *out,
                                     struct twinstack_error *error);

/* Copies the smaller of both sizes: a program built against another version's header has a struct
 * of another size. */
void library_copy_known(void *to, size_t to_bytes, const void *from, size_t from_bytes);

#endif
