/* Cabinets with one file, as on symbol servers: name.pd_ for name.pdb. libmspack does the
 * unpacking. */
#ifndef FORMAT_CAB_H
#define FORMAT_CAB_H

#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

/* Unpacks the first file of the cabinet to memory that the caller frees. A file of more than
 * MAX_BYTES is ERR_LIMIT. Fails: ERR_UNSUPPORTED not a cabinet; ERR_MALFORMED; ERR_MEMORY. */
enum status cab_unpack(const void *data, size_t bytes, size_t max_bytes, uint8_t **out,
                       size_t *out_bytes, struct fault *fault);

#endif
