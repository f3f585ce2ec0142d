/* A session: servers, their chains, and the files that are being asked for. */
#ifndef FETCH_FETCH_SESSION_H
#define FETCH_FETCH_SESSION_H

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

/* False: none of the file's keys is for this kind of server, or the server did not answer before;
 * then the result is FETCH_UNREACHABLE, unless another server has given a reason. */
bool server_can_be_asked(struct fetch_task *task, const struct fetch_server *server);

/* Asks one server for the task's file, if it can be asked. Fills the result. */
void server_ask(struct fetch_task *task, const struct fetch_chain *chain,
                struct fetch_server *server);

#endif
