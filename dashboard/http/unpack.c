/* See unpack.h. */
#include "http/unpack.h"

#include <stdlib.h>

#include <zlib.h>

#include "base/text.h"

enum {
    WINDOW_BYTES = 16 << 10,
    ONLY_GZIP = 16 /* added to the bits of the window: zlib's inflateInit2() */
};

struct unpack {
    z_stream stream;
    body_fn *take;
    void *context;
    size_t max_bytes, bytes;
    bool is_gzip, ended; /* ended: after the last byte of a member */
    Bytef window[WINDOW_BYTES];
};

bool packing_parse(const char *encoding, enum packing *out)
{
    static const struct {
        const char *name;
        enum packing packing;
    } rows[] = {{"identity", PACKING_NONE},
                {"gzip", PACKING_GZIP},
                {"x-gzip", PACKING_GZIP}, /* RFC 9110, 8.4.1.3: the same */
                {"deflate", PACKING_DEFLATE}};
    *out = PACKING_NONE;
    for (size_t i = 0; encoding != NULL && i < sizeof rows / sizeof *rows; i++)
        if (text_equal_nocase(encoding, rows[i].name)) {
            *out = rows[i].packing;
            return true;
        }
    return encoding == NULL;
}

struct unpack *unpack_new(enum packing packing, size_t max_bytes, body_fn *take, void *context)
{
    struct unpack *u = calloc(1, sizeof *u);
    if (u == NULL)
        return NULL;
    u->take = take;
    u->context = context;
    u->max_bytes = max_bytes;
    u->is_gzip = packing == PACKING_GZIP;
    if (inflateInit2(&u->stream, MAX_WBITS + (u->is_gzip ? ONLY_GZIP : 0)) != Z_OK) {
        free(u);
        return NULL;
    }
    return u;
}

void unpack_free(struct unpack *unpack)
{
    if (unpack != NULL)
        (void)inflateEnd(&unpack->stream);
    free(unpack);
}

/* Passes on what the window holds. */
static enum unpacked pass_on(struct unpack *u)
{
    const size_t got = WINDOW_BYTES - u->stream.avail_out;
    if (got > u->max_bytes - u->bytes)
        return UNPACKED_TOO_LARGE;
    u->bytes += got;
    return got == 0 || u->take(u->context, (const char *)u->window, got) ? UNPACKED_OK
                                                                         : UNPACKED_NOT_KEPT;
}

enum unpacked unpack_add(struct unpack *u, const char *data, size_t bytes)
{
    /* zlib's type lacks const, but zlib does not write here */
    union {
        const char *from;
        Bytef *to;
    } input = {data};
    u->stream.next_in = input.to;
    u->stream.avail_in = (uInt)bytes;
    do {
        /* RFC 1952, 2.2: a file of gzip may have several members; zlib's form is one stream. */
        if (u->ended && u->stream.avail_in > 0 && (!u->is_gzip || inflateReset(&u->stream) != Z_OK))
            return UNPACKED_DAMAGED;
        u->ended = u->ended && u->stream.avail_in == 0;
        u->stream.next_out = u->window;
        u->stream.avail_out = WINDOW_BYTES;
        const int result = u->ended ? Z_OK : inflate(&u->stream, Z_NO_FLUSH);
        if (result == Z_MEM_ERROR)
            return UNPACKED_NO_MEMORY;
        if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
            return UNPACKED_DAMAGED;
        u->ended = u->ended || result == Z_STREAM_END;
        const enum unpacked passed = pass_on(u);
        if (passed != UNPACKED_OK)
            return passed;
    } while (u->stream.avail_in > 0 || u->stream.avail_out == 0);
    return UNPACKED_OK;
}

enum unpacked unpack_end(struct unpack *u, size_t *bytes)
{
    *bytes = u->bytes;
    return u->ended ? UNPACKED_OK : UNPACKED_DAMAGED;
}
