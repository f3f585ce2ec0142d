/* The folder of dumps that senders sent: bounded in bytes and by age. */
#ifndef STREAM_DUMPS_H
#define STREAM_DUMPS_H

#include <stdint.h>

#include "base/fault.h"

/* No upload takes longer: its part belongs to a killed server. */
enum { DUMPS_UPLOAD_MS = 3600 * 1000 };

/* Deletes the dumps in FOLDER that are older than AGE_MS, then the oldest ones until those left
 * have at most BYTES_MAX. Parts of uploads (.tmp) go after DUMPS_UPLOAD_MS, and never earlier.
 * Adds the number of deleted files to *DELETED. A file that cannot be deleted is left out silently.
 * Fails: as folder_list(), and
 * ERR_MEMORY. */
enum status dumps_trim(const char *folder, uint64_t age_ms, uint64_t bytes_max, uint64_t *deleted,
                       struct fault *fault);

#endif
