/* Slices: the partial result of one report that is larger than a message of a queue, in pieces of
 * its bytes. The result counts when all slices of one DIGEST are there, so a report counts whole or
 * not at all, also if several workers stored slices of different results of it.
 *
 *     #slice 1 OF NUMBER COUNT DIGEST       separated by tabs; then a line break and the bytes
 */
#ifndef STREAM_SLICE_H
#define STREAM_SLICE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/fault.h"
#include "stream/queue.h"

/* SLICE_BYTES is never changed: slices by two versions of one result must fit together. */
enum { SLICE_BYTES = QUEUE_MESSAGE_BYTES - 1024, SLICES_MAX = 1024 };

struct slice {
    const char *of;     /* the id of the report */
    const char *digest; /* SHA-256 of the whole text */
    uint32_t number, count;
    const char *data;
    size_t bytes;
};

bool slice_is_text(const char *text, size_t bytes);

/* The message in KEEP; NULL: out of memory. */
char *slice_write(const struct slice *slice, struct arena *keep, size_t *bytes);

/* The data is borrowed from TEXT. Fails: ERR_MALFORMED, ERR_TRUNCATED, ERR_UNSUPPORTED,
 * ERR_MEMORY. */
enum status slice_read(const char *text, size_t bytes, struct arena *keep, struct slice *out,
                       struct fault *fault);

#endif
