/* The compressed container of PDB files, made by hand: every compression, fragments across chunks
 * and outside of them, streams that do not exist, damage. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "base/bytes.h"
#include "format/pdb/msf.h"
#include "test.h"

enum { STREAMS = 6, FILE_MAX = 1 << 16, NONE = 0, ZSTD = 1, DEFLATE = 2 };

/* Stream 2 does not exist, 3 is empty, 4 is larger than a block. */
static const uint32_t stream_bytes[STREAMS] = {0, 300, UINT32_MAX, 0, 9000, 77};

static uint8_t stream_byte(uint32_t stream, uint32_t at)
{
    return (uint8_t)(stream * 31 + at / 3 + (at >> 8));
}

struct file {
    uint8_t data[FILE_MAX];
    uint32_t bytes;
    uint32_t table_foff, directory_foff;
};

static void put(uint8_t *at, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        at[i] = (uint8_t)(value >> 8 * i);
}

static uint32_t pack(uint32_t how, const uint8_t *from, uint32_t bytes, uint8_t *to)
{
    if (how == ZSTD)
        return (uint32_t)ZSTD_compress(to, FILE_MAX / 2, from, bytes, 3);
    if (how == NONE) {
        memcpy(to, from, bytes);
        return bytes;
    }
    z_stream z;
    memset(&z, 0, sizeof z);
    REQUIRE(deflateInit2(&z, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    uint8_t copy[FILE_MAX / 4];
    memcpy(copy, from, bytes);
    z.next_in = copy;
    z.avail_in = bytes;
    z.next_out = to;
    z.avail_out = FILE_MAX / 2;
    REQUIRE(deflate(&z, Z_FINISH) == Z_STREAM_END);
    const uint32_t packed = (uint32_t)z.total_out;
    (void)deflateEnd(&z);
    return packed;
}

struct plan {
    const char *name;
    uint32_t chunk_bytes;  /* 0: no chunks, all fragments lie in the file */
    uint32_t chunks[3];    /* compressions, used in turn */
    uint32_t directory;    /* compression */
    uint32_t piece_bytes;  /* the largest fragment in bytes; 0: whole streams */
    uint32_t plain_stream; /* this one lies in the file; 0: none */
};

static const struct plan plans[] = {
    {"one chunk, zstd", 16384, {ZSTD, ZSTD, ZSTD}, NONE, 0, 0},
    {"no chunk", 0, {0}, NONE, 0, 0},
    {"small chunks of all kinds, crossed", 500, {ZSTD, DEFLATE, NONE}, NONE, 0, 0},
    {"deflate, directory packed", 4096, {DEFLATE, DEFLATE, DEFLATE}, ZSTD, 0, 0},
    {"directory by deflate", 4096, {NONE, NONE, NONE}, DEFLATE, 0, 0},
    {"fragments of 100 bytes", 999, {ZSTD, NONE, DEFLATE}, ZSTD, 100, 0},
    {"one stream outside of the chunks", 777, {ZSTD, ZSTD, DEFLATE}, NONE, 1000, 4},
};

static uint32_t add(struct file *f, const uint8_t *data, uint32_t bytes)
{
    const uint32_t at = f->bytes;
    REQUIRE(at + bytes <= FILE_MAX);
    memcpy(f->data + at, data, bytes);
    f->bytes += bytes;
    return at;
}

static uint32_t add_chunks(struct file *f, const struct plan *plan, const uint8_t *all,
                           uint32_t bytes, uint8_t *table)
{
    static uint8_t packed[FILE_MAX];
    uint32_t count = 0;
    for (uint32_t at = 0; plan->chunk_bytes != 0 && at < bytes; at += plan->chunk_bytes, count++) {
        const uint32_t left = bytes - at;
        const uint32_t part = left < plan->chunk_bytes ? left : plan->chunk_bytes;
        const uint32_t how = plan->chunks[count % 3];
        const uint32_t size = pack(how, all + at, part, packed);
        uint8_t *row = table + 20 * (size_t)count;
        put(row, add(f, packed, size), 8);
        put(row + 8, how, 4);
        put(row + 12, size, 4);
        put(row + 16, part, 4);
    }
    return count;
}

static uint32_t write_fragments(struct file *f, const struct plan *plan, uint8_t *all,
                                uint32_t *all_bytes, uint8_t *directory)
{
    uint32_t bytes = 0;
    for (uint32_t s = 0; s < STREAMS; s++) {
        if (stream_bytes[s] == UINT32_MAX) {
            put(directory + bytes, UINT32_MAX, 4);
            bytes += 4;
            continue;
        }
        for (uint32_t at = 0; at < stream_bytes[s];) {
            const uint32_t left = stream_bytes[s] - at;
            const uint32_t part =
                plan->piece_bytes != 0 && left > plan->piece_bytes ? plan->piece_bytes : left;
            const bool plain = plan->chunk_bytes == 0 || s == plan->plain_stream;
            uint64_t location = f->bytes;
            if (!plain)
                location = (uint64_t)1 << 63 | (uint64_t)(*all_bytes / plan->chunk_bytes) << 32 |
                           *all_bytes % plan->chunk_bytes;
            for (uint32_t i = 0; i < part; i++, at++) {
                const uint8_t byte = stream_byte(s, at);
                if (plain)
                    (void)add(f, &byte, 1);
                else
                    all[(*all_bytes)++] = byte;
            }
            put(directory + bytes, part, 4);
            put(directory + bytes + 4, location, 8);
            bytes += 12;
        }
        put(directory + bytes, 0, 4);
        bytes += 4;
    }
    return bytes;
}

static void make(const struct plan *plan, struct file *f)
{
    static uint8_t all[FILE_MAX / 4], directory[FILE_MAX / 4], packed[FILE_MAX], table[FILE_MAX];
    uint32_t all_bytes = 0;
    memset(f, 0, sizeof *f);
    f->bytes = 80;
    const uint32_t bytes = write_fragments(f, plan, all, &all_bytes, directory);
    const uint32_t chunks = add_chunks(f, plan, all, all_bytes, table);
    const uint32_t size = pack(plan->directory, directory, bytes, packed);
    f->directory_foff = add(f, packed, size);
    f->table_foff = add(f, table, 20 * chunks);
    memcpy(f->data, "Microsoft MSFZ Container\r\n\x1a\x41\x4c\x44\0", 32);
    put(f->data + 40, f->directory_foff, 8);
    put(f->data + 48, f->table_foff, 8);
    put(f->data + 56, STREAMS, 4);
    put(f->data + 60, plan->directory, 4);
    put(f->data + 64, size, 4);
    put(f->data + 68, bytes, 4);
    put(f->data + 72, chunks, 4);
    put(f->data + 76, 20 * chunks, 4);
}

/* The number of wrong bytes in all streams. Bytes that cannot be read count as wrong. */
static uint32_t wrong_bytes(const struct msf *msf, struct arena *copies)
{
    uint32_t wrong = 0;
    for (uint32_t s = STREAMS; s-- > 0;) {
        const struct msf_stream stream = msf_stream(msf, s);
        const uint32_t want = stream_bytes[s] == UINT32_MAX ? 0 : stream_bytes[s];
        const uint8_t *at = msf_view(&stream, 0, stream.bytes, copies);
        wrong += stream.bytes != want ? want + 1 : 0;
        for (uint32_t i = 0; i < want && i < stream.bytes; i++)
            wrong += at == NULL || at[i] != stream_byte(s, i);
    }
    return wrong;
}

TEST(streams_come_out_as_they_went_in)
{
    static struct file f;
    for (size_t i = 0; i < COUNT_OF(plans); i++) {
        struct fault fault = FAULT_INIT;
        struct arena copies;
        struct msf msf;
        test_row(plans[i].name);
        make(&plans[i], &f);
        arena_init(&copies, 0);
        REQUIRE(msf_open(f.data, f.bytes, &copies, &msf, &fault) == ERR_NONE);
        CHECK_EQ(msf.stream_count, STREAMS);
        CHECK_EQ(wrong_bytes(&msf, &copies), 0);
        CHECK(msf_unpack(&msf));
        struct msf plain; /* the image is a whole MSF file of its own */
        REQUIRE(msf_open(msf.data, msf.bytes, &copies, &plain, &fault) == ERR_NONE);
        CHECK(plain.packed == NULL);
        CHECK_EQ(wrong_bytes(&plain, &copies), 0);
        msf_close(&msf);
        arena_free(&copies);
    }
}

/* Reads all of a damaged file, in memory of exactly its length. Any answer is accepted. */
static bool survives(const uint8_t *data, uint32_t bytes)
{
    struct fault fault = FAULT_INIT;
    struct arena copies;
    struct msf msf;
    uint8_t *copy = test_copy(data, bytes);
    arena_init(&copies, 0);
    const bool good = msf_open(copy, bytes, &copies, &msf, &fault) == ERR_NONE;
    bool right = good ? fault.code == ERR_NONE : fault.code != ERR_NONE && fault.what != NULL;
    if (good)
        (void)wrong_bytes(&msf, &copies);
    msf_close(&msf);
    arena_free(&copies);
    free(copy);
    return right;
}

TEST(every_truncation_is_answered)
{
    static struct file f;
    for (size_t i = 0; i < COUNT_OF(plans); i++) {
        uint32_t bad = 0;
        test_row(plans[i].name);
        make(&plans[i], &f);
        for (uint32_t bytes = 0; bytes < f.bytes; bytes += bytes < 400 ? 1 : 7)
            bad += !survives(f.data, bytes);
        CHECK_EQ(bad, 0);
    }
}

TEST(every_damaged_byte_is_answered)
{
    static struct file f;
    static const uint8_t flips[] = {0x01, 0x80, 0xff};
    for (size_t i = 0; i < COUNT_OF(plans); i++) {
        uint32_t bad = 0;
        test_row(plans[i].name);
        make(&plans[i], &f);
        for (uint32_t at = 32; at < f.bytes; at += at < 80 || at >= f.directory_foff ? 1 : 61) {
            const uint8_t before = f.data[at];
            for (size_t k = 0; k < COUNT_OF(flips); k++) {
                f.data[at] = before ^ flips[k];
                bad += !survives(f.data, f.bytes);
            }
            f.data[at] = before;
        }
        CHECK_EQ(bad, 0);
    }
}

TEST(headers_that_later_code_would_trust_are_refused)
{
    static const struct {
        const char *name;
        uint32_t at;
        uint64_t value;
        int bytes;
        enum status want;
    } rows[] = {
        {"another version", 32, 1, 8, ERR_UNSUPPORTED},
        {"directory past the end", 40, (uint64_t)1 << 40, 8, ERR_TRUNCATED},
        {"chunk table past the end", 48, UINT64_MAX, 8, ERR_TRUNCATED},
        {"no stream", 56, 0, 4, ERR_MALFORMED},
        {"streams without a directory", 56, 1 << 20, 4, ERR_MALFORMED},
        {"another compression", 60, 3, 4, ERR_UNSUPPORTED},
        {"a directory of 4 GiB", 68, UINT32_MAX, 4, ERR_LIMIT},
        {"one chunk more than the table has", 72, 2, 4, ERR_MALFORMED},
    };
    static struct file f;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fault fault = FAULT_INIT;
        struct arena copies;
        struct msf msf;
        test_row(rows[i].name);
        make(&plans[0], &f);
        put(f.data + rows[i].at, rows[i].value, rows[i].bytes);
        arena_init(&copies, 0);
        CHECK_EQ(msf_open(f.data, f.bytes, &copies, &msf, &fault), rows[i].want);
        msf_close(&msf);
        arena_free(&copies);
    }
}

TEST(chunks_that_claim_more_than_a_file_can_hold_are_refused)
{
    static struct file f;
    struct fault fault = FAULT_INIT;
    struct arena copies;
    struct msf msf;
    make(&plans[0], &f);
    put(f.data + f.table_foff + 16, UINT32_MAX, 4);
    arena_init(&copies, 0);
    CHECK_EQ(msf_open(f.data, f.bytes, &copies, &msf, &fault), ERR_LIMIT);
    msf_close(&msf);
    arena_free(&copies);
}
