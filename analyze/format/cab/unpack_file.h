/* Files that gzip, zstd or xz packed, as symbol stores keep them: name.pdb.gz, or name.pdb. */
#ifndef FORMAT_UNPACK_FILE_H
#define FORMAT_UNPACK_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

bool packed_recognize(const void *data, size_t bytes);

/* Unpacks the file to memory that the caller frees. More than MAX_BYTES are ERR_LIMIT. Fails:
 * ERR_UNSUPPORTED not such a file; ERR_MALFORMED, also of one that is cut; ERR_MEMORY. */
enum status packed_unpack(const void *data, size_t bytes, size_t max_bytes, uint8_t **out,
                          size_t *out_bytes, struct fault *fault);

#endif
