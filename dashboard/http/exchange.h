/* One request and its answer.
 *
 * A handler gets a struct exchange, reads the request through it, and answers exactly once
 * through one of the functions of response.h. */
#ifndef HTTP_EXCHANGE_H
#define HTTP_EXCHANGE_H

#include <civetweb.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "http/query_string.h"

struct dashboard;
struct route;

struct exchange {
    struct mg_connection *connection; /* borrowed */
    const struct mg_request_info *request;
    struct dashboard *dashboard;
    const struct route *route; /* NULL: none matched */
    const char *path;          /* as in the request line, without the query */
    struct http_query query;
    struct arena keep; /* freed when the answer is out */
    bool head_only;    /* HEAD: headers alone          */
    bool closing;      /* the connection ends with this answer */
    bool uploading;    /* holds one of the places for bodies   */
    uint64_t started_ns;
    uint64_t data_version; /* of the database that the answer is from; 0: of none */
};

/* A quoted tag over bytes, into OUT. */
enum { ETAG_BYTES = 24 };
void etag_of(const void *data, size_t bytes, char out[ETAG_BYTES]);

/* True if an If-None-Match line names this tag: lists, "*" and weak tags count. */
bool etag_matches(const char *header, const char *etag);

/* True if an Accept, Accept-Encoding or Connection line names exactly this WORD, which is in lower
 * case, and not with q=0. */
bool accepts(const char *header, const char *word);

const char *exchange_header(const struct exchange *x, const char *name);

/* False: there are two lines of that name, and a proxy may have used the other one. */
bool exchange_header_is_once(const struct exchange *x, const char *name);

#endif
