/* Packed sections: zlib and Zstandard (SHF_COMPRESSED), xz (.gnu_debugdata); see object.h. */
#include <string.h>

#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include "format/object/object.h"

/* The largest unpacked section, and the most bytes that one packed byte can yield. A stated size
 * above that is damage and is not allocated. */
#define UNPACKED_BYTES_MAX ((uint64_t)2 << 30)
enum { ZLIB_FACTOR = 1 << 11, ZSTD_FACTOR = 1 << 17 };
enum { XZ_MEMORY_BYTES = 256 << 20, XZ_FIRST_BYTES = 1 << 16 };

/* BARE: deflate without zlib's header and checksum. */
static bool unpack_zlib(struct byte_view data, bool bare, uint8_t *to, size_t bytes)
{
    z_stream stream = {0};
    /* zlib's type lacks const, but zlib does not write here */
    union {
        const uint8_t *from;
        Bytef *to;
    } input = {data.data};

    if (data.bytes > UINT32_MAX || bytes > UINT32_MAX ||
        inflateInit2(&stream, bare ? -MAX_WBITS : MAX_WBITS) != Z_OK)
        return false;
    stream.next_in = input.to;
    stream.avail_in = (uInt)data.bytes;
    stream.next_out = to;
    stream.avail_out = (uInt)bytes;
    const bool good = inflate(&stream, Z_FINISH) == Z_STREAM_END && stream.avail_out == 0;
    (void)inflateEnd(&stream);
    return good;
}

/* The total size is known only at the end, so the memory grows with the output. */
static enum status unpack_xz(struct byte_view data, struct arena *keep, struct byte_view *out,
                             struct fault *fault)
{
    lzma_stream stream = LZMA_STREAM_INIT;
    size_t room = XZ_FIRST_BYTES;
    uint8_t *to = arena_alloc(keep, room);
    lzma_ret result = LZMA_OK;

    if (lzma_stream_decoder(&stream, XZ_MEMORY_BYTES, 0) != LZMA_OK)
        return fault_no_memory(fault, "xz");
    stream.next_in = data.data;
    stream.avail_in = data.bytes;
    while (to != NULL && result == LZMA_OK) {
        stream.next_out = to + stream.total_out;
        stream.avail_out = room - (size_t)stream.total_out;
        result = lzma_code(&stream, LZMA_FINISH);
        if (result == LZMA_OK && stream.avail_out == 0) {
            const size_t wider = room * 2;
            uint8_t *grown = wider <= UNPACKED_BYTES_MAX ? arena_alloc(keep, wider) : NULL;
            if (grown != NULL)
                memcpy(grown, to, room);
            to = grown;
            room = wider;
        }
    }
    *out = (struct byte_view){to, (size_t)stream.total_out};
    lzma_end(&stream);
    if (to == NULL)
        return fault_no_memory(fault, "unpacked section");
    if (result != LZMA_STREAM_END)
        return fault_set(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "xz stream");
    return ERR_NONE;
}

enum status object_unpack(enum object_packing packing, struct byte_view data, uint64_t bytes,
                          struct arena *keep, struct byte_view *out, struct fault *fault)
{
    *out = (struct byte_view){NULL, 0};
    if (packing == PACKED_XZ)
        return unpack_xz(data, keep, out, fault);
    if (bytes > UNPACKED_BYTES_MAX)
        return fault_set(fault, ERR_LIMIT, FAULT_NO_OFFSET, "unpacked section");
    if (bytes / (packing == PACKED_ZSTD ? ZSTD_FACTOR : ZLIB_FACTOR) > data.bytes)
        return fault_set(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "size of a packed section");
    uint8_t *to = arena_alloc(keep, (size_t)bytes + 1);
    if (to == NULL)
        return fault_no_memory(fault, "unpacked section");
    const bool good = packing != PACKED_ZSTD
                          ? unpack_zlib(data, packing == PACKED_DEFLATE, to, (size_t)bytes)
                          : ZSTD_decompress(to, (size_t)bytes, data.data, data.bytes) == bytes;
    if (!good)
        return fault_set(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "packed section");
    *out = (struct byte_view){to, (size_t)bytes};
    return ERR_NONE;
}
