/* Packed bodies of requests (RFC 9110, 8.4.1: gzip, and deflate, which is zlib's form), unpacked as
 * they come, through 16 KiB whatever they claim. */
#ifndef HTTP_UNPACK_H
#define HTTP_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Takes a piece of a body; false: it could not be kept. */
typedef bool body_fn(void *context, const char *data, size_t bytes);

enum packing { PACKING_NONE, PACKING_GZIP, PACKING_DEFLATE };

/* ENCODING: the value of Content-Encoding; NULL: there is none. False: a kind that is not read. */
bool packing_parse(const char *encoding, enum packing *out);

enum unpacked {
    UNPACKED_OK,
    UNPACKED_DAMAGED,   /* not of that packing, or cut, or with something after its end */
    UNPACKED_TOO_LARGE, /* more than the limit; TAKE got at most that */
    UNPACKED_NOT_KEPT,  /* TAKE returned false */
    UNPACKED_NO_MEMORY,
};

struct unpack;

/* Passes at most MAX_BYTES of the plain body to TAKE with CONTEXT. NULL: no memory. */
struct unpack *unpack_new(enum packing packing, size_t max_bytes, body_fn *take, void *context);
/* The next BYTES of the packed body. After another answer than UNPACKED_OK, only unpack_end() and
 * unpack_free() may follow. */
enum unpacked unpack_add(struct unpack *unpack, const char *data, size_t bytes);
/* The packed body has ended. *BYTES: of the plain one. */
enum unpacked unpack_end(struct unpack *unpack, size_t *bytes);
void unpack_free(struct unpack *unpack); /* NULL: nothing happens */

#endif
