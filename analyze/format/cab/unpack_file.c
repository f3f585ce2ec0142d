/* See unpack_file.h. No format states the size of the file in a way that can be trusted, so the
 * memory grows with the output. */
#include "format/cab/unpack_file.h"

#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

enum { FIRST_BYTES = 1 << 16, STEP_BYTES = 1 << 30, XZ_MEMORY_BYTES = 256 << 20 };

struct output {
    uint8_t *at; /* owned until handed over */
    size_t bytes, room, max;
};

/* Makes room for one more byte at least. Fails: ERR_LIMIT, ERR_MEMORY. */
static enum status grow(struct output *out, struct fault *fault)
{
    if (out->bytes < out->room)
        return ERR_NONE;
    if (out->room == out->max)
        return fault_set(fault, ERR_LIMIT, FAULT_NO_OFFSET, "packed file");
    size_t room = out->room > out->max / 2 ? out->max : out->room * 2;
    room = room < FIRST_BYTES && FIRST_BYTES < out->max ? FIRST_BYTES : room;
    room = room == 0 ? out->max : room;
    uint8_t *wider = realloc(out->at, room);
    if (wider == NULL)
        return fault_no_memory(fault, "packed file");
    out->at = wider;
    out->room = room;
    return ERR_NONE;
}

static size_t step_of(size_t left)
{
    return left < STEP_BYTES ? left : STEP_BYTES;
}

/* Several members may follow each other; what follows the last one is not read, as gzip does. */
static bool unpack_gzip(const uint8_t *data, size_t bytes, struct output *out, struct fault *fault)
{
    z_stream stream = {0};
    /* zlib's type lacks const, but zlib does not write here */
    union {
        const uint8_t *from;
        Bytef *to;
    } input = {data};
    size_t read = 0;
    int result = inflateInit2(&stream, MAX_WBITS + 16);
    if (result != Z_OK)
        return fault_no_memory(fault, "gzip") == ERR_NONE;
    while (result == Z_OK && grow(out, fault) == ERR_NONE) {
        const size_t in = step_of(bytes - read), to = step_of(out->room - out->bytes);
        stream.next_in = input.to + read;
        stream.avail_in = (uInt)in;
        stream.next_out = out->at + out->bytes;
        stream.avail_out = (uInt)to;
        result = inflate(&stream, Z_NO_FLUSH);
        read += in - stream.avail_in;
        out->bytes += to - stream.avail_out;
        if (result == Z_STREAM_END && bytes - read >= 2 && packed_recognize(data + read, 2))
            result = inflateReset(&stream);
    }
    (void)inflateEnd(&stream);
    return result == Z_STREAM_END;
}

static bool unpack_zstd(const uint8_t *data, size_t bytes, struct output *out, struct fault *fault)
{
    ZSTD_DStream *stream = ZSTD_createDStream();
    ZSTD_inBuffer in = {data, bytes, 0};
    size_t left = 1; /* of a frame; 0: it is whole */
    bool more = stream != NULL;
    if (stream == NULL)
        return fault_no_memory(fault, "zstd") == ERR_NONE;
    while (more && grow(out, fault) == ERR_NONE) {
        ZSTD_outBuffer to = {out->at, out->room, out->bytes};
        const size_t read = in.pos;
        left = ZSTD_decompressStream(stream, &to, &in);
        more = !ZSTD_isError(left) && (in.pos < bytes || left != 0) &&
               (in.pos != read || to.pos != out->bytes);
        out->bytes = to.pos;
    }
    (void)ZSTD_freeDStream(stream);
    return left == 0;
}

static bool unpack_xz(const uint8_t *data, size_t bytes, struct output *out, struct fault *fault)
{
    lzma_stream stream = LZMA_STREAM_INIT;
    lzma_ret result = lzma_stream_decoder(&stream, XZ_MEMORY_BYTES, LZMA_CONCATENATED);
    if (result != LZMA_OK)
        return fault_no_memory(fault, "xz") == ERR_NONE;
    stream.next_in = data;
    stream.avail_in = bytes;
    while (result == LZMA_OK && grow(out, fault) == ERR_NONE) {
        stream.next_out = out->at + out->bytes;
        stream.avail_out = out->room - out->bytes;
        result = lzma_code(&stream, LZMA_FINISH);
        out->bytes = out->room - stream.avail_out;
    }
    lzma_end(&stream);
    return result == LZMA_STREAM_END;
}

typedef bool unpack_fn(const uint8_t *data, size_t bytes, struct output *out, struct fault *fault);

static unpack_fn *unpacker_of(const void *data, size_t bytes)
{
    if (bytes >= 2 && memcmp(data, "\x1f\x8b", 2) == 0)
        return unpack_gzip;
    if (bytes >= 4 && memcmp(data, "\x28\xb5\x2f\xfd", 4) == 0)
        return unpack_zstd;
    return bytes >= 6 && memcmp(data, "\xfd\x37\x7a\x58\x5a\x00", 6) == 0 ? unpack_xz : NULL;
}

bool packed_recognize(const void *data, size_t bytes)
{
    return unpacker_of(data, bytes) != NULL;
}

enum status packed_unpack(const void *data, size_t bytes, size_t max_bytes, uint8_t **out,
                          size_t *out_bytes, struct fault *fault)
{
    struct output output = {.max = max_bytes + 1}; /* the last byte shows that it is longer */
    unpack_fn *const unpack = unpacker_of(data, bytes);
    *out = NULL;
    *out_bytes = 0;
    if (unpack == NULL)
        return fault_set(fault, ERR_UNSUPPORTED, 0, "no packed file");
    const bool whole = unpack(data, bytes, &output, fault);
    if (fault->code == ERR_NONE && output.bytes > max_bytes)
        fault_set(fault, ERR_LIMIT, FAULT_NO_OFFSET, "packed file");
    if (fault->code == ERR_NONE && !whole)
        fault_set(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "packed file");
    if (fault->code != ERR_NONE) {
        free(output.at);
        return fault->code;
    }
    *out = output.at;
    *out_bytes = output.bytes;
    return ERR_NONE;
}
