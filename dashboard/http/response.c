/* Writes answers.  A small answer goes out in one write, so that a page is one packet. */
#define ZLIB_CONST /* so that the input of deflate() is const */
#include "http/response.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/array.h"
#include "base/files.h"
#include "base/json.h"
#include "http/response_cache.h"
#include "http/state.h"

/* SOURCES: what a page may load and run. */
#define SAFETY_HEADERS(sources)                                                                    \
    "Content-Security-Policy: default-src 'none'; " sources                                        \
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n"                              \
    "X-Content-Type-Options: nosniff\r\n"                                                          \
    "Referrer-Policy: no-referrer\r\n"                                                             \
    "Cross-Origin-Resource-Policy: same-origin\r\n"                                                \
    "Cross-Origin-Opener-Policy: same-origin\r\n"

const char exchange_safety_headers[] = SAFETY_HEADERS(
    "script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; ");
static const char style_safety_headers[] = SAFETY_HEADERS("style-src 'unsafe-inline'; ");

static const struct {
    int status;
    const char *text;
} reasons[] = {
    {200, "OK"},
    {204, "No Content"},
    {304, "Not Modified"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {411, "Length Required"},
    {413, "Content Too Large"},
    {415, "Unsupported Media Type"},
    {421, "Misdirected Request"},
    {422, "Unprocessable Content"},
    {429, "Too Many Requests"},
    {500, "Internal Server Error"},
    {503, "Service Unavailable"},
    {507, "Insufficient Storage"},
};

static const char *reason_of(int status)
{
    for (size_t i = 0; i < COUNT_OF(reasons); i++)
        if (reasons[i].status == status)
            return reasons[i].text;
    return "Unknown";
}

enum { HEAD_BYTES = 2048, ONE_WRITE_BYTES = 64 * 1024 };

/* Sends HEAD (a whole header block) and BODY, in one write if they are small. */
static void send_parts(struct exchange *x, const char *head, size_t head_bytes, const void *body,
                       size_t bytes)
{
    if (x->head_only)
        bytes = 0;
    char *whole = bytes <= ONE_WRITE_BYTES ? arena_alloc(&x->keep, head_bytes + bytes) : NULL;
    if (whole != NULL) {
        memcpy(whole, head, head_bytes);
        if (bytes > 0)
            memcpy(whole + head_bytes, body, bytes);
        (void)mg_write(x->connection, whole, head_bytes + bytes);
        return;
    }
    if (mg_write(x->connection, head, head_bytes) > 0 && bytes > 0)
        (void)mg_write(x->connection, body, bytes);
}

struct head {
    int status;
    const char *mime, *etag, *cache, *extra;
    size_t bytes;
    bool has_style;
};

/* As civetweb does it: a client that names other words than keep-alive wants its connection closed.
 */
static const char *connection_word(const struct exchange *x)
{
    const char *asked = exchange_header(x, "Connection"), *version = x->request->http_version;
    const bool stays = asked != NULL ? accepts(asked, "keep-alive")
                                     : version != NULL && strcmp(version, "1.1") == 0;
    return x->closing || !stays ? "close" : "keep-alive";
}

static int send_answer(struct exchange *x, const struct head *h, const void *body)
{
    char text[HEAD_BYTES];
    if (x->closing)
        mg_disable_connection_keep_alive(x->connection);
    bool known = h->etag != NULL && etag_matches(exchange_header(x, "If-None-Match"), h->etag);
    int status = known && h->status == 200 ? 304 : h->status;
    size_t bytes = status == 304 ? 0 : h->bytes;
    int length =
        snprintf(text, sizeof text,
                 "HTTP/1.1 %d %s\r\n%s%s%s%s%s%sContent-Length: %zu\r\n"
                 "Cache-Control: %s\r\nAccept-Ranges: none\r\n"
                 "Connection: %s\r\n%s%s\r\n",
                 status, reason_of(status),
                 status == 304 ? "" : "Content-Type: ", status == 304 ? "" : h->mime,
                 status == 304 ? "" : "\r\n", h->etag != NULL ? "ETag: W/" : "",
                 h->etag != NULL ? h->etag : "", h->etag != NULL ? "\r\n" : "", bytes, h->cache,
                 connection_word(x), h->has_style ? style_safety_headers : exchange_safety_headers,
                 h->extra != NULL ? h->extra : "");
    if (length > 0 && (size_t)length < sizeof text)
        send_parts(x, text, (size_t)length, body, bytes);
    return status;
}

/* Compresses DATA into KEEP.  NULL: no memory. */
static const char *gzip(const void *data, size_t bytes, struct arena *keep, size_t *out_bytes)
{
    enum { WINDOW = 15 + 16, LEVEL = 7, MEMORY = 8 };
    z_stream z = {0};
    if (deflateInit2(&z, LEVEL, Z_DEFLATED, WINDOW, MEMORY, Z_DEFAULT_STRATEGY) != Z_OK)
        return NULL;
    const uLong most = deflateBound(&z, (uLong)bytes);
    Bytef *out = arena_alloc(keep, most);
    z.next_in = data;
    z.avail_in = (uInt)bytes;
    z.next_out = out;
    z.avail_out = (uInt)most;
    const bool done = out != NULL && deflate(&z, Z_FINISH) == Z_STREAM_END;
    *out_bytes = most - z.avail_out;
    (void)deflateEnd(&z);
    return done ? (const char *)out : NULL;
}

static bool takes_gzip(struct exchange *x)
{
    return accepts(exchange_header(x, "Accept-Encoding"), "gzip");
}

/* Compresses BODY into x->keep; what was compressed before comes from the cache.  NULL: the client
 * does not accept gzip, or the body is too small. */
static const char *compressed(struct exchange *x, const struct answer_body *body, size_t *bytes)
{
    enum { WORTH_BYTES = 1024 };
    struct cache *cache = x->dashboard->cache;
    if (body->bytes < WORTH_BYTES || body->bytes > UINT32_MAX / 2 || x->head_only ||
        strncmp(body->mime, "application/octet-stream", 24) == 0 || !takes_gzip(x))
        return NULL;
    const char *query = x->request->query_string != NULL ? x->request->query_string : "";
    const char *key =
        body->etag != NULL ? arena_printf(&x->keep, "%s?%s %s", x->path, query, body->etag) : NULL;
    const char *out = key != NULL ? cache_get(cache, key, 0, &x->keep, bytes) : NULL;
    if (out != NULL)
        return out;
    out = gzip(body->body, body->bytes, &x->keep, bytes);
    if (out != NULL && key != NULL)
        cache_put(cache, key, 0, out, *bytes);
    return out;
}

int answer_body(struct exchange *x, int status, const struct answer_body *body)
{
    static const char plain[] = "Vary: Accept-Encoding\r\n";
    static const char packing[] = "Content-Encoding: gzip\r\nVary: Accept-Encoding\r\n";
    size_t bytes = body->bytes;
    const bool known =
        body->etag != NULL && etag_matches(exchange_header(x, "If-None-Match"), body->etag);
    const char *packed = known ? NULL : compressed(x, body, &bytes);
    const char *extra = arena_printf(&x->keep, "%s%s", packed != NULL ? packing : plain,
                                     body->extra != NULL ? body->extra : "");
    struct head head = {.status = status,
                        .mime = body->mime,
                        .etag = body->etag,
                        .cache = body->cache != NULL ? body->cache : "no-store",
                        .extra = extra,
                        .bytes = bytes,
                        .has_style = body->has_style};
    return send_answer(x, &head, packed != NULL ? packed : body->body);
}

int answer_asset(struct exchange *x, int status, const struct web_asset *asset)
{
    const struct form {
        const char *word, *extra; /* word NULL: plain, which every client takes */
        const unsigned char *data;
        size_t bytes;
    } forms[] = {
        {"br", "Content-Encoding: br\r\nVary: Accept-Encoding\r\n", asset->brotli,
         asset->brotli_bytes},
        {"gzip", "Content-Encoding: gzip\r\nVary: Accept-Encoding\r\n", asset->gzip,
         asset->gzip_bytes},
        {NULL, "Vary: Accept-Encoding\r\n", asset->plain, asset->plain_bytes},
    };
    const char *accepted = exchange_header(x, "Accept-Encoding");
    const struct form *form = forms;
    while (form->word != NULL && !accepts(accepted, form->word))
        form++;
    struct head head = {
        .status = status,
        .mime = asset->mime,
        .etag = asset->etag,
        .cache = asset->immutable ? "public, max-age=31536000, immutable" : "no-cache",
        .extra = form->extra,
        .bytes = form->bytes,
    };
    return send_answer(x, &head, form->data);
}

int answer_data(struct exchange *x, const char *data, size_t bytes, const char *etag)
{
    char tail[128];
    double took_ms = (double)(clock_ns() - x->started_ns) / 1e6;
    int tail_bytes =
        snprintf(tail, sizeof tail, ",\"meta\":{\"took_ms\":%.3f,\"schema\":1}}\n", took_ms);
    static const char start[] = "{\"data\":";
    size_t start_bytes = sizeof start - 1;
    char *body = arena_alloc(&x->keep, start_bytes + bytes + (size_t)tail_bytes + 1);
    if (body == NULL)
        return answer_error(x, 503, "no_memory", "There is no memory for this answer", NULL);
    memcpy(body, start, start_bytes);
    memcpy(body + start_bytes, data, bytes);
    memcpy(body + start_bytes + bytes, tail, (size_t)tail_bytes);
    struct answer_body answer = {.mime = "application/json",
                                 .body = body,
                                 .bytes = start_bytes + bytes + (size_t)tail_bytes,
                                 .etag = etag};
    if (x->data_version != 0)
        answer.extra = arena_printf(&x->keep, "X-Data-Version: 0x%" PRIx64 "\r\n", x->data_version);
    return answer_body(x, 200, &answer);
}

/* RFC 9457; key, hint and reason are extension members. */
static void write_problem(struct json *j, int status, const char *message)
{
    json_key_string(j, "type", "about:blank");
    json_key_string(j, "title", reason_of(status));
    json_key_uint(j, "status", (uint64_t)status);
    json_key_string(j, "detail", message);
}

static int send_error(struct exchange *x, int status, const char *key, const char *message,
                      const char *hint, enum fault_reason reason)
{
    static const char problem[] = "application/problem+json";
    const bool as_problem = accepts(exchange_header(x, "Accept"), problem);
    struct json j;
    json_to_text(&j, false);
    json_object(&j);
    if (as_problem) {
        write_problem(&j, status, message);
    } else {
        json_key_object(&j, "error");
    }
    json_key_string(&j, "key", key);
    if (!as_problem)
        json_key_string(&j, "message", message);
    json_key_string(&j, "hint", hint);
    json_key_string(&j, "reason", fault_reason_name(reason));
    if (!as_problem)
        json_object_end(&j);
    json_object_end(&j);
    size_t bytes = 0;
    char *text = json_take(&j, &bytes);
    struct answer_body answer = {
        .mime = as_problem ? problem : "application/json", .body = text, .bytes = bytes};
    if (status == 429 || status == 503 || status == 507)
        answer.extra = "Retry-After: 5\r\n";
    if (text == NULL)
        answer.bytes = 0;
    int sent = answer_body(x, status, &answer);
    free(text);
    return sent;
}

int answer_error(struct exchange *x, int status, const char *key, const char *message,
                 const char *hint)
{
    return send_error(x, status, key, message, hint, FAULT_NO_REASON);
}

int answer_fault(struct exchange *x, const struct fault *fault)
{
    static const struct {
        enum status code;
        int status;
    } rows[] = {
        {ERR_ABSENT, 404},    {ERR_USAGE, 400},       {ERR_MALFORMED, 422},
        {ERR_TRUNCATED, 422}, {ERR_UNSUPPORTED, 422}, {ERR_MISMATCH, 422},
        {ERR_LIMIT, 413},     {ERR_MEMORY, 503},      {ERR_TIMEOUT, 503},
    };
    char text[512];
    int status = 500;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (rows[i].code == fault->code)
            status = rows[i].status;
    if (fault->reason == FAULT_FULL)
        status = 507;
    struct fault shown = *fault;
    shown.path[0] = '\0'; /* clients do not see paths of this machine */
    shown.hint = NULL;
    fault_describe(&shown, text, sizeof text);
    if (fault->code == ERR_USAGE) /* the key says that; people read a sentence */
        (void)snprintf(text, sizeof text, "%s", fault->what != NULL ? fault->what : "input");
    return send_error(x, status, fault_code_name(fault->code), text, fault->hint, fault->reason);
}

int answer_text(struct exchange *x, int status, const char *mime, const char *text, size_t bytes)
{
    char etag[ETAG_BYTES];
    struct answer_body body = {.mime = mime, .body = text, .bytes = bytes, .etag = etag};
    etag_of(text, bytes, etag);
    return answer_body(x, status, &body);
}
