/* Stacks as a reporter wrote them, read in any notation of stacks/. */
#ifndef REPORTER_GIVEN_H
#define REPORTER_GIVEN_H

#include "base/fault.h"
#include "reporter/recognise.h"

struct given_stack {
    const char *label; /* NULL: none */
    uint32_t thread_id;
    struct places places;
};

/* What a file of stacks holds. */
struct given_file {
    struct given_stack *stacks;
    uint32_t count, room;
    uint32_t suspect;          /* the stack that counts first */
    uint32_t frames, ignored;  /* lines or objects that are frames, and that are not */
    const char *first_ignored; /* the first of these; NULL */
    const char *unreadable;    /* why nothing in it can be trusted; NULL: it can */
};

/* Reads PATH. A file that cannot be opened, and one of whose lines most hold no frame, is
 * unreadable. Fails: ERR_MEMORY. */
enum status given_read(const char *path, struct arena *keep, struct given_file *out,
                       struct fault *fault);

#endif
