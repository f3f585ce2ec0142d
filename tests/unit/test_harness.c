/* What the options of a harness decide: the words of the launcher, and who writes dumps. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/files.h"
#include "engine/microsoft.h"
#include "test.h"
#include "verbs/harness.h"

TEST(a_launcher_is_split_into_words)
{
    static const char fifteen[] = "a b c d e f g h i j k l m n o";
    static const struct {
        const char *name, *launcher;
        bool fits;
        uint32_t words;
        const char *first, *last;
    } rows[] = {
        {"one", "wine", true, 1, "wine", "wine"},
        {"two", "env wine", true, 2, "env", "wine"},
        {"none: programs start as they are", "", true, 0, NULL, NULL},
        {"as many as there is room for", fifteen, true, 15, "a", "o"},
        {"one more", "a b c d e f g h i j k l m n o p", false, 0, NULL, NULL},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct harness harness;
        struct collect_options options = {.launcher = NULL};
        uint32_t words = 0;
        test_row(rows[i].name);
        harness_init(&harness);
        harness.victims = "v";
        harness.launcher = rows[i].launcher;
        harness.prefix = "p";
        CHECK_EQ(harness_options(&harness, &options), rows[i].fits);
        if (!rows[i].fits)
            continue;
        CHECK_STR(options.victims_folder, "v");
        CHECK_STR(options.prefix_folder, "p");
        while (options.launcher != NULL && options.launcher[words] != NULL)
            words++;
        CHECK_EQ(options.launcher != NULL, rows[i].words > 0);
        if (CHECK_EQ(words, rows[i].words) && words > 0) {
            CHECK_STR(options.launcher[0], rows[i].first);
            CHECK_STR(options.launcher[words - 1], rows[i].last);
        }
    }
}

/* The smallest header of an image of MACHINE, without a version: Microsoft's PE format. */
static void put_image(const char *folder, const char *name, uint16_t machine)
{
    uint8_t file[0x200] = {'M', 'Z'};
    char path[800];
    struct fault fault = FAULT_INIT;
    file[60] = 0x40;
    memcpy(file + 0x40, "PE\0\0", 4);
    file[0x44] = (uint8_t)machine;
    file[0x45] = (uint8_t)(machine >> 8);
    file[0x54] = 0xf0; /* bytes of the optional header */
    file[0x58] = 0x0b; /* which is that of PE32+ */
    file[0x59] = 0x02;
    REQUIRE(folder_make(folder, &fault) == ERR_NONE);
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    test_write(path, file, sizeof file);
}

/* With a d the folder has dbghelp.dll, with a c dbgcore.dll; capital letters: for x86. */
static void put_files(const char *folder, const char *files)
{
    enum { X64 = 0x8664, X86 = 0x014c };
    for (; *files != '\0'; files++) {
        const bool x86 = *files < 'a';
        char inner[700];
        (void)snprintf(inner, sizeof inner, "%s/%s", folder, x86 ? "x86" : "x64");
        put_image(inner, (*files | 0x20) == 'd' ? "dbghelp.dll" : "dbgcore.dll", x86 ? X86 : X64);
    }
}

/* shared/design: Microsoft's code where its files are, since a user of Windows compares with that.
 */
TEST(who_writes_dumps_is_said_or_follows_from_the_files)
{
    static const struct {
        const char *name, *files, *writer;
        bool no_prefix;
        enum status want;
        uint32_t dlls, dlls_x86;
    } rows[] = {
        {"no files", "", NULL, false, ERR_NONE, 0, 0},
        {"its files", "dc", NULL, false, ERR_NONE, 2, 0},
        {"for both processors", "dcDC", NULL, false, ERR_NONE, 2, 2},
        {"half of those for x86", "dcD", NULL, false, ERR_NONE, 2, 0},
        {"the writer alone is missing", "d", NULL, false, ERR_NONE, 0, 0},
        {"only those for x86", "DC", NULL, false, ERR_NONE, 0, 0},
        {"no prefix to put them into", "dc", NULL, true, ERR_NONE, 0, 0},
        {"Wine's although they are there", "dc", "wine", false, ERR_NONE, 0, 0},
        {"asked for", "dc", "microsoft", false, ERR_NONE, 2, 0},
        {"asked for, and not there", "", "microsoft", false, ERR_ABSENT, 0, 0},
        {"asked for, and not all there", "d", "microsoft", false, ERR_ABSENT, 0, 0},
        {"no such writer", "dc", "other", false, ERR_USAGE, 0, 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct harness harness;
        struct collect_options options = {.writer = NULL};
        struct fault fault = FAULT_INIT;
        struct arena keep;
        char folder[600];
        test_row(rows[i].name);
        arena_init(&keep, 0);
        (void)snprintf(folder, sizeof folder, "%s/%zu", test_scratch(), i);
        put_files(folder, rows[i].files);
        test_environment("TWINSTACK_DEBUGGER", folder);
        microsoft_configure();
        harness_init(&harness);
        harness.writer = rows[i].writer;
        harness.prefix = rows[i].no_prefix ? NULL : "p";
        CHECK_EQ(harness_writer(&harness, &keep, &options, &fault), rows[i].want);
        CHECK_STR(options.writer, rows[i].dlls > 0 ? "dbgcore of Microsoft" : NULL);
        CHECK_EQ(options.dlls != NULL, rows[i].dlls > 0);
        CHECK_EQ(options.dlls_x86 != NULL, rows[i].dlls_x86 > 0);
        if (options.dlls != NULL) {
            CHECK_HAS(options.dlls[0], "x64/dbghelp.dll");
            CHECK_HAS(options.dlls[1], "x64/dbgcore.dll");
            CHECK(options.dlls[2] == NULL);
        }
        if (options.dlls_x86 != NULL) {
            CHECK_HAS(options.dlls_x86[0], "x86/dbghelp.dll");
            CHECK_HAS(options.dlls_x86[1], "x86/dbgcore.dll");
        }
        arena_free(&keep);
    }
}
