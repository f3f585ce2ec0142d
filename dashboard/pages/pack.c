/* Packs a document for a file that has no server: zlib, then base64.  The documents of a run
 * repeat names and paths and shrink to a twentieth. */
#include "pages/pack.h"

#include <string.h>
#include <zlib.h>

static void write_base64(const unsigned char *data, size_t bytes, char *out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < bytes; i += 3) {
        const size_t left = bytes - i;
        const uint32_t group = ((uint32_t)data[i] << 16) |
                               (left > 1 ? (uint32_t)data[i + 1] << 8 : 0) |
                               (left > 2 ? data[i + 2] : 0);
        *out++ = digits[group >> 18];
        *out++ = digits[group >> 12 & 63];
        *out++ = left > 1 ? digits[group >> 6 & 63] : '=';
        *out++ = left > 2 ? digits[group & 63] : '=';
    }
    *out = '\0';
}

const char *view_pack(const char *data, size_t bytes, struct arena *keep)
{
    uLongf packed = compressBound((uLong)bytes);
    unsigned char *deflated = arena_alloc(keep, packed);
    if (deflated == NULL ||
        compress2(deflated, &packed, (const Bytef *)data, (uLong)bytes, 6) != Z_OK)
        return NULL;
    char *out = arena_alloc(keep, ((size_t)packed + 2) / 3 * 4 + 1);
    if (out != NULL)
        write_base64(deflated, packed, out);
    return out;
}
