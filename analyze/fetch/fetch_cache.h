/* The cache folder: its files, what servers lack, and downloads that were cut off. */
#ifndef FETCH_FETCH_CACHE_H
#define FETCH_FETCH_CACHE_H

#include "fetch/fetch_session.h"

/* Writes FOLDER/PLACE; false when it is too long. */
bool fetch_cache_path(char out[FETCH_PATH_BYTES], const char *cache, const char *place);

/* Makes the folders of a cache. */
enum status fetch_cache_make(const char *cache, struct fault *fault);

/* The lock of all downloads to PLACE. */
enum status fetch_cache_lock(const char *cache, const char *place, uint32_t wait_ms,
                             struct file_lock *out, struct fault *fault);

/* True while the answer "no such file" of server URL for PLACE is still valid. */
bool fetch_is_missing(const struct fetch *fetch, const char *cache, const char *url,
                      const char *place);
void fetch_cache_set_missing(const char *cache, const char *url, const char *place);

/* The partial download of URL: its path, its size, and the validator with which it can be resumed.
 */
struct fetch_part {
    char path[FETCH_PATH_BYTES], note[FETCH_PATH_BYTES];
    uint64_t bytes;
    char validator[TRANSFER_VALIDATOR_BYTES];
};
bool fetch_part_find(const char *cache, const char *url, struct fetch_part *out);
/* Called before the first byte: notes the VALIDATOR of the partial download. */
void fetch_part_begin(const struct fetch_part *part, const char *url, const char *validator);
void fetch_part_drop(const struct fetch_part *part);

/* Checks the file at PATH; a wrong one goes into quarantine, and the file's result and text say so.
 */
bool fetch_check(struct fetch_task *task, const char *cache, const char *path, const char *url);

#endif
