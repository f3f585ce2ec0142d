/* Packing of documents for the offline page. */
#ifndef PAGES_PACK_H
#define PAGES_PACK_H

#include "base/arena.h"
#include <stddef.h>

/* BYTES of DATA compressed (zlib) and as base64, in KEEP; NULL when there is no memory. */
const char *view_pack(const char *data, size_t bytes, struct arena *keep);

#endif
