/* Files that are still there after the power fails: their bytes and their name are on the disk when
 * durable_commit() returns. A file appears under its name when it is whole. One implementation per
 * system: durable_posix.c, durable_windows.c. */
#ifndef STREAM_DURABLE_H
#define STREAM_DURABLE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/fault.h"

enum { DURABLE_PATH_BYTES = 1024 };

struct durable {
    FILE *stream; /* write to it; NULL: not open */
    char temporary[DURABLE_PATH_BYTES], path[DURABLE_PATH_BYTES];
};

/* Starts the file PATH, whose folder exists. Until it is committed it is PATH#PID-TIME.tmp: no name
 * of a message or dump has a '#'. Fails: ERR_IO, ERR_LIMIT the path is too long. */
enum status durable_open(struct durable *file, const char *path, struct fault *fault);

/* Gives the file its name, in place of an older one. Fails: ERR_IO; then there is no new file. */
enum status durable_commit(struct durable *file, struct fault *fault);

/* Drops a file that was opened and not committed; otherwise does nothing. */
void durable_drop(struct durable *file);

/* A whole small file. */
enum status durable_write(const char *path, const void *data, size_t bytes, struct fault *fault);

/* Removes the files of FOLDER for which RULE is true. */
typedef bool durable_rule_fn(const char *name, const char *path, const void *context);
void durable_remove(const char *folder, durable_rule_fn *rule, const void *context);

/* Removes what processes that are gone have left in FOLDER: files that were not committed. A file
 * that another process still writes stays for an hour. */
void durable_sweep(const char *folder);

/* True for the name of a file that is not committed. */
bool durable_is_temporary(const char *name);

/* How long ago a file was changed; 0: there is none, or it is of the future. */
uint64_t durable_age_ns(const char *path);

/* Puts the last rename or removal in FOLDER on the disk. */
void durable_folder(const char *folder);

/* For durable_commit(): true when the bytes are on the disk. */
bool durable_flush(FILE *stream);

#endif
