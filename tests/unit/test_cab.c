/* Cabinets of Microsoft's makecab: what is in them, and damaged ones. */
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
                {"room for a byte less", -1, ERR_LIMIT}};
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
