/* The connections that are open.  Each takes a thread of civetweb's, so idle ones must not keep new
 * clients out: beyond a limit some are closed.  They are of the address that has most connections,
 * so that clients elsewhere lose nothing, and of those the ones that have been without a whole
 * request for longest; the bytes of a request that is never finished do not count.  There is no
 * limit per address, since all users of a proxy have the same one. */
#ifndef HTTP_CONNECTIONS_H
#define HTTP_CONNECTIONS_H

#include <civetweb.h>
#include <stdbool.h>
#include <stdint.h>

enum {
#ifdef _WIN32
    CONNECTIONS_MAX = 128, /* threads; each has a connection and, here, 1 MB of stack */
#else
    CONNECTIONS_MAX = 600, /* threads; each has a connection                */
#endif
    CONNECTIONS_KEPT = 560,         /* beyond that, idle ones are closed             */
    CONNECTIONS_ENDED = 32,         /* so many at a time, since to find them costs   */
    CONNECTION_HEADER_MS = 8000,    /* without a byte: the request is given up       */
    CONNECTION_KEEP_ALIVE_MS = 5000 /* between requests                              */
};

struct connections;

/* NULL when out of memory. */
struct connections *connections_new(void);
void connections_free(struct connections *connections);

/* A connection to our PORT came, or went. */
void connections_open(struct connections *connections, uint16_t port);
void connections_close(struct connections *connections);

/* A request begins: its connection is busy until connections_idle() with the number that this
 * returns. */
uint32_t connections_busy(struct connections *connections, const struct mg_request_info *request);
void connections_idle(struct connections *connections, uint32_t number);

#endif
