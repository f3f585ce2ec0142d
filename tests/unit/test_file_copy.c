/* A copy may share the bytes of its original, so what is copied over it must not reach them. */
#include <stdio.h>
#include <string.h>
#ifdef _WIN32
#include <io.h>
#define chmod _chmod
#endif
#include <sys/stat.h>

#include "base/files.h"
#include "test.h"

/* Fixtures are read-only where the tests of a strange machine run. */
TEST(a_copy_over_a_copy_leaves_the_original)
{
    static const char first[] = "first", second[] = "the second";
    static const bool rows[] = {false, true}; /* is the original read-only? */
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fault fault = FAULT_INIT;
        char original[600], other[600], copy[600];
        size_t bytes = 0;
        test_row(rows[i] ? "read-only" : "writable");
        (void)snprintf(original, sizeof original, "%s/original%zu", test_scratch(), i);
        (void)snprintf(other, sizeof other, "%s/other%zu", test_scratch(), i);
        (void)snprintf(copy, sizeof copy, "%s/copy%zu", test_scratch(), i);
        test_write(original, first, sizeof first - 1);
        test_write(other, second, sizeof second - 1);
        REQUIRE(chmod(original, rows[i] ? 0400 : 0600) == 0);
        REQUIRE(file_copy(original, copy, &fault) == ERR_NONE);
        CHECK(memcmp(test_read(copy, &bytes), first, sizeof first - 1) == 0);
        CHECK_EQ(bytes, sizeof first - 1);
        REQUIRE(file_copy(other, copy, &fault) == ERR_NONE);
        CHECK(memcmp(test_read(copy, &bytes), second, sizeof second - 1) == 0);
        CHECK_EQ(bytes, sizeof second - 1);
        CHECK(memcmp(test_read(original, &bytes), first, sizeof first - 1) == 0);
        CHECK_EQ(bytes, sizeof first - 1);
        REQUIRE(chmod(original, 0600) == 0); /* or the folder stays */
    }
}

/* What a peek reads is what the map has, and of the file that was mapped alone. */
TEST(a_mapped_file_is_peeked_into)
{
    struct fault fault = FAULT_INIT;
    char path[512], other[512], to[4] = "";
    struct file_map map;
    struct file_peek peek;
    (void)snprintf(path, sizeof path, "%s/peeked", test_scratch());
    (void)snprintf(other, sizeof other, "%s/other", test_scratch());
    test_write(path, "0123456789", 10);
    REQUIRE(file_map(path, &map, &fault) == ERR_NONE);
    file_peek_open(path, &map, &peek);
#ifndef _WIN32
    CHECK(file_peek(&peek, map.data + 7, 3, to));
    CHECK_STR(to, "789");
#endif
    static const struct {
        const char *name;
        size_t at, bytes;
    } rows[] = {{"past the end", 8, 3}, {"after the end", 10, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        test_row(rows[i].name);
        CHECK(!file_peek(&peek, map.data + rows[i].at, rows[i].bytes, to));
    }
    CHECK(!file_peek(&peek, (const uint8_t *)to, 1, to));
    file_peek_close(&peek);
    CHECK(!file_peek(&peek, map.data, 1, to));
    test_write(other, "abcdefghij", 10);
#ifndef _WIN32 /* where a file that is mapped cannot be replaced */
    REQUIRE(file_move(other, path, &fault) == ERR_NONE);
    file_peek_open(path, &map, &peek);
    CHECK(!file_peek(&peek, map.data, 1, to));
    file_peek_close(&peek);
#endif
    file_unmap(&map);
}
