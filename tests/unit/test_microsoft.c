/* Where Microsoft's debugger files are and which version they have. The image is by Microsoft's "PE
 * Format": the resource tree (directory, entries, data entry); VS_FIXEDFILEINFO by the Windows SDK.
 */
#include <stdio.h>
#include <string.h>

#include "base/files.h"
#include "engine/microsoft.h"
#include "test.h"

enum {
    FILE_BYTES = 0x400,
    PE_AT = 0x80,
    OPTIONAL_BYTES = 112 + 16 * 8,
    SECTION_AT = PE_AT + 24 + OPTIONAL_BYTES,
    RESOURCES_AT = 0x200, /* in the file; at 0x1000 in memory */
    TYPE_AT = 0x20,       /* from there on: the directory of names */
    NAME_AT = 0x38,       /* of languages */
    DATA_AT = 0x50,
    INFO_AT = 0x60,
    INFO_BYTES = 40 + 52,
    X64 = 0x8664,
    X86 = 0x14c,
    ARM64 = 0xaa64
};

#define DIRECTORY 0x80000000u /* an entry that leads to one */

static void put(uint8_t *at, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        at[i] = (uint8_t)(value >> 8 * i);
}

/* A directory with one numbered entry. */
static void put_directory(uint8_t *at, uint32_t id, uint32_t place)
{
    put(at + 14, 1, 2);
    put(at + 16, id, 4);
    put(at + 20, place, 4);
}

/* An image of version 10.0.22621.755. */
static void make(uint8_t file[FILE_BYTES], uint16_t machine)
{
    uint8_t *optional = file + PE_AT + 24, *section = file + SECTION_AT;
    uint8_t *tree = file + RESOURCES_AT;
    memset(file, 0, FILE_BYTES);
    memcpy(file, "MZ", 2);
    put(file + 60, PE_AT, 4);
    memcpy(file + PE_AT, "PE\0\0", 4);
    put(file + PE_AT + 4, machine, 2);
    put(file + PE_AT + 6, 1, 2);
    put(file + PE_AT + 20, OPTIONAL_BYTES, 2);
    put(optional, 0x20b, 2);
    put(optional + 56, 0x2000, 4);
    put(optional + 60, RESOURCES_AT, 4);
    put(optional + 108, 16, 4);
    put(optional + 128, 0x1000 | (uint64_t)0x200 << 32, 8);
    memcpy(section, ".rsrc", 5);
    put(section + 8, 0x200, 4);
    put(section + 12, 0x1000, 4);
    put(section + 16, 0x200, 4);
    put(section + 20, RESOURCES_AT, 4);
    put_directory(tree, 16, DIRECTORY | TYPE_AT);
    put_directory(tree + TYPE_AT, 1, DIRECTORY | NAME_AT);
    put_directory(tree + NAME_AT, 1033, DATA_AT);
    put(tree + DATA_AT, 0x1000 + INFO_AT, 4);
    put(tree + DATA_AT + 4, INFO_BYTES, 4);
    put(tree + INFO_AT + 40, 0xfeef04bd, 4);
    put(tree + INFO_AT + 48, 10 << 16, 4);
    put(tree + INFO_AT + 52, (uint32_t)22621 << 16 | 755, 4);
}

static const char *path_of(const char *name, struct arena *keep)
{
    return path_join(keep, test_scratch(), name);
}

struct change {
    uint32_t at; /* of the resources */
    uint64_t value;
    uint32_t bytes; /* 0: no change */
};

TEST(a_version_is_read_of_the_resource)
{
    static const struct {
        const char *name;
        struct change changes[4];
        const char *version;
    } rows[] = {
        {"as it is", {{0, 0, 0}}, "10.0.22621.755"},
        {"each number", {{INFO_AT + 48, 0x0004000300020001, 8}}, "2.1.4.3"},
        {"of another name and language",
         {{TYPE_AT + 16, 77, 4}, {NAME_AT + 16, 0, 4}},
         "10.0.22621.755"},
        {"an entry that has a name", {{12, 1, 2}, {14, 0, 2}}, "10.0.22621.755"},
        {"no entry", {{14, 0, 2}}, NULL},
        {"no entry below", {{NAME_AT + 14, 0, 2}}, NULL},
        {"of another type", {{16, 24, 4}}, NULL},
        {"a type that is no directory", {{20, TYPE_AT, 4}}, NULL},
        {"a name that is no directory", {{TYPE_AT + 20, NAME_AT, 4}}, NULL},
        {"a directory after the end", {{20, DIRECTORY | 0x201, 4}}, NULL},
        {"a directory without room", {{20, DIRECTORY | 0x1f1, 4}}, NULL},
        {"data after the end", {{NAME_AT + 20, 0x201, 4}}, NULL},
        {"data without room", {{NAME_AT + 20, 0x1f9, 4}}, NULL},
        {"no data", {{NAME_AT + 20, 0, 4}}, NULL},
        {"information outside of the image", {{DATA_AT, 0x3000, 4}}, NULL},
        {"information that is cut", {{DATA_AT, 0x1000 + 0x200 - INFO_BYTES + 1, 4}}, NULL},
        {"another signature", {{INFO_AT + 40, 0xfeef04bc, 4}}, NULL},
        {"information up to the last byte",
         {{DATA_AT, 0x1000 + 0x200 - INFO_BYTES, 4},
          {0x200 - INFO_BYTES + 40, 0xfeef04bd, 4},
          {0x200 - INFO_BYTES + 48, 0x0004000300020001, 8}},
         "2.1.4.3"},
        {"data up to the last byte",
         {{NAME_AT + 20, 0x1f8, 4}, {0x1f8, 0x1000 + INFO_AT, 4}},
         "10.0.22621.755"},
        {"a directory up to the last byte",
         {{NAME_AT + 20, DATA_AT, 4},
          {TYPE_AT + 20, DIRECTORY | 0x1e8, 4},
          {0x1e8 + 14, 1, 2},
          {0x1e8 + 16, (uint64_t)DATA_AT << 32 | 1033, 8}},
         "10.0.22621.755"},
        {"more entries than there is room for",
         {{20, DIRECTORY | 0x1f0, 4}, {0x1f0 + 14, 9, 2}},
         NULL},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        uint8_t file[FILE_BYTES];
        struct arena keep;
        arena_init(&keep, 0);
        test_row(rows[i].name);
        make(file, X64);
        for (size_t k = 0; k < COUNT_OF(rows[i].changes); k++)
            put(file + RESOURCES_AT + rows[i].changes[k].at, rows[i].changes[k].value,
                rows[i].changes[k].bytes);
        test_write(path_of("a.dll", &keep), file, sizeof file);
        CHECK_STR(microsoft_version(path_of("a.dll", &keep), &keep), rows[i].version);
        arena_free(&keep);
    }
}

/* The second of two types, before a third one. */
TEST(a_version_is_found_among_other_resources)
{
    static const uint32_t ids[] = {3, 16, 24};
    uint8_t file[FILE_BYTES], *tree = file + RESOURCES_AT;
    struct arena keep;
    arena_init(&keep, 0);
    make(file, X64);
    memset(tree, 0, INFO_AT);
    put(tree + 14, COUNT_OF(ids), 2);
    for (size_t i = 0; i < COUNT_OF(ids); i++)
        put(tree + 16 + 8 * i, (uint64_t)(ids[i] == 16 ? DIRECTORY | 0x100 : 0) << 32 | ids[i], 8);
    put_directory(tree + 0x100, 1, DIRECTORY | 0x118);
    put_directory(tree + 0x118, 1033, 0x130);
    put(tree + 0x130, 0x1000 + INFO_AT, 4);
    test_write(path_of("a.dll", &keep), file, sizeof file);
    CHECK_STR(microsoft_version(path_of("a.dll", &keep), &keep), "10.0.22621.755");
    test_write(path_of("a.dll", &keep), "MZ", 2);
    CHECK_STR(microsoft_version(path_of("a.dll", &keep), &keep), NULL);
    CHECK_STR(microsoft_version(path_of("none.dll", &keep), &keep), NULL);
    arena_free(&keep);
}

/* Writes dbghelp.dll for MACHINE into FOLDER, below the folder NAME; MARK: what Wine writes at
 * 0x40. */
static void install(const char *name, const char *folder, uint16_t machine, const char *mark,
                    struct arena *keep)
{
    struct fault fault = FAULT_INIT;
    uint8_t file[FILE_BYTES];
    const char *place = path_join(keep, path_of(name, keep), folder);
    make(file, machine);
    memcpy(file + 0x40, mark, strlen(mark));
    REQUIRE(folder_make(place, &fault) == ERR_NONE);
    test_write(path_join(keep, place, "dbghelp.dll"), file, sizeof file);
}

TEST(files_are_found_by_their_processor)
{
    static const struct {
        const char *name, *folder;
        uint16_t machine;
        const char *mark;
        bool x64, x86, arm64;
    } rows[] = {
        {"x64 itself", ".", X64, "", true, false, false},
        {"x86 itself", ".", X86, "", false, true, false},
        {"arm64 itself", ".", ARM64, "", false, false, true},
        {"in x64", "x64", X64, "", true, false, false},
        {"in amd64", "amd64", X64, "", true, false, false},
        {"in x86", "x86", X86, "", false, true, false},
        {"in arm64", "arm64", ARM64, "", false, false, true},
        {"in a folder of another one", "x86", X64, "", false, false, false},
        {"in a folder of another name", "x65", X64, "", false, false, false},
        {"Wine's", ".", X64, "Wine builtin DLL", false, false, false},
        {"a placeholder of Wine", ".", X64, "Wine placeholder DLL", false, false, false},
        {"another mark", ".", X64, "Wine building DLL", true, false, false},
        {"another processor", ".", 0x1c4, "", false, false, false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fault fault = FAULT_INIT;
        struct arena keep;
        const bool any = rows[i].x64 || rows[i].x86 || rows[i].arm64;
        arena_init(&keep, 0);
        test_row(rows[i].name);
        install(rows[i].name, rows[i].folder, rows[i].machine, rows[i].mark, &keep);
        CHECK_EQ(microsoft_set(path_of(rows[i].name, &keep), &fault), any ? ERR_NONE : ERR_ABSENT);
        if (!any)
            CHECK_STR(fault.path, path_of(rows[i].name, &keep));
        CHECK_EQ(microsoft_path(MICROSOFT_DBGHELP, CPU_X64, &keep) != NULL, rows[i].x64);
        CHECK_EQ(microsoft_path(MICROSOFT_DBGHELP, CPU_X86, &keep) != NULL, rows[i].x86);
        CHECK_EQ(microsoft_path(MICROSOFT_DBGHELP, CPU_ARM64, &keep) != NULL, rows[i].arm64);
        CHECK(microsoft_path(MICROSOFT_DBGCORE, CPU_X64, &keep) == NULL);
        CHECK(!microsoft_is_system());
        arena_free(&keep);
    }
}

TEST(a_folder_is_named_by_an_option_or_the_environment)
{
    struct fault fault = FAULT_INIT;
    struct arena keep;
    char name[5000];
    arena_init(&keep, 0);
    install("debugger", "x64", X64, "", &keep);
    const char *want = arena_printf(&keep, "%s/x64/dbghelp.dll", path_of("debugger", &keep));
    test_environment("TWINSTACK_DEBUGGER", path_of("debugger", &keep));
    microsoft_configure();
    CHECK_STR(microsoft_path(MICROSOFT_DBGHELP, CPU_X64, &keep), want);
    test_environment("TWINSTACK_DEBUGGER", "");
    microsoft_configure();
    CHECK_STR(microsoft_path(MICROSOFT_DBGHELP, CPU_X64, &keep), NULL);
    CHECK_EQ(microsoft_set(path_of("debugger", &keep), &fault), ERR_NONE);
    CHECK_STR(microsoft_path(MICROSOFT_DBGHELP, CPU_X64, &keep), want);
    memset(name, 'a', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    CHECK_EQ(microsoft_set(name, &fault), ERR_LIMIT);
    CHECK_STR(microsoft_path(MICROSOFT_DBGHELP, CPU_X64, &keep), NULL);
    arena_free(&keep);
}

TEST(each_file_has_its_name)
{
    CHECK_STR(microsoft_file_name(MICROSOFT_DBGHELP), "dbghelp.dll");
    CHECK_STR(microsoft_file_name(MICROSOFT_DBGCORE), "dbgcore.dll");
    CHECK_STR(microsoft_file_name(MICROSOFT_MSDIA), "msdia140.dll");
    CHECK_STR(microsoft_file_name(MICROSOFT_DBGENG), "dbgeng.dll");
    CHECK_STR(microsoft_file_name(MICROSOFT_DBGMODEL), "dbgmodel.dll");
}
