/* One request and its answer.
 *
 * A handler gets a struct exchange, reads the request through it, and answers exactly once
 * through one of the answer_* functions, each of which returns the HTTP status it sent. */
#ifndef DASHBOARD_EXCHANGE_H
#define DASHBOARD_EXCHANGE_H

#include <civetweb.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"
#include "view/view.h"
#include "web/web.h"

struct dashboard;
struct route;

struct exchange {
    struct mg_connection *connection; /* borrowed */
    const struct mg_request_info *request;
    struct dashboard *dashboard;
    const struct route *route; /* NULL: none matched */
    const char *path;          /* as in the request line, without the query */
    struct view_query query;
    struct arena keep; /* freed when the answer is out */
    bool head_only;    /* HEAD: headers alone          */
    bool closing;      /* the connection ends with this answer */
    bool uploading;    /* holds one of the places for bodies   */
    uint64_t started_ns;
};

/* {"error": {key, message, hint}}.  KEY is a stable word; HINT may be NULL. */
int answer_error(struct exchange *x, int status, const char *key, const char *message,
                 const char *hint);

/* The error that a fault amounts to. */
int answer_fault(struct exchange *x, const struct fault *fault);

/* An embedded asset: compressed when the client takes that, 304 when it has it. */
int answer_asset(struct exchange *x, int status, const struct web_asset *asset);

/* BODY with a weak ETag over it (or over ETAG_OF, which may leave out what differs from
 * answer to answer), 304 when the client has that; never stored by caches. */
struct answer_body {
    const char *mime;
    const char *body;
    size_t bytes;
    const char *etag;  /* with its quotes; NULL: none */
    const char *cache; /* NULL: never stored */
    const char *extra; /* further header lines, each ended by CRLF; NULL */
};
int answer_body(struct exchange *x, int status, const struct answer_body *body);

/* What WRITE says of the newest finished run, as text in KEEP with a NUL behind it.
 * Fails: ERR_ABSENT there is no such run; as WRITE. */
struct run_figures;
typedef enum status exchange_figures_fn(struct exchange *x, const struct run_figures *report,
                                        FILE *out, struct fault *fault);
enum status exchange_figures(struct exchange *x, exchange_figures_fn *write, char **text,
                             size_t *bytes, struct fault *fault);

/* {"data": DATA, "meta": {...}}.  DATA is a JSON document. */
int answer_data(struct exchange *x, int status, const char *data, size_t bytes, const char *etag);

/* A quoted tag over bytes, into OUT. */
enum { ETAG_BYTES = 24 };
void etag_of(const void *data, size_t bytes, char out[ETAG_BYTES]);

/* Holds an If-None-Match line against a tag: lists, "*" and weak tags. */
bool etag_matches(const char *header, const char *etag);

/* True when the Accept-Encoding line takes gzip. */
bool accepts_gzip(const char *header);

/* Header lines that every answer carries. */
extern const char exchange_safety_headers[];

/* Reads the body whole into KEEP, with a NUL's room behind it.  Answers by itself and returns
 * false when it is too large, too slow, cut, of no stated length, or when there are too many. */
bool exchange_read_body(struct exchange *x, size_t max_bytes, char **body, size_t *bytes);

/* Gives the place of a body back; at the end of every request. */
void exchange_end_upload(struct exchange *x);

const char *exchange_header(const struct exchange *x, const char *name);

/* False: two lines of that name, of which others may believe the other one. */
bool exchange_header_is_once(const struct exchange *x, const char *name);

#endif
