/* Breakpad symbol files: records of both forms, rules of lookup, damage. */
#include <stdio.h>
#include <string.h>

#include "format/breakpad/breakpad.h"
#include "test.h"

static const char sample[] = "MODULE windows x86_64 3249d99d0c4049318610f4e4fb0b6936A app.pdb\r\n"
                             "INFO CODE_ID 5AB380779000 app.exe\n"
                             "INFO GENERATOR something\n"
                             "FILE 0 d:\\src\\main.c\n"
                             "FILE 3 d:\\src\\inline.h\n"
                             "INLINE_ORIGIN 0 outer_inlined(int)\n"
                             "INLINE_ORIGIN 7 inner_inlined\n"
                             "FUNC 1000 100 8 main(int, char **)\n"
                             "INLINE 0 12 0 0 1010 20 1050 10\n"
                             "INLINE 1 30 3 7 1018 8\n"
                             "1000 10 10 0\n"
                             "1010 8 31 3\n"
                             "1018 8 44 3\n"
                             "1020 d0 13 0\n"
                             "10f0 10 0 0\n"
                             "FUNC m 1200 10 0 folded_a\n"
                             "FUNC 1200 10 0 folded_b\n"
                             "PUBLIC 900 0 before_all\n"
                             "PUBLIC 1080 0 inside_main\n"
                             "PUBLIC m 1300 c after_all\n"
                             "STACK CFI INIT 1000 100 .cfa: $rsp 8 + .ra: .cfa 8 - ^\n"
                             "STACK CFI 1004 .cfa: $rsp 16 +\n"
                             "STACK WIN 4 1200 10 1 0 0 0 0 0 1 $T0 $ebp =\n";

static const char older[] = "MODULE Linux x86_64 BBA6FA10B8AAB33D00000000000000000 inline\n"
                            "FILE 0 a.cpp\n"
                            "FILE 1 b.cpp\n"
                            "INLINE_ORIGIN 0 0 foo()\n"
                            "INLINE_ORIGIN 1 1 bar()\n"
                            "FUNC 10 20 0 main\n"
                            "INLINE 0 42 0 10 10\n"
                            "INLINE 1 39 1 10 8\n"
                            "10 20 5 1\n";

static void open_text(const char *text, size_t bytes, struct breakpad *out)
{
    struct fault fault = FAULT_INIT;
    REQUIRE(breakpad_read(text, bytes, out, &fault) == ERR_NONE);
}

/* "name file:line; name file:line", innermost first. All are as far from the start of the symbol.
 */
static void describe(const struct breakpad *file, uint64_t rva, char *out, size_t room)
{
    struct breakpad_frame frames[BREAKPAD_FRAMES_MAX];
    const uint32_t count = breakpad_lookup(file, rva, frames);
    uint64_t begin = 0, end = 0;
    size_t n = 0;
    out[0] = '\0';
    CHECK_EQ(breakpad_range_at(file, rva, &begin, &end), count > 0);
    for (uint32_t i = 0; i < count; i++)
        CHECK_HEX(frames[i].distance, rva - begin);
    for (uint32_t i = 0; i < count && n < room; i++)
        n += (size_t)snprintf(out + n, room - n, "%s%s %s:%u%s", i > 0 ? "; " : "",
                              frames[i].name != NULL ? frames[i].name : "?",
                              frames[i].file != NULL ? frames[i].file : "?", frames[i].line,
                              frames[i].is_public ? " public" : "");
}

TEST(addresses_are_named_as_breakpad_does)
{
    static const struct {
        const char *name;
        uint64_t rva;
        const char *want;
    } rows[] = {
        {"before everything", 0x8ff, ""},
        {"a public alone", 0x950, "before_all ?:0 public"},
        {"first byte of a function", 0x1000, "main(int, char **) d:\\src\\main.c:10"},
        {"one level", 0x1010,
         "outer_inlined(int) d:\\src\\inline.h:31; main(int, char **) d:\\src\\main.c:12"},
        {"two levels", 0x1018,
         "inner_inlined d:\\src\\inline.h:44; outer_inlined(int) d:\\src\\inline.h:30; "
         "main(int, char **) d:\\src\\main.c:12"},
        {"a second range of a call", 0x1050,
         "outer_inlined(int) d:\\src\\main.c:13; main(int, char **) d:\\src\\main.c:12"},
        {"a function goes before a public in it", 0x1090, "main(int, char **) d:\\src\\main.c:13"},
        {"code without a line", 0x10f8, "main(int, char **) ?:0"},
        {"a public in a function does not name what follows", 0x1100, "inside_main ?:0 public"},
        {"of folded functions the first", 0x1208, "folded_a ?:0"},
        {"after a function no earlier public", 0x1210, ""},
        {"the last public", 0x7fffffff, "after_all ?:0 public"},
    };
    struct breakpad file;
    open_text(sample, sizeof sample - 1, &file);
    CHECK_EQ(file.damaged, 0);
    CHECK_STR(file.debug_id, "3249D99D0C4049318610F4E4FB0B6936a");
    CHECK_STR(file.module, "app.pdb");
    CHECK_STR(file.image, "app.exe");
    CHECK_STR(file.code_id, "5AB380779000");
    CHECK_EQ(file.stack_count, 3);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char text[512];
        test_row(rows[i].name);
        describe(&file, rows[i].rva, text, sizeof text);
        CHECK_STR(text, rows[i].want);
    }
    breakpad_close(&file);
}

/* A function has its range; after it a public holds up to the next symbol, if it is later than the
 * function. Bytes of parameters are those of either. */
TEST(ranges_and_parameters_are_of_the_last_symbol)
{
    static const struct {
        uint64_t rva, begin, end; /* BEGIN 0: none */
        uint32_t params, inlines;
    } rows[] = {
        {0x8ff, 0, 0, 0, 0},
        {0x900, 0x900, 0x1000, 0, 0},
        {0xfff, 0x900, 0x1000, 0, 0},
        {0x1000, 0x1000, 0x1100, 8, 3},
        {0x10ff, 0x1000, 0x1100, 8, 3},
        {0x1100, 0x1080, 0x1200, 0, 0},
        {0x1200, 0x1200, 0x1210, 0, 0},
        {0x120f, 0x1200, 0x1210, 0, 0},
        {0x1210, 0, 0, 0, 0},
        {0x12ff, 0, 0, 0, 0},
        {0x1300, 0x1300, UINT64_MAX, 12, 0},
        {0x9999, 0x1300, UINT64_MAX, 12, 0},
    };
    struct breakpad file;
    open_text(sample, sizeof sample - 1, &file);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        uint64_t begin = 0, end = 0;
        char name[32];
        (void)snprintf(name, sizeof name, "0x%x", (unsigned)rows[i].rva);
        test_row(name);
        CHECK_EQ(breakpad_range_at(&file, rows[i].rva, &begin, &end), rows[i].begin != 0);
        if (rows[i].begin != 0) {
            CHECK_HEX(begin, rows[i].begin);
            CHECK_HEX(end, rows[i].end);
        }
        CHECK_EQ(breakpad_params_at(&file, rows[i].rva), rows[i].params);
        CHECK_EQ(breakpad_inlines_around(&file, rows[i].rva), rows[i].inlines);
    }
    breakpad_close(&file);
}

static const char short_names[] = "MODULE Linux x86_64 BBA6FA10B8AAB33D00000000000000000 m\n"
                                  "FILE 9 f\nFILE 1 h\nINLINE_ORIGIN 3 o\nFUNC 10 10 0 g\n"
                                  "INLINE 0 7 9 3 10 8\n10 10 5 1\nPUBLIC 30 0 p\n";

TEST(names_of_one_letter_are_names)
{
    static const struct {
        uint64_t rva;
        const char *want;
    } rows[] = {{0x10, "o h:5; g f:7"}, {0x18, "g h:5"}, {0x20, ""}, {0x30, "p ?:0 public"}};
    struct breakpad file;
    char got[256];

    open_text(short_names, sizeof short_names - 1, &file);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        describe(&file, rows[i].rva, got, sizeof got);
        CHECK_STR(got, rows[i].want);
    }
    CHECK_STR(file.os, "Linux");
    CHECK_STR(file.arch, "x86_64");
    breakpad_close(&file);
}

/* Breakpad's format of symbol files: the nest level of an INLINE record says which call is in
 * which, not the place of the record. */
TEST(calls_are_nested_by_their_levels_in_any_order)
{
    static const char *const calls[] = {"INLINE 0 7 1 1 10 8\n", "INLINE 1 8 1 2 10 8\n",
                                        "INLINE 2 9 1 3 10 8\n"};
    static const struct {
        const char *name;
        int order[3];
    } rows[] = {{"outer first", {0, 1, 2}},  {"inner first", {2, 1, 0}},
                {"inner last", {1, 0, 2}},   {"middle last", {0, 2, 1}},
                {"middle first", {1, 2, 0}}, {"outer second", {2, 0, 1}}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct breakpad file;
        char text[512], got[256];
        const int *order = rows[i].order;
        const int bytes = snprintf(text, sizeof text,
                                   "MODULE Linux x86_64 BBA6FA10B8AAB33D00000000000000000 m\n"
                                   "FILE 1 a\nINLINE_ORIGIN 1 outer\nINLINE_ORIGIN 2 middle\n"
                                   "INLINE_ORIGIN 3 inner\nFUNC 10 10 0 f\n%s%s%s10 10 5 1\n",
                                   calls[order[0]], calls[order[1]], calls[order[2]]);
        test_row(rows[i].name);
        open_text(text, (size_t)bytes, &file);
        describe(&file, 0x12, got, sizeof got);
        CHECK_STR(got, "inner a:5; middle a:9; outer a:8; f a:7");
        breakpad_close(&file);
    }
}

TEST(the_older_form_of_inline_records_is_read)
{
    struct breakpad file;
    char text[512];
    open_text(older, sizeof older - 1, &file);
    CHECK_EQ(file.damaged, 0);
    describe(&file, 0x12, text, sizeof text);
    CHECK_STR(text, "bar() b.cpp:5; foo() a.cpp:39; main a.cpp:42");
    breakpad_close(&file);
}

TEST(damaged_lines_cost_themselves)
{
    static const struct {
        const char *name, *line;
        bool is_damage;
    } rows[] = {
        {"no word at all", "garbage", true},
        {"a function without a size", "FUNC 1000", true},
        {"a line before any function", "1000 10 1 0", true},
        {"an address of 65 bits", "PUBLIC 10000000000000000 0 far", true},
        {"a call with half a range", "FUNC 1 1 0 f\nINLINE 0 1 0 0 10 1 20 zz", true},
        {"a range that wraps", "FUNC 1 1 0 f\nffffffffffffffff 2 1 0", true},
        {"a line number of 33 bits", "FUNC 1 1 0 f\n1 1 4294967296 0", true},
        {"STACK of an unknown kind", "STACK XYZ 1 2", true},
        /* What covers no code; crash.sym, which Breakpad wrote by DIA, has 35 such lines. */
        {"a line of -1", "FUNC 1 1 0 f\n1 1 -1 0", false},
        {"a function that leaves 64 bits", "FUNC ffffffffffffffff 2 0 f", false},
        {"an empty line", "FUNC 1 1 0 f\n1 0 1 0", false},
        {"an empty call", "FUNC 1 1 0 f\nINLINE 0 1 0 0 1 0", false},
        {"an empty STACK WIN", "STACK WIN 4 1 0 0 0 0 0 0 0 1 $eip 4 + ^ =", false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct breakpad file;
        char text[512], shown[128];
        test_row(rows[i].name);
        const int bytes = snprintf(text, sizeof text,
                                   "MODULE Linux x86 ABC0 m\n%s\nPUBLIC 5 0 good\n", rows[i].line);
        open_text(text, (size_t)bytes, &file);
        CHECK_EQ(file.damaged, rows[i].is_damage);
        describe(&file, 6, shown, sizeof shown);
        CHECK_STR(shown, "good ?:0 public");
        breakpad_close(&file);
    }
}

TEST(files_without_a_whole_head_are_refused)
{
    static const struct {
        const char *name, *text;
        enum status want;
    } rows[] = {
        {"empty", "", ERR_UNSUPPORTED},
        {"another file", "FUNC 1000 10 0 main\n", ERR_UNSUPPORTED},
        {"no id", "MODULE windows x86\n", ERR_MALFORMED},
        {"no name", "MODULE windows x86 ABC0", ERR_MALFORMED},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct breakpad file;
        struct fault fault = FAULT_INIT;
        test_row(rows[i].name);
        CHECK_EQ(breakpad_read(rows[i].text, strlen(rows[i].text), &file, &fault), rows[i].want);
        breakpad_close(&file);
        fault_clear(&fault);
        CHECK_EQ(breakpad_read_identity(rows[i].text, strlen(rows[i].text), &file, &fault),
                 rows[i].want);
        breakpad_close(&file);
    }
}

/* "name=text;..." of the rules at RVA. */
static void describe_rules(const struct breakpad *file, uint64_t rva, char *out, size_t room)
{
    struct breakpad_rules rules;
    size_t n = 0;
    out[0] = '\0';
    if (!breakpad_cfi_at(file, rva, &rules))
        return;
    for (uint32_t i = 0; i < rules.count && n < room; i++)
        n += (size_t)snprintf(out + n, room - n, "%.*s=%.*s;", (int)rules.rules[i].name_bytes,
                              rules.rules[i].name, (int)rules.rules[i].text_bytes,
                              rules.rules[i].text);
}

TEST(rules_hold_from_their_address_to_the_end_of_their_record)
{
    static const char text[] = "MODULE Linux x86_64 ABC0 m\n"
                               "STACK CFI 1010 .cfa: $rbp 16 +\n"
                               "STACK CFI INIT 2000 10 .cfa: $rsp 8 + .ra: .cfa 8 - ^\n"
                               "STACK CFI INIT 1000 100 .cfa: $rsp 8 + .ra: .cfa 8 - ^\n"
                               "STACK CFI 1004 .cfa: $rsp 16 + $rbp: .cfa 16 - ^\n"
                               "STACK CFI 1100 .cfa: $rsp 99 +\n"
                               "STACK CFI INIT 3000 10 $rsp 8 +\n"
                               "STACK CFI INIT 4000 10 .cfa:\n";
    static const struct {
        const char *name;
        uint64_t rva;
        const char *want;
    } rows[] = {
        {"before all", 0xfff, ""},
        {"first byte", 0x1000, ".cfa= $rsp 8 +;.ra= .cfa 8 - ^;"},
        {"before the first change", 0x1003, ".cfa= $rsp 8 +;.ra= .cfa 8 - ^;"},
        {"first change", 0x1004, ".cfa= $rsp 16 +;.ra= .cfa 8 - ^;$rbp= .cfa 16 - ^;"},
        {"second change, which stands first", 0x10ff,
         ".cfa= $rbp 16 +;.ra= .cfa 8 - ^;$rbp= .cfa 16 - ^;"},
        {"after the end", 0x1100, ""},
        {"another record", 0x2004, ".cfa= $rsp 8 +;.ra= .cfa 8 - ^;"},
        {"a value without a register", 0x3004, ""},
        {"a register without a value", 0x4004, ".cfa=;"},
    };
    struct breakpad file;
    open_text(text, sizeof text - 1, &file);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char got[256];
        test_row(rows[i].name);
        describe_rules(&file, rows[i].rva, got, sizeof got);
        CHECK_STR(got, rows[i].want);
    }
    breakpad_close(&file);
}

TEST(the_innermost_record_of_a_pdb_counts_and_frame_data_first)
{
    static const char text[] = "MODULE windows x86 ABC0 m\n"
                               "STACK WIN 4 1000 100 1 0 4 8 c 0 1 outer =\n"
                               "STACK WIN 4 1010 20 1 0 10 14 18 0 1 inner =\n"
                               "STACK WIN 4 1040 20 1 0 10 14 18 0 1\n"
                               "STACK WIN 4 1080 10 1 0 30 34 38 0 1 short =\n"
                               "STACK WIN 4 1080 20 1 0 40 44 48 0 1 long =\n"
                               "STACK WIN 4 10c0 10 1 0 50 54 58 0 1 first =\n"
                               "STACK WIN 4 10c0 10 1 0 60 64 68 0 1 equal =\n"
                               "STACK WIN 4 10e0 10 1 0 70 74 78 0 1 early =\n"
                               "STACK WIN 4 10e8 10 1 0 80 84 88 0 1 late =\n"
                               "STACK WIN 0 1180 40 2 0 90 94 98 0 0 1\n"
                               "STACK WIN 0 1180 40 2 0 a0 a4 a8 0 0 1\n"
                               "STACK WIN 0 1000 200 2 0 1c 20 24 0 0 1\n"
                               "STACK WIN 3 1000 200 2 0 1c 20 24 0 0 1\n"
                               "FUNC 1000 100 1c f\n";
    static const struct {
        const char *name;
        uint64_t rva;
        uint32_t params, saved, locals;
        const char *program;
    } rows[] = {
        {"outer", 0x1000, 4, 8, 0xc, "outer ="},
        {"inner", 0x1010, 0x10, 0x14, 0x18, "inner ="},
        {"inner's last byte", 0x102f, 0x10, 0x14, 0x18, "inner ="},
        {"outer again", 0x1030, 4, 8, 0xc, "outer ="},
        {"of two that begin at one place the shorter", 0x1080, 0x30, 0x34, 0x38, "short ="},
        {"the longer, after the shorter ends", 0x1090, 0x40, 0x44, 0x48, "long ="},
        {"of two equal ranges the first record", 0x10c0, 0x50, 0x54, 0x58, "first ="},
        {"of two that overlap the one that begins later", 0x10e8, 0x80, 0x84, 0x88, "late ="},
        {"the earlier, before they overlap", 0x10e7, 0x70, 0x74, 0x78, "early ="},
        {"the later, after the earlier ends", 0x10f7, 0x80, 0x84, 0x88, "late ="},
        {"of two equal ranges of FPO data the first", 0x1180, 0x90, 0x94, 0x98, NULL},
        {"FPO data after a damaged record", 0x1040, 0x1c, 0x20, 0x24, NULL},
        {"only FPO data", 0x1100, 0x1c, 0x20, 0x24, NULL},
    };
    struct breakpad file;
    struct breakpad_win win;
    open_text(text, sizeof text - 1, &file);
    CHECK_EQ(breakpad_params_at(&file, 0x1010), 0x1c);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        REQUIRE(breakpad_win_at(&file, rows[i].rva, &win));
        CHECK_EQ(win.params_bytes, rows[i].params);
        CHECK_EQ(win.saved_bytes, rows[i].saved);
        CHECK_EQ(win.locals_bytes, rows[i].locals);
        CHECK((win.program == NULL) == (rows[i].program == NULL));
        if (win.program != NULL)
            CHECK(strncmp(win.program, rows[i].program, win.program_bytes) == 0);
    }
    CHECK(!breakpad_win_at(&file, 0xfff, &win) && !breakpad_win_at(&file, 0x1200, &win));
    breakpad_close(&file);
}

/* ---- a skimmed file ---- */

static void name_is_read(void *context, const char **name)
{
    (void)name;
    ++*(uint32_t *)context;
}

/* Compares lookups of the file as a whole with those of the skimmed one, in an order in which they
 * help each other as little as possible. */
static void compare_skimmed(const char *text, size_t bytes, uint64_t end, uint64_t step)
{
    const struct file_map map = {.data = (const uint8_t *)text, .bytes = bytes};
    struct fault fault = FAULT_INIT;
    struct breakpad whole, skimmed;
    uint32_t named = 0, wrong = 0;
    REQUIRE(breakpad_read(text, bytes, &whole, &fault) == ERR_NONE);
    REQUIRE(breakpad_skim(&map, &skimmed, &fault) == ERR_NONE);
    CHECK_EQ(skimmed.line_count, 0);
    for (uint64_t i = 0; i <= 2 * end; i += step) {
        const uint64_t rva = i <= end ? end - i : i - end;
        char want[512], got[512];
        describe(&whole, rva, want, sizeof want);
        REQUIRE(breakpad_load(&skimmed, rva, name_is_read, &named, &fault) == ERR_NONE);
        describe(&skimmed, rva, got, sizeof got);
        if (strcmp(want, got) != 0 && wrong++ < 3)
            FAIL("rva 0x%llx: whole %s, skimmed %s", (unsigned long long)rva, want, got);
    }
    CHECK_EQ(wrong, 0);
    CHECK(named > 0);
    breakpad_close(&whole);
    breakpad_close(&skimmed);
}

TEST(a_skimmed_file_answers_as_a_whole_one)
{
    static const struct {
        const char *name, *text;
    } rows[] = {
        {"the sample", sample},
        {"the older form", older},
        {"names of one letter, files out of order", short_names},
        {"nothing ends the last line", "MODULE a b 1 m\nFILE 1 x\nFUNC 10 10 0 f\n10 10 3 1"},
        {"a damaged function keeps the lines of the one before",
         "MODULE a b 1 m\nFUNC 10 10 0 f\n10 8 1 0\nFUNC zz 10 0 g\n18 8 2 0\nFILE 0 a\n"},
        {"a name that reads as a line", "MODULE a b 1 m\nFUNC 10 20 0 18 8 9 0\n10 8 1 0\n"},
        {"digits in capitals look like a word",
         "MODULE a b 1 m\nFILE 0 a\nFUNC F0 20 0 f\nF0 10 1 0\nFILE 1 b\n100 10 2 1\n"},
        {"names of files and origins after their use, and twice",
         "MODULE a b 1 m\nFUNC 10 10 0 f\nINLINE 0 1 2 5 12 4\n10 10 3 1\nFILE 1 one\nFILE 1 "
         "other\nINLINE_ORIGIN 5 first\nINLINE_ORIGIN 5 second\nFILE 2 two\n"},
        {"functions and publics at one place",
         "MODULE a b 1 m\nPUBLIC 30 0 zeta\nPUBLIC 30 0 alpha\nPUBLIC 30 0 beta\nFUNC 10 10 0 "
         "first\n10 8 1 0\nFUNC 10 20 0 second\n10 8 2 0\n"},
        {"blanks before records, carriage returns and no names",
         "MODULE a b 1 m\r\n \tFILE 0 a\r\n  FUNC 10 10 0\r\n   10 10 7 0\r\nPUBLIC 40 0\r\n"},
        {"a byte order mark, and tabs between words",
         "\xef\xbb\xbfMODULE\ta b 1 m\nFILE\t0 a\nFUNC\t10\t10\t0\tf g\n10\t10\t7\t0\n"},
        {"other records between the lines of a function",
         "MODULE a b 1 m\nFILE 0 a\nFUNC 10 20 0 f\n10 10 1 0\nSTACK CFI INIT 10 20 .cfa: x\nINFO "
         "X\n# 20 10 9 0\n20 10 2 0\n"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        compare_skimmed(rows[i].text, strlen(rows[i].text), 0x1400, 1);
    }
    test_row(NULL);
}

TEST(skimmed_fixtures_answer_as_whole_ones)
{
    static const char *const files[] = {"g02-basic32-x86/basic32.sym", "g03-basic64-pe/basic64.sym",
                                        "g04-regtest-x86-omap/omap_reorder_funcs.sym",
                                        "g05-minidump2-x86/test_app.sym"};
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        size_t bytes;
        const char *text = (const char *)test_read(test_fixture(files[i]), &bytes);
        test_row(files[i]);
        compare_skimmed(text, bytes, 0x80000, 7);
    }
    test_row(NULL);
}

static void read_damaged(const uint8_t *data, size_t bytes, void *context)
{
    struct fault fault = FAULT_INIT;
    struct breakpad file;
    struct breakpad_frame frames[BREAKPAD_FRAMES_MAX];
    (void)context;
    if (breakpad_read(data, bytes, &file, &fault) == ERR_NONE)
        for (uint64_t rva = 0x8f0; rva < 0x1320; rva += 8) {
            struct breakpad_rules rules;
            struct breakpad_win win;
            (void)breakpad_lookup(&file, rva, frames);
            (void)breakpad_cfi_at(&file, rva, &rules);
            (void)breakpad_win_at(&file, rva, &win);
        }
    breakpad_close(&file);
}

/* One rule more than there is room for, and one byte more than a record may have. */
TEST(records_of_rules_have_limits)
{
    static const struct {
        const char *name;
        uint32_t rules, blanks; /* BLANKS: before the rules, to make them so long */
        bool read;
    } rows[] = {{"as many rules as there is room for", BREAKPAD_RULES_MAX, 0, true},
                {"one more", BREAKPAD_RULES_MAX + 1, 0, false},
                {"as long as is read", 3, 1 << 16, true},
                {"one byte longer", 3, (1 << 16) + 1, false}};
    static char text[(1 << 17) + 4096];
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct breakpad_rules rules = {0};
        struct breakpad file;
        int at = snprintf(text, sizeof text,
                          "MODULE windows x86_64 3249D99D0C4049318610F4E4FB0B6936a app.pdb\n"
                          "STACK CFI INIT 1000 100 ");
        const int start = at;
        test_row(rows[i].name);
        at += snprintf(text + at, sizeof text - (size_t)at, ".cfa: $rsp 8 +");
        for (uint32_t k = 1; k < rows[i].rules; k++)
            at += snprintf(text + at, sizeof text - (size_t)at, " r%u: 1", k);
        if (rows[i].blanks > 0)
            for (; at - start < (int)rows[i].blanks; at++)
                text[at] = at - start == (int)rows[i].blanks - 1 ? '1' : ' ';
        text[at++] = '\n';
        open_text(text, (size_t)at, &file);
        CHECK_EQ(breakpad_cfi_at(&file, 0x1010, &rules), rows[i].read);
        CHECK(rules.count <= BREAKPAD_RULES_MAX);
        breakpad_close(&file);
    }
}

TEST(every_truncation_and_damaged_byte_is_answered)
{
    test_truncations((const uint8_t *)sample, sizeof sample - 1, read_damaged, NULL);
    test_flips((const uint8_t *)sample, sizeof sample - 1, read_damaged, NULL);
    test_truncations((const uint8_t *)older, sizeof older - 1, read_damaged, NULL);
}
