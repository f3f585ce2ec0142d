/* The state of a running server, which only the rooms of the dashboard see. */
#ifndef HTTP_STATE_H
#define HTTP_STATE_H

#include "base/thread.h"
#include "http/dashboard_options.h"

struct cache;
struct collector;
struct connections;
struct store_pool;
struct summed_runs;
struct symbol_store;

enum { TOKEN_BYTES = 64 };

enum {
    STREAMS_MAX = 32,                /* live streams, one for each browser; others poll */
    UPLOAD_MAX_BYTES = 64 << 20,     /* a record or a dump to resolve          */
    UPLOAD_MAX_MS = 60 * 1000,       /* from its first byte to its last        */
    UPLOADS_MAX = 8,                 /* bodies at one time                     */
    WRITE_MAX_BYTES = 64 << 10,      /* the body of a write                    */
    KNOWN_MAX_BYTES = 1 << 20,       /* the file of known mismatches           */
    REQUEST_ARENA_BYTES = 512 << 20, /* what one answer may need               */
};

struct dashboard {
    struct dashboard_options options;
    struct mg_context *server;
    char host[256]; /* as in the options, without the port */
    char url[512];
    char token[TOKEN_BYTES + 1];
    struct store_pool *stores;
    struct cache *cache;
    struct summed_runs *summed;
    struct connections *connections;
    struct collector *collector; /* NULL: this server takes no reports */
    struct mutex *write_lock;    /* held while the known file is changed */
    struct mutex *lock;          /* guards what follows */
    uint64_t gave_back_ns;       /* when memory was last given back */
    bool stopping;
    uint16_t port; /* the one that the system gave, once it did */
    uint32_t streams, uploads;
    struct symbol_store *symbols; /* opened at the first resolve */
};

bool dashboard_is_stopping(struct dashboard *dashboard);

#endif
