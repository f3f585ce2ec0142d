/* The user's cache: files that can be made or fetched again. They are all in one folder, so that
 * one limit and one command apply to all of them:
 *
 *     FOLDER/index/KEY      symbol indexes, listings of large symbol folders, versions and answers
 *                           of judges, answers of contestants
 *     FOLDER/download/KEY   files from symbol servers; their keys have folders, as on the server
 *     FOLDER/partial/       files that are being written
 *
 * A file gets its name in one step, once it is whole. Any number of processes may use one folder:
 * of several that publish the same key the last one wins, and a reader keeps the file that it has
 * open. A file may disappear at any time, because another process deletes those that were used
 * least recently. Check what you read: an older version of this program, or anybody else, may have
 * written it. */
#ifndef BASE_CACHE_H
#define BASE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/fault.h"

enum cache_kind { CACHE_INDEX, CACHE_DOWNLOAD, CACHE_KINDS };

struct cache {
    const char *folder;   /* in the arena of cache_locate(); NULL: there is no cache */
    uint64_t limit_bytes; /* of all files together */
};

/* Finds the cache: FOLDER (NULL: not stated), else $TWINSTACK_CACHE, else
 * $XDG_CACHE_HOME/twinstack, %LOCALAPPDATA%/twinstack or ~/.cache/twinstack. "none" in place of a
 * folder, or nothing, turns it off. The limit is $TWINSTACK_CACHE_LIMIT in MiB, else 8 GiB. Creates
 * nothing. */
void cache_locate(const char *folder, struct arena *keep, struct cache *out);

/* "index", "download". */
const char *cache_kind_name(enum cache_kind kind);

/* The path of the file KEY, whether it exists or not. KEY is a name, or names separated by '/'.
 * NULL: there is no cache, KEY is not such a path ("..", an absolute path, a backslash, a colon),
 * or out of memory. */
char *cache_path(const struct cache *cache, enum cache_kind kind, const char *key,
                 struct arena *keep);

/* Notes that the file at PATH was used. USED_NS is its time of change, as file_map() returns it:
 * a file that was used within the last hour is not touched again. */
void cache_used(const char *path, uint64_t used_ns);

/* A new path in FOLDER/partial, for a file that cache_publish() will move into place. Makes the
 * folder. NULL: there is no cache, or it cannot be written. */
char *cache_partial(const struct cache *cache, struct arena *keep);

/* Gives the whole file PARTIAL its name, and then deletes the files that were used least recently,
 * until the limit holds; never the new file. PARTIAL is gone afterwards, also after a failure.
 * Fails: ERR_IO, ERR_MEMORY; ERR_USAGE, as cache_path(). */
enum status cache_publish(const struct cache *cache, const char *partial, enum cache_kind kind,
                          const char *key, struct fault *fault);

struct cache_item {
    enum cache_kind kind;
    const char *key, *path;
    uint64_t bytes;
    uint64_t used_ns; /* nanoseconds since 1970 */
};

/* Lists all files, the least recently used first; none when the folder does not exist. Fails:
 * ERR_MEMORY. */
enum status cache_list(const struct cache *cache, struct arena *keep, struct cache_item **items,
                       uint32_t *count, struct fault *fault);

/* Deletes files, the least recently used first, until those left have at most LEFT_BYTES, and also
 * abandoned partial files. KEPT is never deleted (NULL: none). *deleted and *deleted_bytes count
 * what went; either may be NULL. Files that cannot be deleted are left out silently: another
 * process may be using them. Fails: ERR_MEMORY. */
enum status cache_trim(const struct cache *cache, uint64_t left_bytes, const char *kept,
                       uint32_t *deleted, uint64_t *deleted_bytes, struct fault *fault);

#endif
