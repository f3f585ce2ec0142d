/* Cabinets of Microsoft's makecab: what is in them, and damaged ones; and small ones by hand, after
 * [MS-CAB]. */
#include <stdlib.h>
#include <string.h>

#include "format/cab/cab.h"
#include "test.h"

static enum status unpack(const uint8_t *data, size_t bytes, size_t most, uint8_t **out,
                          size_t *out_bytes)
{
    struct fault fault = FAULT_INIT;
    const enum status status = cab_unpack(data, bytes, most, out, out_bytes, &fault);
    CHECK_EQ(status, fault.code);
    CHECK((status == ERR_NONE) == (*out != NULL));
    return status;
}

TEST(the_file_of_a_cabinet_is_unpacked)
{
    size_t bytes, want_bytes, out_bytes;
    uint8_t *out;
    const uint8_t *data = test_read(test_fixture("g02-basic32-x86/basic32.pd_"), &bytes);
    const uint8_t *want = test_read(test_fixture("g02-basic32-x86/basic32.pdb"), &want_bytes);
    static const struct {
        const char *name;
        int64_t room; /* more than the file has */
        enum status status;
    } rows[] = {{"room to spare", 1 << 20, ERR_NONE},
                {"room for exactly the file", 0, ERR_NONE},
                {"room for a byte less", -1, ERR_LIMIT},
                {"more room than there is memory", INT64_MAX / 2, ERR_NONE}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        const size_t most = (size_t)((int64_t)want_bytes + rows[i].room);
        CHECK_EQ(unpack(data, bytes, most, &out, &out_bytes), rows[i].status);
        if (out != NULL && CHECK_EQ(out_bytes, want_bytes))
            CHECK(memcmp(out, want, want_bytes) == 0);
        free(out);
    }
}

TEST(what_is_no_whole_cabinet_is_refused)
{
    size_t bytes, out_bytes;
    uint8_t *out;
    const uint8_t *data = test_read(test_fixture("g02-basic32-x86/basic32.pd_"), &bytes);
    static const struct {
        const char *name;
        size_t bytes; /* 0: all */
        size_t at;    /* of a byte that is changed; 0: none */
        enum status status;
    } rows[] = {{"nothing", 3, 0, ERR_UNSUPPORTED},
                {"another signature", 0, 1, ERR_UNSUPPORTED},
                {"its signature alone", 4, 0, ERR_MALFORMED},
                {"cut in the header", 30, 0, ERR_MALFORMED},
                {"cut in the file", 100000, 0, ERR_MALFORMED},
                {"a byte of the file changed", 0, 5000, ERR_MALFORMED},
                {"no file in it", 0, 0x1c, ERR_MALFORMED}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const size_t count = rows[i].bytes != 0 ? rows[i].bytes : bytes;
        static uint8_t copy[1 << 21];
        REQUIRE(count <= sizeof copy);
        memcpy(copy, data, count);
        if (rows[i].at != 0)
            copy[rows[i].at] ^= 0x01;
        test_row(rows[i].name);
        CHECK_EQ(unpack(copy, count, (size_t)1 << 26, &out, &out_bytes), rows[i].status);
        free(out);
    }
}

static void put(uint8_t *data, size_t *at, uint32_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        data[(*at)++] = i < 4 ? (uint8_t)(value >> 8 * i) : 0;
}

/* CFHEADER, CFFOLDER, CFFILE and CFDATA of one file that is not compressed. Reserved bytes come
 * after the header, after the folder's row and in the head of the data. */
TEST(reserved_bytes_of_a_cabinet_are_passed)
{
    enum { RESERVE_PRESENT = 4, NOT_COMPRESSED = 0, ROOM = 256 };
    static const char text[] = "five!";
    static const struct {
        const char *name;
        uint32_t flags, header, folder, data; /* reserved bytes, as stated */
        uint32_t header_there;                /* as the file has them */
        int32_t start;                        /* the place of the data, beside the right one */
        uint32_t file_bytes, end;             /* bytes cut from the end */
        enum status status;
    } rows[] = {
        {"none", 0, 0, 0, 0, 0, 0, 5, 0, ERR_NONE},
        {"of no bytes", RESERVE_PRESENT, 0, 0, 0, 0, 0, 5, 0, ERR_NONE},
        {"of each kind", RESERVE_PRESENT, 7, 3, 2, 7, 0, 5, 0, ERR_NONE},
        {"more than the file has", RESERVE_PRESENT, 60000, 0, 0, 7, 0, 5, 0, ERR_MALFORMED},
        {"data after the file", 0, 0, 0, 0, 0, 1000, 5, 0, ERR_MALFORMED},
        {"data of another place", 0, 0, 0, 0, 0, -8, 5, 0, ERR_MALFORMED},
        {"part of the data", 0, 0, 0, 0, 0, 0, 3, 0, ERR_NONE},
        {"more than the data", 0, 0, 0, 0, 0, 0, 6, 0, ERR_MALFORMED},
        {"a file of no bytes", 0, 0, 0, 0, 0, 0, 0, 0, ERR_NONE},
        {"cut in the data", 0, 0, 0, 0, 0, 0, 5, 1, ERR_MALFORMED},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const bool reserves = rows[i].flags != 0;
        uint8_t data[ROOM] = {'M', 'S', 'C', 'F'}, *out = NULL;
        size_t at = 8, out_bytes = 9;
        const uint32_t head = 36 + (reserves ? 4 + rows[i].header_there : 0);
        const uint32_t row = head + 8 + rows[i].folder, start = row + 16 + 2;
        test_row(rows[i].name);
        put(data, &at, start + 8 + rows[i].data + 5, 8); /* of the cabinet, and zeros */
        put(data, &at, row, 8);
        put(data, &at, 0x0103, 2); /* version 1.3 */
        put(data, &at, 1, 2);      /* folders */
        put(data, &at, 1, 2);      /* files */
        put(data, &at, rows[i].flags, 2);
        put(data, &at, 0, 4);
        if (reserves) {
            put(data, &at, rows[i].header, 2);
            put(data, &at, rows[i].folder, 1);
            put(data, &at, rows[i].data, 1);
            at += rows[i].header_there;
        }
        put(data, &at, (uint32_t)((int32_t)start + rows[i].start), 4);
        put(data, &at, 1, 2);
        put(data, &at, NOT_COMPRESSED, 2);
        at += rows[i].folder;
        put(data, &at, rows[i].file_bytes, 4);
        put(data, &at, 0, 12);
        memcpy(data + at, "a", 2);
        at += 2;
        put(data, &at, 0, 4); /* no checksum */
        put(data, &at, 5, 2);
        put(data, &at, 5, 2);
        at += rows[i].data;
        memcpy(data + at, text, 5);
        CHECK_EQ(unpack(data, at + 5 - rows[i].end, 1000, &out, &out_bytes), rows[i].status);
        if (out != NULL && CHECK_EQ(out_bytes, rows[i].file_bytes))
            CHECK_MEM(out, text, out_bytes);
        free(out);
    }
}
