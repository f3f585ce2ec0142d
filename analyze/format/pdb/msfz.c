/* See msfz.h.  Invariants after msfz_open(): every fragment lies in the file or among the chunks'
 * bytes, no two fragments share bytes of a chunk, and every stream has its place in the image. */
#include "format/pdb/msfz.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "base/array.h"
#include "base/bytes.h"
#include "base/limits.h"
#include "base/thread.h"

enum {
    HEADER_BYTES = 80,
    CHUNK_BYTES = 20,
    FRAGMENT_BYTES = 12,
    SUPERBLOCK_BYTES = 52,
    FIRST_BLOCK = 3, /* after the superblock and the two free block maps */
};

enum compression { COMPRESSION_NONE, COMPRESSION_ZSTD, COMPRESSION_DEFLATE };

/* A file unpacks to at most MSFZ_FREE_BYTES and MSFZ_RATIO times its size; PDBs shrink to about a
 * fifth. */
enum { MSFZ_RATIO = 256 };
#define MSFZ_FREE_BYTES ((uint64_t)64 << 20)
#define IN_CHUNKS ((uint64_t)1 << 63)

static const char msfz_magic[32] = "Microsoft MSFZ Container\r\n\x1a\x41\x4c\x44\0";
static const char msf_magic[32] = "Microsoft C/C++ MSF 7.00\r\n\x1a\x44\x53\0\0";

struct chunk {
    uint64_t foff, start; /* START: of its bytes among those of all chunks */
    uint32_t compression, packed_bytes, bytes;
    bool done, good;
};

struct fragment {
    uint64_t at;       /* file offset, or offset among the bytes of all chunks */
    uint64_t image_at; /* where it goes */
    uint32_t bytes;
    bool in_chunks;
};

struct place {
    uint64_t at;
    uint32_t fragment;
};

struct msfz_stream {
    uint64_t bytes;
    uint64_t image_at;
    uint32_t first, count; /* fragments */
    bool absent, done, good;
};

struct msfz {
    const uint8_t *data; /* borrowed */
    size_t data_bytes;
    struct mutex *mutex; /* guards the state of chunks and the image's streams */
    struct chunk *chunks;
    uint32_t chunk_count;
    struct fragment *fragments; /* in the directory's order */
    struct place *places;       /* of those in chunks, sorted */
    uint32_t fragment_count, place_count;
    struct msfz_stream *streams;
    uint32_t stream_count;
    uint8_t *image;
    uint64_t image_bytes;
};

/* The header's fields about the directory and the chunk table. */
struct header {
    uint64_t directory_foff, table_foff;
    uint32_t compression, packed_bytes, directory_bytes, table_bytes;
};

bool msfz_recognize(const void *data, size_t bytes)
{
    return bytes >= 24 && memcmp(data, msfz_magic, 24) == 0;
}

static void put_u32(uint8_t *to, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        to[i] = (uint8_t)(value >> 8 * i);
}

static bool inflate_raw(const uint8_t *from, uint32_t packed, uint8_t *to, uint32_t bytes)
{
    z_stream z;
    memset(&z, 0, sizeof z);
    if (inflateInit2(&z, -MAX_WBITS) != Z_OK)
        return false;
    /* zlib's input is not const in every version, but zlib does not write to it */
    union {
        const uint8_t *from;
        Bytef *in;
    } input = {from};
    z.next_in = input.in;
    z.avail_in = packed;
    z.next_out = to;
    z.avail_out = bytes;
    const int result = inflate(&z, Z_FINISH);
    const bool whole = z.avail_out == 0 && (result == Z_STREAM_END || result == Z_BUF_ERROR);
    (void)inflateEnd(&z);
    return whole;
}

/* Unpacks to exactly BYTES. */
static bool unpack(uint32_t compression, const uint8_t *from, uint32_t packed, uint8_t *to,
                   uint32_t bytes)
{
    if (compression == COMPRESSION_ZSTD)
        return ZSTD_decompress(to, bytes, from, packed) == bytes;
    if (compression == COMPRESSION_DEFLATE)
        return inflate_raw(from, packed, to, bytes);
    if (packed != bytes)
        return false;
    memcpy(to, from, bytes);
    return true;
}

static uint64_t allowed_bytes(const struct msfz *msfz)
{
    const uint64_t allowed = MSFZ_FREE_BYTES + (uint64_t)msfz->data_bytes * MSFZ_RATIO;
    return allowed < LIMIT_UNPACKED_BYTES ? allowed : LIMIT_UNPACKED_BYTES;
}

static bool fits(const struct msfz *msfz, uint64_t foff, uint64_t bytes)
{
    return foff <= msfz->data_bytes && bytes <= msfz->data_bytes - foff;
}

static enum status read_header(struct msfz *msfz, struct header *out, struct fault *fault)
{
    struct bytes r = bytes_over(msfz->data, msfz->data_bytes, fault);
    bytes_skip(&r, 32);
    const uint64_t version = bytes_u64(&r);
    out->directory_foff = bytes_u64(&r);
    out->table_foff = bytes_u64(&r);
    msfz->stream_count = bytes_u32(&r);
    out->compression = bytes_u32(&r);
    out->packed_bytes = bytes_u32(&r);
    out->directory_bytes = bytes_u32(&r);
    msfz->chunk_count = bytes_u32(&r);
    out->table_bytes = bytes_u32(&r);
    if (bytes_failed(&r))
        return fault->code;
    if (version != 0)
        return fault_set(fault, ERR_UNSUPPORTED, 32, "version of the MSFZ container");
    if (out->compression > COMPRESSION_DEFLATE)
        return fault_set(fault, ERR_UNSUPPORTED, 60, "compression of the MSFZ directory");
    if (!fits(msfz, out->directory_foff, out->packed_bytes))
        return fault_set(fault, ERR_TRUNCATED, 40, "MSFZ stream directory");
    if (!fits(msfz, out->table_foff, out->table_bytes))
        return fault_set(fault, ERR_TRUNCATED, 48, "MSFZ chunk table");
    if ((uint64_t)msfz->chunk_count * CHUNK_BYTES != out->table_bytes)
        return fault_set(fault, ERR_MALFORMED, 72, "MSFZ chunk count");
    if (msfz->stream_count == 0 || msfz->stream_count > LIMIT_PDB_STREAMS ||
        (uint64_t)msfz->stream_count * 4 > out->directory_bytes)
        return fault_set(fault, ERR_MALFORMED, 56, "MSF stream count");
    if (out->directory_bytes > allowed_bytes(msfz))
        return fault_set(fault, ERR_LIMIT, 68, "bytes of the MSFZ directory");
    return ERR_NONE;
}

static enum status read_chunks(struct msfz *msfz, const struct header *header, struct fault *fault)
{
    uint64_t start = 0;
    msfz->chunks = calloc((size_t)msfz->chunk_count + 1, sizeof *msfz->chunks);
    if (msfz->chunks == NULL)
        return fault_no_memory(fault, "MSFZ chunk table");
    for (uint32_t i = 0; i < msfz->chunk_count; i++) {
        const uint64_t foff = header->table_foff + (uint64_t)i * CHUNK_BYTES;
        const uint8_t *row = msfz->data + foff;
        struct chunk *chunk = &msfz->chunks[i];
        chunk->foff = load_u64(row);
        chunk->compression = load_u32(row + 8);
        chunk->packed_bytes = load_u32(row + 12);
        chunk->bytes = load_u32(row + 16);
        chunk->start = start;
        start += chunk->bytes;
        if (chunk->compression > COMPRESSION_DEFLATE)
            return fault_set(fault, ERR_UNSUPPORTED, foff + 8, "compression of an MSFZ chunk");
        if (!fits(msfz, chunk->foff, chunk->packed_bytes))
            return fault_set(fault, ERR_TRUNCATED, foff, "MSFZ chunk");
    }
    msfz->chunks[msfz->chunk_count].start = start;
    if (start > allowed_bytes(msfz))
        return fault_set(fault, ERR_LIMIT, header->table_foff, "bytes of the MSFZ chunks");
    return ERR_NONE;
}

/* Reads one fragment's location; FOFF is where it was read, for faults. */
static enum status place_fragment(struct msfz *msfz, uint64_t location, struct fragment *out,
                                  struct fault *fault)
{
    out->in_chunks = (location & IN_CHUNKS) != 0;
    if (out->in_chunks) {
        const uint64_t chunk = (location & ~IN_CHUNKS) >> 32;
        if (chunk >= msfz->chunk_count)
            return fault_set(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "chunk of an MSFZ fragment");
        out->at = msfz->chunks[chunk].start + (uint32_t)location;
        if (out->at + out->bytes > msfz->chunks[msfz->chunk_count].start)
            return fault_set(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "end of an MSFZ fragment");
        msfz->place_count++;
    } else {
        out->at = location;
        if (!fits(msfz, location, out->bytes))
            return fault_set(fault, ERR_TRUNCATED, FAULT_NO_OFFSET, "MSFZ fragment");
    }
    return ERR_NONE;
}

static enum status read_stream(struct msfz *msfz, struct bytes *r, struct msfz_stream *out)
{
    out->first = msfz->fragment_count;
    uint32_t bytes = bytes_u32(r);
    if (bytes == UINT32_MAX) {
        out->absent = true;
        return r->fault->code;
    }
    while (bytes != 0 && !bytes_failed(r)) {
        struct fragment *fragment = &msfz->fragments[msfz->fragment_count];
        const uint64_t location = bytes_u64(r);
        fragment->bytes = bytes;
        fragment->image_at = out->bytes; /* from the stream's start, for now */
        if (bytes_failed(r) || place_fragment(msfz, location, fragment, r->fault) != ERR_NONE)
            return r->fault->code;
        msfz->fragment_count++;
        out->count++;
        out->bytes += bytes;
        if (out->bytes >= UINT32_MAX)
            return fault_set(r->fault, ERR_LIMIT, FAULT_NO_OFFSET, "MSFZ stream of 4 GiB");
        bytes = bytes_u32(r);
    }
    return r->fault->code;
}

static enum status read_streams(struct msfz *msfz, const uint8_t *directory, uint32_t bytes,
                                struct fault *fault)
{
    struct bytes r = bytes_over(directory, bytes, fault);
    uint64_t sum = 0;
    msfz->streams = calloc((size_t)msfz->stream_count + 1, sizeof *msfz->streams);
    msfz->fragments = calloc(bytes / FRAGMENT_BYTES + 1, sizeof *msfz->fragments);
    if (msfz->streams == NULL || msfz->fragments == NULL)
        return fault_no_memory(fault, "MSFZ directory");
    for (uint32_t i = 0; i < msfz->stream_count; i++) {
        if (read_stream(msfz, &r, &msfz->streams[i]) != ERR_NONE)
            return fault->code;
        sum += msfz->streams[i].bytes;
    }
    if (sum > allowed_bytes(msfz))
        return fault_set(fault, ERR_LIMIT, FAULT_NO_OFFSET, "bytes of the MSFZ streams");
    return ERR_NONE;
}

static enum status read_directory(struct msfz *msfz, const struct header *header,
                                  struct fault *fault)
{
    const uint8_t *from = msfz->data + header->directory_foff;
    uint8_t *copy = malloc((size_t)header->directory_bytes + 1);
    if (copy == NULL)
        return fault_no_memory(fault, "MSFZ directory");
    if (unpack(header->compression, from, header->packed_bytes, copy, header->directory_bytes))
        (void)read_streams(msfz, copy, header->directory_bytes, fault);
    else
        fault_set(fault, ERR_MALFORMED, header->directory_foff, "MSFZ stream directory");
    free(copy);
    return fault->code;
}

ARRAY_ORDER(by_place, struct place, at)

/* Sorts the fragments in chunks, so that each chunk can find its own. The work is bounded because
 * no two fragments share bytes. */
static enum status sort_fragments(struct msfz *msfz, struct fault *fault)
{
    uint32_t count = 0;
    msfz->places = calloc((size_t)msfz->place_count + 1, sizeof *msfz->places);
    if (msfz->places == NULL)
        return fault_no_memory(fault, "MSFZ directory");
    for (uint32_t i = 0; i < msfz->fragment_count; i++)
        if (msfz->fragments[i].in_chunks)
            msfz->places[count++] = (struct place){msfz->fragments[i].at, i};
    array_sort(msfz->places, count, sizeof *msfz->places, by_place);
    for (uint32_t i = 1; i < count; i++) {
        const struct place *before = &msfz->places[i - 1];
        if (before->at + msfz->fragments[before->fragment].bytes > msfz->places[i].at)
            return fault_set(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "MSFZ fragments overlap");
    }
    return ERR_NONE;
}

static uint64_t blocks_of(uint64_t bytes, uint32_t block_bytes)
{
    return (bytes + block_bytes - 1) / block_bytes;
}

/* The layout of the image for a given block size. */
struct layout {
    uint32_t block_bytes;
    uint64_t stream_blocks, directory_bytes, directory_blocks, list_blocks, blocks;
};

static struct layout lay_out(const struct msfz *msfz, uint32_t block_bytes)
{
    struct layout out = {.block_bytes = block_bytes};
    for (uint32_t i = 0; msfz->streams != NULL && i < msfz->stream_count; i++)
        out.stream_blocks += blocks_of(msfz->streams[i].bytes, block_bytes);
    out.directory_bytes = 4 + 4 * ((uint64_t)msfz->stream_count + out.stream_blocks);
    out.directory_blocks = blocks_of(out.directory_bytes, block_bytes);
    out.list_blocks = blocks_of(4 * out.directory_blocks, block_bytes);
    out.blocks = FIRST_BLOCK + out.stream_blocks + out.directory_blocks + out.list_blocks;
    return out;
}

static void write_directory(struct msfz *msfz, const struct layout *layout)
{
    const uint32_t size = layout->block_bytes;
    const uint64_t directory_block = FIRST_BLOCK + layout->stream_blocks;
    const uint64_t list_block = directory_block + layout->directory_blocks;
    uint8_t *head = msfz->image, *directory = msfz->image + directory_block * size;
    uint8_t *list = msfz->image + list_block * size;
    uint8_t *at = directory + 4 + 4 * (size_t)msfz->stream_count;
    uint64_t block = FIRST_BLOCK;

    memcpy(head, msf_magic, sizeof msf_magic);
    put_u32(head + 32, size);
    put_u32(head + 36, 1);
    put_u32(head + 40, (uint32_t)layout->blocks);
    put_u32(head + 44, (uint32_t)layout->directory_bytes);
    for (uint64_t i = 0; i < layout->list_blocks; i++)
        put_u32(head + SUPERBLOCK_BYTES + 4 * i, (uint32_t)(list_block + i));
    for (uint64_t i = 0; i < layout->directory_blocks; i++)
        put_u32(list + 4 * i, (uint32_t)(directory_block + i));
    put_u32(directory, msfz->stream_count);
    for (uint32_t i = 0; msfz->streams != NULL && i < msfz->stream_count; i++) {
        struct msfz_stream *stream = &msfz->streams[i];
        put_u32(directory + 4 + 4 * (size_t)i,
                stream->absent ? UINT32_MAX : (uint32_t)stream->bytes);
        stream->image_at = block * size;
        for (uint64_t k = blocks_of(stream->bytes, size); k > 0; k--, at += 4)
            put_u32(at, (uint32_t)block++);
        for (uint32_t k = 0; k < stream->count; k++)
            msfz->fragments[stream->first + k].image_at += stream->image_at;
    }
}

/* Chooses a block size so large that only the free block maps at the front are needed, and that the
 * superblock has room for the block numbers of the directory's list. */
static enum status make_image(struct msfz *msfz, struct fault *fault)
{
    struct layout layout = lay_out(msfz, 4096);
    while (layout.block_bytes < 1U << 20 &&
           (layout.blocks >= layout.block_bytes ||
            SUPERBLOCK_BYTES + 4 * layout.list_blocks > layout.block_bytes))
        layout = lay_out(msfz, layout.block_bytes * 2);
    if (layout.blocks >= layout.block_bytes || layout.directory_bytes > UINT32_MAX)
        return fault_set(fault, ERR_LIMIT, FAULT_NO_OFFSET, "blocks of an unpacked PDB");
    msfz->image_bytes = layout.blocks * layout.block_bytes;
    if (msfz->image_bytes > LIMIT_UNPACKED_BYTES)
        return fault_set(fault, ERR_LIMIT, FAULT_NO_OFFSET, "bytes of an unpacked PDB");
    msfz->image = calloc(1, (size_t)msfz->image_bytes);
    if (msfz->image == NULL)
        return fault_no_memory(fault, "unpacked PDB");
    write_directory(msfz, &layout);
    return ERR_NONE;
}

enum status msfz_open(const void *data, size_t bytes, struct msfz **out, struct fault *fault)
{
    struct header header;
    struct msfz *msfz = calloc(1, sizeof *msfz);

    *out = NULL;
    if (msfz == NULL || (msfz->mutex = mutex_new()) == NULL) {
        free(msfz);
        return fault_no_memory(fault, "MSFZ container");
    }
    msfz->data = data;
    msfz->data_bytes = bytes;
    if (read_header(msfz, &header, fault) == ERR_NONE &&
        read_chunks(msfz, &header, fault) == ERR_NONE &&
        read_directory(msfz, &header, fault) == ERR_NONE &&
        sort_fragments(msfz, fault) == ERR_NONE && make_image(msfz, fault) == ERR_NONE)
        *out = msfz;
    else
        msfz_close(msfz);
    return fault->code;
}

void msfz_close(struct msfz *msfz)
{
    if (msfz == NULL)
        return;
    mutex_free(msfz->mutex);
    free(msfz->chunks);
    free(msfz->fragments);
    free(msfz->places);
    free(msfz->streams);
    free(msfz->image);
    free(msfz);
}

const uint8_t *msfz_image(const struct msfz *msfz, size_t *bytes)
{
    *bytes = (size_t)msfz->image_bytes;
    return msfz->image;
}

/* Copies the chunk's part of each fragment to the image. */
static void scatter(struct msfz *msfz, const struct chunk *chunk, const uint8_t *bytes)
{
    const uint64_t end = chunk->start + chunk->bytes;
    const uint32_t low = ARRAY_UPPER(msfz->places, msfz->place_count, at, chunk->start);
    for (uint32_t i = low > 0 ? low - 1 : 0; i < msfz->place_count; i++) {
        const struct fragment *fragment = &msfz->fragments[msfz->places[i].fragment];
        const uint64_t fragment_end = fragment->at + fragment->bytes;
        if (fragment->at >= end)
            break;
        const uint64_t from = fragment->at > chunk->start ? fragment->at : chunk->start;
        const uint64_t to = fragment_end < end ? fragment_end : end;
        if (from < to)
            memcpy(msfz->image + fragment->image_at + (from - fragment->at),
                   bytes + (from - chunk->start), (size_t)(to - from));
    }
}

static bool fill_chunk(struct msfz *msfz, struct chunk *chunk)
{
    if (chunk->done)
        return chunk->good;
    uint8_t *bytes = malloc((size_t)chunk->bytes + 1);
    if (bytes == NULL)
        return false;
    chunk->good = unpack(chunk->compression, msfz->data + chunk->foff, chunk->packed_bytes, bytes,
                         chunk->bytes);
    chunk->done = true;
    if (chunk->good)
        scatter(msfz, chunk, bytes);
    free(bytes);
    return chunk->good;
}

/* The chunk that contains AT, an offset among the bytes of all chunks. */
static uint32_t chunk_of(const struct msfz *msfz, uint64_t at)
{
    uint32_t low = 0, high = msfz->chunk_count;
    while (low + 1 < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (msfz->chunks[middle].start <= at)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static bool fill_fragment(struct msfz *msfz, const struct fragment *fragment)
{
    bool good = true;
    if (!fragment->in_chunks) {
        memcpy(msfz->image + fragment->image_at, msfz->data + fragment->at, fragment->bytes);
        return true;
    }
    const uint64_t end = fragment->at + fragment->bytes;
    for (uint32_t i = chunk_of(msfz, fragment->at);
         good && i < msfz->chunk_count && msfz->chunks[i].start < end; i++)
        good = fill_chunk(msfz, &msfz->chunks[i]);
    return good;
}

bool msfz_fill(struct msfz *msfz, uint32_t index)
{
    if (index >= msfz->stream_count)
        return true;
    struct msfz_stream *stream = &msfz->streams[index];
    mutex_lock(msfz->mutex);
    if (!stream->done) {
        stream->done = true;
        stream->good = true;
        for (uint32_t i = 0; stream->good && i < stream->count; i++)
            stream->good = fill_fragment(msfz, &msfz->fragments[stream->first + i]);
    }
    const bool good = stream->good;
    mutex_unlock(msfz->mutex);
    return good;
}
