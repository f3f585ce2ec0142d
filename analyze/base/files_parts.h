/* Private to the room: what both systems share. */
#ifndef BASE_FILES_PARTS_H
#define BASE_FILES_PARTS_H

#include <stdbool.h>

#include "base/files.h"

typedef bool file_put_fn(void *to, const void *data, size_t bytes);

/* Passes the bytes of all parts to PUT, in order. False: PUT failed, or a stream cannot be read. */
bool file_put_parts(const struct file_part *parts, size_t count, file_put_fn *put, void *to);

/* Removes all that is in the folder PATH. */
enum status folder_clear(const char *path, struct fault *fault);

#endif
