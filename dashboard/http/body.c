/* Reads the bodies of requests. */
#include "http/body.h"

#include <string.h>

#include "base/files.h"
#include "base/text.h"
#include "http/response.h"
#include "http/state.h"

/* Reads Content-Length.  False, and answered: it is missing or is not one plain number. */
static bool stated_length(struct exchange *x, uint64_t *out)
{
    const char *text = exchange_header(x, "Content-Length");
    if (text == NULL || exchange_header(x, "Transfer-Encoding") != NULL) {
        x->closing = true; /* where this body ends is not known */
        (void)answer_error(x, 411, "length_required",
                           "The request does not state the length of its body",
                           "send Content-Length");
        return false;
    }
    if (!text_parse_uint(text, strlen(text), out) ||
        !exchange_header_is_once(x, "Content-Length")) {
        x->closing = true;
        (void)answer_error(x, 400, "bad_length", "The body's length is not one number", NULL);
        return false;
    }
    return true;
}

static bool upload_open(struct exchange *x)
{
    struct dashboard *d = x->dashboard;
    mutex_lock(d->lock);
    x->uploading = d->uploads < UPLOADS_MAX;
    d->uploads += x->uploading ? 1 : 0;
    mutex_unlock(d->lock);
    return x->uploading;
}

void exchange_end_upload(struct exchange *x)
{
    if (!x->uploading)
        return;
    mutex_lock(x->dashboard->lock);
    x->dashboard->uploads--;
    mutex_unlock(x->dashboard->lock);
    x->uploading = false;
}

/* Answers WHAT, which unpacking a body came to. */
static void answer_unpacked(struct exchange *x, enum unpacked what)
{
    static const struct {
        int status;
        const char *key, *message, *hint;
    } rows[] = {
        [UNPACKED_DAMAGED] = {400, "packing", "The body is not what its Content-Encoding says",
                              "it may be cut; send it again, or without one"},
        [UNPACKED_TOO_LARGE] = {413, "too_large",
                                "The body, unpacked, is larger than this server accepts", NULL},
        [UNPACKED_NOT_KEPT] = {507, "io", "The body cannot be kept on this machine's disk",
                               "send it again later"},
        [UNPACKED_NO_MEMORY] = {503, "no_memory", "There is no memory for this body", NULL},
    };
    (void)answer_error(x, rows[what].status, rows[what].key, rows[what].message, rows[what].hint);
}

/* Where the pieces of a body go. */
struct sink {
    struct unpack *unpack; /* NULL: it is plain */
    body_fn *take;
    void *context;
};

static enum unpacked pass_piece(const struct sink *to, const char *data, size_t bytes)
{
    if (to->unpack != NULL)
        return unpack_add(to->unpack, data, bytes);
    return to->take(to->context, data, bytes) ? UNPACKED_OK : UNPACKED_NOT_KEPT;
}

/* mg_read() returns only when all requested bytes have arrived, however long that takes.  So pieces
 * are small, and become one byte for a slow client: then the time limit is checked often. */
static bool read_pieces(struct exchange *x, size_t bytes, const struct sink *to)
{
    enum { FIRST_BYTES = 16, MOST_BYTES = 1024, SLOW_NS = 1000000000 };
    const uint64_t start_ns = clock_ns();
    uint64_t last_ns = start_ns;
    size_t have = 0, piece = FIRST_BYTES;
    char buffer[MOST_BYTES];
    while (have < bytes) {
        const size_t left = bytes - have;
        int got = mg_read(x->connection, buffer, piece < left ? piece : left);
        const uint64_t now_ns = clock_ns();
        if (got <= 0) {
            (void)answer_error(x, 400, "body_cut", "The body ended before its stated length", NULL);
            return false;
        }
        have += (size_t)got;
        if (now_ns - start_ns > (uint64_t)UPLOAD_MAX_MS * 1000000u && have < bytes) {
            (void)answer_error(x, 408, "too_slow", "The body takes too long to arrive", NULL);
            return false;
        }
        const enum unpacked passed = pass_piece(to, buffer, (size_t)got);
        if (passed != UNPACKED_OK) {
            answer_unpacked(x, passed);
            return false;
        }
        if (now_ns - last_ns > SLOW_NS)
            piece = 1;
        else if (piece < MOST_BYTES)
            piece *= 2;
        last_ns = now_ns;
    }
    return true;
}

/* False, and answered: the body is packed in a way that is not read here. */
static bool read_packing(struct exchange *x, enum packing *out)
{
    if (packing_parse(exchange_header(x, "Content-Encoding"), out) &&
        exchange_header_is_once(x, "Content-Encoding"))
        return true;
    (void)answer_error(x, 415, "encoding", "The body's Content-Encoding is not read here",
                       "send it as gzip, as deflate, or without one");
    return false;
}

/* What is checked before a body is read.  x->closing stays set until it is. */
static bool begin_body(struct exchange *x, size_t max_bytes, size_t *bytes, enum packing *packing)
{
    uint64_t stated = 0;
    if (!stated_length(x, &stated))
        return false;
    x->closing = true; /* until the body is read, because the rest of it is not a request */
    if (!read_packing(x, packing))
        return false;
    if (stated > max_bytes) {
        (void)answer_error(x, 413, "too_large", "The body is larger than this server accepts",
                           NULL);
        return false;
    }
    if (!upload_open(x)) {
        (void)answer_error(x, 503, "busy", "Other uploads are in progress",
                           "try again in a moment");
        return false;
    }
    *bytes = (size_t)stated;
    return true;
}

static void invite_body(struct exchange *x)
{
    const char *expect = exchange_header(x, "Expect");
    if (expect != NULL && text_equal_nocase(expect, "100-continue"))
        (void)mg_printf(x->connection, "HTTP/1.1 100 Continue\r\n\r\n");
}

void exchange_drop_body(struct exchange *x, size_t max_bytes)
{
    enum { PIECE_BYTES = 4096, MOST_NS = 2000000000 };
    const char *text = exchange_header(x, "Content-Length");
    const uint64_t start_ns = clock_ns();
    uint64_t left = 0;
    char buffer[PIECE_BYTES];
    if (text == NULL || exchange_header(x, "Transfer-Encoding") != NULL ||
        exchange_header(x, "Expect") != NULL || !text_parse_uint(text, strlen(text), &left) ||
        left > max_bytes || !upload_open(x))
        return;
    while (left > 0 && clock_ns() - start_ns < MOST_NS) {
        const int got = mg_read(x->connection, buffer, left < PIECE_BYTES ? left : PIECE_BYTES);
        if (got <= 0)
            break;
        left -= (uint64_t)got;
    }
    exchange_end_upload(x);
}

bool exchange_pass_body(struct exchange *x, size_t max_bytes, body_fn *take, void *context,
                        size_t *bytes)
{
    struct sink to = {NULL, take, context};
    enum packing packing;
    if (!begin_body(x, max_bytes, bytes, &packing))
        return false;
    if (packing != PACKING_NONE &&
        (to.unpack = unpack_new(packing, max_bytes, take, context)) == NULL) {
        answer_unpacked(x, UNPACKED_NO_MEMORY);
        return false;
    }
    invite_body(x);
    bool read = read_pieces(x, *bytes, &to);
    if (read && to.unpack != NULL && unpack_end(to.unpack, bytes) != UNPACKED_OK) {
        answer_unpacked(x, UNPACKED_DAMAGED);
        read = false;
    }
    unpack_free(to.unpack);
    x->closing = !read;
    return read;
}

static bool append_piece(void *context, const char *data, size_t bytes)
{
    char **at = context;
    memcpy(*at, data, bytes);
    *at += bytes;
    return true;
}

static bool skip_piece(void *context, const char *data, size_t bytes)
{
    (void)context;
    (void)data;
    (void)bytes;
    return true;
}

static enum unpacked unpack_all(enum packing packing, const char *data, size_t size,
                                size_t max_bytes, body_fn *take, void *context, size_t *bytes)
{
    struct unpack *unpack = unpack_new(packing, max_bytes, take, context);
    enum unpacked passed = UNPACKED_NO_MEMORY;
    if (unpack != NULL && (passed = unpack_add(unpack, data, size)) == UNPACKED_OK)
        passed = unpack_end(unpack, bytes);
    unpack_free(unpack);
    return passed;
}

/* Twice: how large the body is comes first, so that none that is too large or damaged gets memory.
 */
static bool unpack_body(struct exchange *x, enum packing packing, size_t max_bytes, char **body,
                        size_t *bytes)
{
    const size_t size = *bytes;
    char *plain = NULL;
    enum unpacked passed = unpack_all(packing, *body, size, max_bytes, skip_piece, NULL, bytes);
    if (passed == UNPACKED_OK && (plain = arena_alloc(&x->keep, *bytes + 1)) == NULL)
        passed = UNPACKED_NO_MEMORY;
    char *at = plain;
    if (passed == UNPACKED_OK)
        passed = unpack_all(packing, *body, size, *bytes, append_piece, &at, bytes);
    if (passed != UNPACKED_OK)
        answer_unpacked(x, passed);
    *body = plain;
    return passed == UNPACKED_OK;
}

bool exchange_read_body(struct exchange *x, size_t max_bytes, char **body, size_t *bytes)
{
    enum packing packing;
    if (!begin_body(x, max_bytes, bytes, &packing))
        return false;
    char *text = arena_alloc(&x->keep, *bytes + 1), *at = text;
    if (text == NULL) {
        answer_unpacked(x, UNPACKED_NO_MEMORY);
        return false;
    }
    invite_body(x);
    if (!read_pieces(x, *bytes, &(struct sink){NULL, append_piece, &at}))
        return false;
    x->closing = false;
    *body = text;
    return packing == PACKING_NONE || unpack_body(x, packing, max_bytes, body, bytes);
}
