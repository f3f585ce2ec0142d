/* The container of PDB files, with hand-made files: block sizes, scattered streams, directories so
 * large that their own list takes several blocks. */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/limits.h"
#include "format/pdb/msf.h"
#include "test.h"

/* A file of BLOCK-byte blocks with STREAMS streams of one byte each (its own number's low byte), or
 * of none, laid out as by Microsoft's writer: data, directory, its list, each in blocks of
 * descending number, so that nothing is contiguous. */
struct made {
    uint8_t *data;
    uint32_t block_bytes, block_count, next; /* next: the block given out last */
};

static uint32_t take_block(struct made *m)
{
    do
        m->next--;
    while (m->next % m->block_bytes == 1 || m->next % m->block_bytes == 2); /* free block maps */
    return m->next;
}

static void put_u32(uint8_t *at, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(value >> 8 * i);
}

/* Spreads BYTES over blocks and writes their numbers to LIST. */
static uint32_t spread(struct made *m, const uint8_t *bytes, uint32_t count, uint8_t *list)
{
    uint32_t blocks = 0;
    for (uint32_t at = 0; at < count; at += m->block_bytes, blocks++) {
        const uint32_t block = take_block(m);
        const uint32_t part = count - at < m->block_bytes ? count - at : m->block_bytes;
        memcpy(m->data + (size_t)block * m->block_bytes, bytes + at, part);
        put_u32(list + 4 * (size_t)blocks, block);
    }
    return blocks;
}

static struct made make(uint32_t block_bytes, uint32_t streams, bool empty)
{
    struct made m = {NULL, block_bytes, 0, 0};
    const uint32_t directory_bytes = 4 + (empty ? 4 : 8) * streams;
    m.block_count = (empty ? 0 : streams) + 2 * (directory_bytes / block_bytes + 8) +
                    2 * ((empty ? 0 : streams) / 200 + 8);
    m.next = m.block_count;
    m.data = calloc(m.block_count, block_bytes);
    uint8_t *directory = calloc(1, directory_bytes), *list = calloc(1, directory_bytes + 64);
    REQUIRE(m.data != NULL && directory != NULL && list != NULL);
    put_u32(directory, streams);
    for (uint32_t i = 0; i < streams && !empty; i++) {
        const uint8_t byte = (uint8_t)i;
        put_u32(directory + 4 + 4 * (size_t)i, 1);
        (void)spread(&m, &byte, 1, directory + 4 + 4 * (size_t)streams + 4 * (size_t)i);
    }
    const uint32_t blocks = spread(&m, directory, directory_bytes, list);
    memcpy(m.data, "Microsoft C/C++ MSF 7.00\r\n\x1a\x44\x53\0\0", 32);
    put_u32(m.data + 32, block_bytes);
    put_u32(m.data + 36, 1);
    put_u32(m.data + 40, m.block_count);
    put_u32(m.data + 44, directory_bytes);
    (void)spread(&m, list, 4 * blocks, m.data + 52);
    free(directory);
    free(list);
    return m;
}

TEST(streams_of_every_block_size)
{
    static const struct {
        const char *name;
        uint32_t block_bytes, streams;
    } rows[] = {
        {"512, a small directory", 512, 10},
        {"512, a directory of many blocks", 512, 5000},
        {"512, its list fills a block to the end", 512, 8191},
        {"512, its list takes two blocks", 512, 8192},
        {"512, its list takes several blocks", 512, 60000},
        {"1024", 1024, 40000},
        {"4096", 4096, 2000},
        {"8192", 8192, 100},
        {"32768", 32768, 3},
        {"1 MiB, the largest", 1 << 20, 3},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fault fault = FAULT_INIT;
        struct arena copies;
        struct msf msf;
        uint32_t wrong = 0;
        test_row(rows[i].name);
        struct made m = make(rows[i].block_bytes, rows[i].streams, false);
        arena_init(&copies, 0);
        REQUIRE(msf_open(m.data, (size_t)m.block_count * m.block_bytes, &copies, &msf, &fault) ==
                ERR_NONE);
        CHECK_EQ(msf.stream_count, rows[i].streams);
        for (uint32_t k = 0; k < rows[i].streams; k++) {
            const struct msf_stream stream = msf_stream(&msf, k);
            uint8_t byte = 0;
            wrong += stream.bytes != 1 || !msf_copy(&stream, 0, 1, &byte) || byte != (uint8_t)k;
        }
        CHECK_EQ(wrong, 0);
        arena_free(&copies);
        free(m.data);
    }
}

TEST(superblocks_that_later_code_would_trust_are_refused)
{
    static const struct {
        const char *name;
        uint32_t at, value;
    } rows[] = {
        {"no block size", 32, 0},
        {"block size 3", 32, 3},
        {"block size 2^31", 32, 1U << 31},
        {"no directory", 44, 0},
        {"a directory of 4 GiB", 44, UINT32_MAX},
        {"a list of the directory larger than the superblock has room for", 44, 512 * 128 * 200},
        {"no blocks", 40, 0},
        {"more blocks than the file has", 40, 10000},
        {"the list past the end", 52, 1U << 30},
        {"the list in the superblock", 52, 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fault fault = FAULT_INIT;
        struct arena copies;
        struct msf msf;
        test_row(rows[i].name);
        struct made m = make(512, 10, false);
        put_u32(m.data + rows[i].at, rows[i].value);
        arena_init(&copies, 0);
        CHECK(msf_open(m.data, (size_t)m.block_count * 512, &copies, &msf, &fault) != ERR_NONE);
        CHECK(fault.what != NULL);
        arena_free(&copies);
        free(m.data);
    }
}

TEST(a_directory_may_be_full_of_empty_streams)
{
    static const struct {
        const char *name;
        uint32_t streams, more; /* MORE: than the directory has sizes of */
        enum status status;
    } rows[] = {
        {"no stream", 0, 0, ERR_NONE},
        {"a count of streams without their sizes", 0, 1, ERR_MALFORMED},
        {"sizes to the last byte", 10, 0, ERR_NONE},
        {"a size is missing", 10, 1, ERR_MALFORMED},
        {"as many as are read", LIMIT_PDB_STREAMS, 0, ERR_NONE},
        {"one more", LIMIT_PDB_STREAMS + 1, 0, ERR_MALFORMED},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fault fault = FAULT_INIT;
        struct arena copies;
        struct msf msf;
        test_row(rows[i].name);
        struct made m = make(4096, rows[i].streams, true);
        const uint32_t list = load_u32(m.data + 52), first = load_u32(m.data + (size_t)list * 4096);
        put_u32(m.data + (size_t)first * 4096, rows[i].streams + rows[i].more);
        arena_init(&copies, 0);
        CHECK_EQ(msf_open(m.data, (size_t)m.block_count * 4096, &copies, &msf, &fault),
                 rows[i].status);
        if (fault.code == ERR_NONE)
            CHECK_EQ(msf.stream_count, rows[i].streams);
        arena_free(&copies);
        free(m.data);
    }
}

TEST(what_is_no_pdb_is_named)
{
    static const struct {
        const char *name, *start;
        size_t bytes;
        enum status status;
        const char *what, *hint; /* HINT NULL: none */
    } rows[] = {
        {"an image", "MZ", 64, ERR_UNSUPPORTED, "PDB signature",
         "this is an image: --symbols takes it"},
        {"zeros", "", 64, ERR_UNSUPPORTED, "PDB signature", "this file is no PDB"},
        {"a byte less than a signature", "", 31, ERR_TRUNCATED, "PDB signature", NULL},
        {"as long as a signature", "", 32, ERR_UNSUPPORTED, "PDB signature", "this file is no PDB"},
        {"a short image", "MZ", 31, ERR_TRUNCATED, "PDB signature", NULL},
        {"managed", "BSJB", 4, ERR_UNSUPPORTED, "portable PDB (managed code)",
         "native frames need the native PDB"},
        {"three bytes of it", "BSJB", 3, ERR_TRUNCATED, "PDB signature", NULL},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fault fault = FAULT_INIT;
        uint8_t data[64] = {0};
        struct arena copies;
        struct msf msf;
        test_row(rows[i].name);
        memcpy(data, rows[i].start, strlen(rows[i].start));
        uint8_t *copy = test_copy(data, rows[i].bytes);
        arena_init(&copies, 0);
        CHECK_EQ(msf_open(copy, rows[i].bytes, &copies, &msf, &fault), rows[i].status);
        CHECK_STR(fault.what, rows[i].what);
        CHECK_STR(fault.hint, rows[i].hint);
        arena_free(&copies);
        free(copy);
    }
}
