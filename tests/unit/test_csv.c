/* Symbol tables as text: what pdbdump prints, and the form with ranges. */
#include <stdio.h>
#include <string.h>

#include "base/files.h"
#include "symbol/csv.h"
#include "test.h"

static enum status read_text(const char *text, size_t bytes, struct arena *keep,
                             struct csv_table *out, struct fault *fault)
{
    const struct file_map map = {.data = (const uint8_t *)text, .bytes = bytes};
    return csv_read(&map, CSV_BASE_DEFAULT, keep, out, fault);
}

/* The innermost frame at RVA as "name file line"; "" when there is none. */
static const char *ask(const char *table_text, uint32_t rva, uint32_t *count)
{
    static char text[512];
    struct csv_frame frames[8];
    struct fault fault = FAULT_INIT;
    struct csv_table table;
    struct arena keep;

    arena_init(&keep, 0);
    text[0] = '\0';
    *count = 0;
    if (read_text(table_text, strlen(table_text), &keep, &table, &fault) == ERR_NONE)
        *count = csv_lookup(&table, rva, frames, 8);
    if (*count > 0)
        (void)snprintf(text, sizeof text, "%s %s %u", frames[0].name,
                       frames[0].file ? frames[0].file : "-", (unsigned)frames[0].line);
    arena_free(&keep);
    return text;
}

#define FUNCTION "\"401000\",16,\"SymTagFunction\",\"f\",\"a.c\",7\n"

static const struct {
    const char *name, *table;
    uint32_t rva;
    const char *want;
    uint32_t count;
} lookups[] = {
    {"first byte; the row's line is the definition's, not the frame's", FUNCTION, 0x1000, "f a.c 0",
     1},
    {"last byte", FUNCTION, 0x100f, "f a.c 0", 1},
    {"one past the end", FUNCTION, 0x1010, "", 0},
    {"before the first", FUNCTION, 0xfff, "", 0},
    {"carriage returns and a mark of UTF-8",
     "\xEF\xBB\xBF\"401000\",16,\"SymTagFunction\",\"f\",\"a.c\",7\r\n", 0x1000, "f a.c 0", 1},
    {"commas in a name", "\"401000\",16,\"SymTagFunction\",\"g<int,char>\",\"a.c\",7\n", 0x1000,
     "g<int,char> a.c 0", 1},
    {"quotes in a name", "\"401000\",16,\"SymTagFunction\",\"operator\"\"_x\",\"a.c\",7\n", 0x1000,
     "operator\"\"_x a.c 0", 1},
    {"the end of a field in a name", "\"401000\",16,\"SymTagFunction\",\"a\",\"b\",\"a.c\",7\n",
     0x1000, "a\",\"b a.c 0", 1},
    {"comma in a file", "\"401000\",16,\"SymTagFunction\",\"f\",\"a,b.c\",7\n", 0x1000, "f a,b.c 0",
     1},
    {"no file known", "\"401000\",16,\"SymTagFunction\",\"f\",\"?\",0\n", 0x1000, "f - 0", 1},
    {"fields without quotes", "401000,16,SymTagFunction,f,a.c,7\n", 0x1000, "f a.c 0", 1},
    {"last line without an end", "\"401000\",16,\"SymTagFunction\",\"f\",\"a.c\",7", 0x1000,
     "f a.c 0", 1},
    {"data is no code", "\"401000\",16,\"SymTagData\",\"d\",\"?\",0\n" FUNCTION, 0x1001, "f a.c 0",
     1},
    {"a public reaches to the next row",
     "\"400f00\",0,\"SymTagPublicSymbol\",\"p\",\"?\",0\n" FUNCTION, 0xfff, "p - 0", 1},
    {"a public after a function, up to the next one",
     FUNCTION "\"401010\",0,\"SymTagPublicSymbol\",\"p\",\"?\",0\n"
              "\"401040\",16,\"SymTagFunction\",\"g\",\"a.c\",1\n",
     0x103f, "p - 0", 1},
    {"the next one after a public",
     FUNCTION "\"401010\",0,\"SymTagPublicSymbol\",\"p\",\"?\",0\n"
              "\"401040\",16,\"SymTagFunction\",\"g\",\"a.c\",1\n",
     0x1040, "g a.c 0", 1},
    {"two publics at one place reach as far as one",
     FUNCTION "\"401010\",0,\"SymTagPublicSymbol\",\"p\",\"?\",0\n"
              "\"401010\",0,\"SymTagPublicSymbol\",\"q\",\"?\",0\n"
              "\"401020\",0,\"SymTagPublicSymbol\",\"r\",\"?\",0\n",
     0x101f, "p - 0", 1},
    {"the last public reaches 4 KiB",
     FUNCTION "\"401010\",0,\"SymTagPublicSymbol\",\"p\",\"?\",0\n", 0x200f, "p - 0", 1},
    {"and no byte more", FUNCTION "\"401010\",0,\"SymTagPublicSymbol\",\"p\",\"?\",0\n", 0x2010, "",
     0},
    {"a public at the end of 32 bits",
     FUNCTION "\"1003FFFF0\",0,\"SymTagPublicSymbol\",\"p\",\"?\",0\n", 0xfffffffe, "p - 0", 1},
    {"a public does not reach far", "\"401000\",0,\"SymTagPublicSymbol\",\"p\",\"?\",0\n", 0x2000,
     "", 0},
    {"a function before a public at the same place",
     "\"401000\",0,\"SymTagPublicSymbol\",\"p\",\"?\",0\n" FUNCTION, 0x1004, "f a.c 0", 1},
    {"of two names at one place the first",
     "\"401000\",16,\"SymTagFunction\",\"z\",\"a.c\",1\n\"401000\",16,\"SymTagFunction\",\"b\",\"a."
     "c\",2\n",
     0x1004, "z a.c 0", 1},
    {"a small function inside a large one's range",
     "\"401000\",256,\"SymTagFunction\",\"big\",\"a.c\",1\n\"401010\",16,\"SymTagFunction\","
     "\"small\",\"a.c\",2\n",
     0x1080, "big a.c 0", 1},
    {"lines and inlined code",
     FUNCTION "\"401000\",16,\"SymTagLine\",\"f\",\"a.c\",9,0\n"
              "\"401004\",4,\"SymTagInlineSite\",\"in\",\"a.h\",3,1\n",
     0x1005, "in a.h 3", 2},
    {"beside the inlined code",
     FUNCTION "\"401000\",16,\"SymTagLine\",\"f\",\"a.c\",9,0\n"
              "\"401004\",4,\"SymTagInlineSite\",\"in\",\"a.h\",3,1\n",
     0x1008, "f a.c 9", 1},
    {"a bad row between good ones", "garbage\n" FUNCTION "\"40,\n", 0x1000, "f a.c 0", 1},
    {"below the base", "\"1000\",16,\"SymTagFunction\",\"f\",\"a.c\",7\n", 0x1000, "", 0},
};

TEST(csv_lookup_answers_with_what_the_row_covers)
{
    for (size_t i = 0; i < COUNT_OF(lookups); i++) {
        uint32_t count;
        test_row(lookups[i].name);
        CHECK_STR(ask(lookups[i].table, lookups[i].rva, &count), lookups[i].want);
        CHECK_EQ(count, lookups[i].count);
    }
}

TEST(csv_counts_bad_rows_and_refuses_a_file_of_nothing_else)
{
    static const char text[] = "nothing\n" FUNCTION "worse\n";
    struct fault fault = FAULT_INIT;
    struct csv_table table;
    struct arena keep;

    arena_init(&keep, 0);
    CHECK_EQ(read_text(text, strlen(text), &keep, &table, &fault), ERR_NONE);
    CHECK_EQ(table.count, 1);
    CHECK_EQ(table.bad_rows, 2);
    CHECK_EQ(table.first_bad_foff, 0);
    CHECK_EQ(read_text("nothing\n", 8, &keep, &table, &fault), ERR_MALFORMED);
    CHECK(fault.hint != NULL);
    arena_free(&keep);
}

TEST(csv_written_is_csv_read)
{
    struct fault fault = FAULT_INIT;
    struct csv_table table;
    struct arena keep;
    char path[512];
    size_t bytes;

    (void)snprintf(path, sizeof path, "%s/t.csv", test_scratch());
    FILE *out = fopen(path, "wb");
    REQUIRE(out != NULL);
    csv_write(out, 0x401000, 32, CSV_FUNCTION, "a,\"b\"", "C:\\x y\\f.cc", 12, 0);
    csv_write(out, 0x401008, 4, CSV_INLINE, "c", NULL, 0, 2);
    (void)fclose(out);
    const char *text = (const char *)test_read(path, &bytes);
    arena_init(&keep, 0);
    REQUIRE(read_text(text, bytes, &keep, &table, &fault) == ERR_NONE);
    CHECK_EQ(table.count, 2);
    CHECK_STR(table.rows[0].name, "a,\"b\"");
    CHECK_STR(table.rows[0].file, "C:\\x y\\f.cc");
    CHECK_EQ(table.rows[0].end_rva, 0x1020);
    CHECK_EQ(table.rows[1].depth, 2);
    CHECK_EQ(table.rows[1].kind, CSV_INLINE);
    CHECK(table.rows[1].file == NULL);
    arena_free(&keep);
}

static void read_damaged(const uint8_t *data, size_t bytes, void *context)
{
    struct csv_frame frames[4];
    struct fault fault = FAULT_INIT;
    struct csv_table table;
    struct arena keep;

    (void)context;
    arena_init(&keep, (size_t)16 << 20);
    if (read_text((const char *)data, bytes, &keep, &table, &fault) == ERR_NONE)
        for (uint32_t rva = 0xff0; rva < 0x1030; rva++)
            (void)csv_lookup(&table, rva, frames, 4);
    arena_free(&keep);
}

TEST(csv_survives_truncation_and_flips)
{
    static const char text[] =
        FUNCTION "\"401000\",16,\"SymTagLine\",\"f\",\"a.c\",9,0\n"
                 "\"401004\",4,\"SymTagInlineSite\",\"in\",\"a.h\",3,1\n"
                 "\"401010\",0,\"SymTagPublicSymbol\",\"p,\"q\"\",\"?\",0\r\n";
    test_truncations((const uint8_t *)text, sizeof text - 1, read_damaged, NULL);
    test_flips((const uint8_t *)text, sizeof text - 1, read_damaged, NULL);
}

TEST(csv_of_the_article_names_its_frames)
{
    struct csv_frame frames[4];
    struct fault fault = FAULT_INIT;
    struct csv_table table;
    struct arena keep;
    size_t bytes;
    const char *text =
        (const char *)test_read(test_source("corpus/botman/capture-stack.csv"), &bytes);

    arena_init(&keep, 0);
    REQUIRE(read_text(text, bytes, &keep, &table, &fault) == ERR_NONE);
    CHECK_EQ(table.bad_rows, 0);
    REQUIRE(csv_lookup(&table, 0xc155a, frames, 4) == 1);
    CHECK_STR(frames[0].name, "main");
    REQUIRE(csv_lookup(&table, 0x51722, frames, 4) == 1);
    CHECK_STR(frames[0].name, "__scrt_common_main_seh");
    arena_free(&keep);
}
