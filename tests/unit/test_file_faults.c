/* What the system refuses: each refusal is a fault with the path, and leaves nothing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/files.h"
#include "base/limits.h"
#include "test.h"

enum { LONG = 5000 };

/* A path of the folder for this test; LEAF "*": of LONG letters. */
static const char *path_of(const char *leaf)
{
    static char path[LONG + 700];
    const size_t at = (size_t)snprintf(path, sizeof path, "%s/", test_scratch());
    if (strcmp(leaf, "*") == 0) {
        memset(path + at, 'a', LONG);
        path[at + LONG] = '\0';
    } else {
        (void)snprintf(path + at, sizeof path - at, "%s", leaf);
    }
    return path;
}

static uint32_t files_of_scratch(void)
{
    struct fault fault = FAULT_INIT;
    const char **names;
    struct arena keep;
    size_t count = 0;
    arena_init(&keep, 0);
    CHECK_EQ(folder_list(test_scratch(), &keep, &names, &count, &fault), ERR_NONE);
    arena_free(&keep);
    return (uint32_t)count;
}

TEST(folders_that_cannot_be_made)
{
    static const struct {
        const char *name, *leaf;
        enum status status;
        const char *what; /* NULL: it is made */
    } rows[] = {
        {"one folder", "a", ERR_NONE, NULL},
        {"that is there", "a", ERR_NONE, NULL},
        {"and those above it", "b/c/d", ERR_NONE, NULL},
        {"with a slash at its end", "e/", ERR_NONE, NULL},
        {"a file is there", "file", ERR_IO, "folder to make: a file is in the way"},
        {"a file is above it", "file/c", ERR_IO, "folder to make: a file is in the way"},
        {"a name of more bytes than a path has", "*", ERR_IO, "folder to make"},
    };
    test_write(path_of("file"), "x", 1);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fault fault = FAULT_INIT;
        const char *path = path_of(rows[i].leaf);
        test_row(rows[i].name);
        CHECK_EQ(folder_make(path, &fault), rows[i].status);
        CHECK_EQ(path_is_folder(path), rows[i].what == NULL);
        if (rows[i].what != NULL) {
            CHECK_STR(fault.what, rows[i].what);
            CHECK(strncmp(fault.path, test_scratch(), strlen(test_scratch())) == 0);
        }
    }
    struct fault fault = FAULT_INIT;
    CHECK_EQ(folder_make("", &fault), ERR_ABSENT);
}

TEST(files_that_cannot_be_written)
{
    static const struct {
        const char *name, *leaf;
        enum status status;
    } rows[] = {
        {"a folder is there", "folder", ERR_IO},
        {"no folder is there", "none/file", ERR_ABSENT},
        {"a name of more bytes than a path has", "*", ERR_IO},
    };
    struct fault made = FAULT_INIT;
    REQUIRE(folder_make(path_of("folder"), &made) == ERR_NONE);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fault fault = FAULT_INIT;
        test_row(rows[i].name);
        CHECK_EQ(file_write(path_of(rows[i].leaf), "text", 4, &fault), rows[i].status);
        CHECK_STR(fault.what, "file to write");
        CHECK_EQ(files_of_scratch(), 1); /* nothing unfinished is left */
    }
}

TEST(files_that_cannot_be_read)
{
    static const struct {
        const char *name, *leaf;
        enum status status;
        const char *what;
    } rows[] = {
        {"not there", "none", ERR_ABSENT, "file"},
        {"a folder", "", ERR_UNSUPPORTED, "not a regular file"},
        {"of more bytes than are read", "huge", ERR_LIMIT, "file larger than this program reads"},
    };
    FILE *huge = fopen(path_of("huge"), "wb");
    REQUIRE(huge != NULL);
    const bool sparse = ftruncate(fileno(huge), (off_t)(LIMIT_FILE_BYTES + 1)) == 0;
    REQUIRE(fclose(huge) == 0);
    for (size_t i = 0; i < COUNT_OF(rows) - !sparse; i++) {
        struct fault fault = FAULT_INIT;
        struct file_map map = {.bytes = 7};
        test_row(rows[i].name);
        CHECK_EQ(file_map(path_of(rows[i].leaf), &map, &fault), rows[i].status);
        CHECK_STR(fault.what, rows[i].what);
        CHECK_STR(fault.path, path_of(rows[i].leaf));
        CHECK_EQ(map.bytes, 0);
        CHECK(map.data == NULL);
    }
}

TEST(an_empty_file_is_read)
{
    struct fault fault = FAULT_INIT;
    struct file_map map;
    test_write(path_of("empty"), "", 0);
    REQUIRE(file_map(path_of("empty"), &map, &fault) == ERR_NONE);
    CHECK_EQ(map.bytes, 0);
    CHECK(map.data != NULL);
    file_unmap(&map);
}

TEST(what_is_below_a_folder)
{
    static const struct {
        const char *path, *folder;
        bool is;
    } rows[] = {
        {"/a/b", "/a", true},   {"/a/b", "/a/", true}, {"/a/b", "/a//", true},
        {"/a/b/c", "/a", true}, {"/a", "/a", false},   {"/ab", "/a", false},
        {"/b/a", "/a", false},  {"a/b", "a", true},    {"/a/b", "/a/b/c", false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].path);
        CHECK_EQ(path_is_below(rows[i].path, rows[i].folder), rows[i].is);
    }
}

TEST(paths_that_are_removed)
{
    struct fault fault = FAULT_INIT;
    CHECK_EQ(path_remove(path_of("none"), &fault), ERR_NONE); /* there is none */
    CHECK_EQ(folder_make(path_of("a/b"), &fault), ERR_NONE);
    test_write(path_of("a/b/c"), "x", 1);
    test_write(path_of("file"), "x", 1);
    CHECK_EQ(path_remove(path_of("a"), &fault), ERR_NONE);
    CHECK_EQ(path_remove(path_of("file"), &fault), ERR_NONE);
    CHECK_EQ(files_of_scratch(), 0);
    CHECK_EQ(path_remove(path_of("*"), &fault), ERR_IO);
    CHECK_STR(fault.what, "path to remove");
}
