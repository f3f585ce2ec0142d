/* Files that gzip 1.12, zstd 1.5.4 and xz 5.4.1 packed: "symbols\n" sixteen times. */
#include <stdlib.h>
#include <string.h>

#include "format/cab/unpack_file.h"
#include "test.h"

static const uint8_t gzip[] = {0x1f, 0x8b, 0x8,  0x0,  0x0,  0x0,  0x0,  0x0,  0x0,  0x3,  0x2b,
                               0xae, 0xcc, 0x4d, 0xca, 0xcf, 0x29, 0xe6, 0x2a, 0x1e, 0x20, 0x1a,
                               0x0,  0xa6, 0xdf, 0x7e, 0x9b, 0x80, 0x0,  0x0,  0x0};
static const uint8_t zstd[] = {0x28, 0xb5, 0x2f, 0xfd, 0x4,  0x58, 0x7d, 0x0, 0x0, 0x40,
                               0x73, 0x79, 0x6d, 0x62, 0x6f, 0x6c, 0x73, 0xa, 0x1, 0x0,
                               0x75, 0x69, 0xe1, 0x2,  0xd9, 0xf8, 0x18, 0xbd};
static const uint8_t xz[] = {
    0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x0,  0x0,  0x4,  0xe6, 0xd6, 0xb4, 0x46, 0x2, 0x0,  0x21, 0x1,
    0x16, 0x0,  0x0,  0x0,  0x74, 0x2f, 0xe5, 0xa3, 0xe0, 0x0,  0x7f, 0x0,  0xf, 0x5d, 0x0,  0x39,
    0x9e, 0x49, 0xdd, 0x94, 0x71, 0x47, 0x96, 0x7,  0x28, 0x31, 0xa3, 0x8e, 0x0, 0x0,  0x0,  0x0,
    0xa,  0x2c, 0x9e, 0x64, 0x5b, 0x10, 0x7a, 0xc0, 0x0,  0x1,  0x2b, 0x80, 0x1, 0x0,  0x0,  0x0,
    0xdf, 0xf6, 0x64, 0xa7, 0xb1, 0xc4, 0x67, 0xfb, 0x2,  0x0,  0x0,  0x0,  0x0, 0x4,  0x59, 0x5a};

enum { TEXT_BYTES = 128, PACKED_MOST = 256 };

static const struct {
    const char *name;
    const uint8_t *data;
    size_t bytes;
} files[] = {{"gzip", gzip, sizeof gzip}, {"zstd", zstd, sizeof zstd}, {"xz", xz, sizeof xz}};

static enum status unpack(const uint8_t *data, size_t bytes, size_t most, uint8_t **out,
                          size_t *out_bytes)
{
    struct fault fault = FAULT_INIT;
    const enum status status = packed_unpack(data, bytes, most, out, out_bytes, &fault);
    CHECK_EQ(status, fault.code);
    CHECK((status == ERR_NONE) == (*out != NULL));
    return status;
}

static bool is_text(const uint8_t *data, size_t bytes, size_t times)
{
    bool same = bytes == times * TEXT_BYTES;
    for (size_t i = 0; same && i < bytes; i++)
        same = data[i] == "symbols\n"[i % 8];
    return same;
}

TEST(a_packed_file_is_unpacked_up_to_a_limit)
{
    static const struct {
        const char *name;
        size_t copies, most;
        enum status status;
    } rows[] = {
        {"room to spare", 1, 1 << 20, ERR_NONE},
        {"room for exactly the file", 1, TEXT_BYTES, ERR_NONE},
        {"room for a byte less", 1, TEXT_BYTES - 1, ERR_LIMIT},
        {"no room", 1, 0, ERR_LIMIT},
        {"one after another", 2, 1 << 20, ERR_NONE},
        {"one after another, and room for one", 2, TEXT_BYTES, ERR_LIMIT},
    };
    for (size_t i = 0; i < COUNT_OF(rows) * COUNT_OF(files); i++) {
        const size_t row = i / COUNT_OF(files), file = i % COUNT_OF(files);
        uint8_t data[2 * PACKED_MOST], *out;
        size_t bytes = 0, out_bytes;
        test_row(rows[row].name);
        for (size_t k = 0; k < rows[row].copies; k++, bytes += files[file].bytes)
            memcpy(data + bytes, files[file].data, files[file].bytes);
        CHECK(packed_recognize(data, bytes));
        CHECK_EQ(unpack(data, bytes, rows[row].most, &out, &out_bytes), rows[row].status);
        if (out != NULL)
            CHECK(is_text(out, out_bytes, rows[row].copies));
        free(out);
    }
}

/* RFC 1952, RFC 8878 and the format of .xz: each ends with a checksum. */
TEST(a_packed_file_that_is_cut_or_changed_is_damaged)
{
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        uint8_t *out;
        size_t out_bytes;
        test_row(files[i].name);
        for (size_t bytes = 0; bytes < files[i].bytes; bytes++) {
            uint8_t *cut = malloc(bytes + 1);
            REQUIRE(cut != NULL);
            memcpy(cut, files[i].data, bytes);
            const bool known = packed_recognize(cut, bytes);
            CHECK_EQ(unpack(cut, bytes, 1 << 20, &out, &out_bytes),
                     known ? ERR_MALFORMED : ERR_UNSUPPORTED);
            free(cut);
        }
        for (size_t at = 0; at < files[i].bytes; at++) {
            uint8_t changed[PACKED_MOST];
            memcpy(changed, files[i].data, files[i].bytes);
            changed[at] ^= 0xff;
            (void)unpack(changed, files[i].bytes, 1 << 20, &out, &out_bytes);
            free(out);
        }
    }
}
