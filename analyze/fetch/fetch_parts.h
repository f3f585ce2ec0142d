/* What the parts of this room share; no other file includes this.
 *
 *   fetch.c         the session, its threads, one file asked of all servers
 *   fetch_server.c  one file asked of one server: keys, retries, redirections by file.ptr
 *   fetch_cache.c   the cache folder */
#ifndef FETCH_PARTS_H
#define FETCH_PARTS_H

#include "base/arena.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/thread.h"
#include "fetch/fetch.h"
#include "fetch/transfer.h"

enum { FETCH_CHAINS_MAX = 64, FETCH_PATH_BYTES = FAULT_PATH_BYTES, FETCH_URL_BYTES = 2048 };

enum server_layout { LAYOUT_UNKNOWN, LAYOUT_FLAT, LAYOUT_TWO_TIER };

struct fetch_server {
    const char *url;
    bool debuginfod;
    bool down; /* it did not answer: not asked again */
    enum server_layout layout;
};

struct fetch_chain {
    const char *cache;
    struct fetch_server servers[SYMBOL_PATH_PLACES_MAX];
    uint32_t server_count;
};

struct fetch {
    struct fetch_options options;
    struct arena arena;
    struct mutex *mutex; /* over what follows */
    struct fetch_chain chains[FETCH_CHAINS_MAX];
    uint32_t chain_count;
    struct transfer *idle[64]; /* connections that may be used again */
    uint32_t idle_count;
    uint32_t running;
    uint64_t done_bytes, total_bytes; /* of the downloads under way */
    uint64_t reported_ns;
};

/* One file being asked for. */
struct fetch_task {
    struct fetch *fetch;
    struct fetch_file *file;
    struct transfer *transfer;
    uint64_t end_ns; /* of the time limit */
    uint64_t done_bytes, total_bytes;
    const char *url; /* of the transfer under way */
    char part[FETCH_PATH_BYTES];
};

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

/* The state of a server, which several threads ask at once. */
bool server_is_down(struct fetch *fetch, const struct fetch_server *server);
enum server_layout server_layout(struct fetch *fetch, const struct fetch_server *server);

/* Asks one server for the task's file.  Fills its result. */
void server_ask(struct fetch_task *task, const struct fetch_chain *chain,
                struct fetch_server *server);

#endif
