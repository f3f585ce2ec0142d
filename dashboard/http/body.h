/* The bodies of requests: counted, limited in size and in time. */
#ifndef HTTP_BODY_H
#define HTTP_BODY_H

#include "http/exchange.h"
#include "http/unpack.h"
#include <stdbool.h>
#include <stddef.h>

/* Reads the whole body into x->keep, with room for a NUL after it; a packed one is unpacked (see
 * unpack.h), and MAX_BYTES is then the limit of both its sizes.  Returns false, and has answered,
 * if the body is too large, too slow, cut or damaged, has no stated length, or if too many are
 * uploading. */
bool exchange_read_body(struct exchange *x, size_t max_bytes, char **body, size_t *bytes);

/* Reads and forgets the body of a request that is about to be refused, for two seconds at most and
 * unless it is longer than MAX_BYTES: a sender that is still writing when the connection ends would
 * never see the answer. The connection still ends with the answer. */
void exchange_drop_body(struct exchange *x, size_t max_bytes);

/* Reads the whole body and passes each piece on, unpacked; *BYTES is its length then. Returns
 * false, and has answered, as above, or if TAKE returns false: then the body could not be kept. */
bool exchange_pass_body(struct exchange *x, size_t max_bytes, body_fn *take, void *context,
                        size_t *bytes);

/* Frees the request's upload slot; called at the end of every request. */
void exchange_end_upload(struct exchange *x);

#endif
