/* Answers: each function sends one and returns the HTTP status it sent. */
#ifndef HTTP_RESPONSE_H
#define HTTP_RESPONSE_H

#include "base/fault.h"
#include "http/exchange.h"
#include "web/web.h"
#include <stddef.h>

/* {"error": {key, message, hint}}, or, for a client that accepts application/problem+json, {type,
 * title, status, detail, key, hint}.  KEY is a stable word; HINT may be NULL. */
int answer_error(struct exchange *x, int status, const char *key, const char *message,
                 const char *hint);

/* Answers with the error that FAULT describes. */
int answer_fault(struct exchange *x, const struct fault *fault);

/* Sends an embedded asset: as brotli or gzip if the client accepts that, 304 if it has the asset.
 */
int answer_asset(struct exchange *x, int status, const struct web_asset *asset);

/* Sends BODY: compressed if it is large and the client accepts gzip, 304 if the client has this
 * ETag.  Caches do not store it unless `cache` says so. */
struct answer_body {
    const char *mime;
    const char *body;
    size_t bytes;
    const char *etag;  /* with its quotes; NULL: none */
    const char *cache; /* NULL: never stored */
    const char *extra; /* further header lines, each ended by CRLF; NULL */
    bool has_style;    /* a page with its style inside, and nothing that runs or is loaded */
};
int answer_body(struct exchange *x, int status, const struct answer_body *body);

/* Sends TEXT, with a tag. */
int answer_text(struct exchange *x, int status, const char *mime, const char *text, size_t bytes);

/* {"data": DATA, "meta": {...}}.  DATA is a JSON document. */
int answer_data(struct exchange *x, const char *data, size_t bytes, const char *etag);

/* Header lines that every answer carries. */
extern const char exchange_safety_headers[];

#endif
