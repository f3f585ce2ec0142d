/* The unwind table of 32-bit arm images: made tables, one instruction or form in each row. What a
 * compiler makes: tests/e2e/test_unwind_tables.py. */
#include <string.h>

#include "test.h"
#include "unwind/cfi_table.h"
#include "unwind/exidx.h"

enum { INDEX_VA = 0x1000, TABLE_VA = 0x2000, FUNCTION = 0x8000, SP = 13, LR = 14 };

static uint32_t distance(uint32_t from, uint32_t to)
{
    return (to - from) & 0x7fffffff;
}

static const struct {
    const char *name;
    uint32_t word;     /* of the index; 0: the next words, in the table */
    uint32_t table[4]; /* in .ARM.extab */
    bool found;
    uint32_t base;
    int32_t offset;
    int32_t saved[3][2]; /* register and distance from the CFA; 0, 0: none */
} rows[] = {
    {"nothing was pushed", 0x80b0b0b0, {0}, true, SP, 0, {{0}}},
    {"pop {r4, r5, r7, lr}", 0x80840bb0, {0}, true, SP, 16, {{4, -16}, {7, -8}, {LR, -4}}},
    {"pop {pc} in place of lr", 0x808800b0, {0}, true, SP, 4, {{LR, -4}}},
    {"vsp + 12, pop {r4-r11, lr}", 0x8002afb0, {0}, true, SP, 48, {{4, -36}, {11, -8}, {LR, -4}}},
    {"vsp - 4", 0x8040a8b0, {0}, true, SP, 4, {{4, -8}, {LR, -4}}},
    {"from r7, then pop {r4-r7, lr}", 0x8097abb0, {0}, true, 7, 20, {{7, -8}, {LR, -4}}},
    {"from sp", 0x809db0b0, {0}, false, 0, 0, {{0}}},
    {"from r7 after a pop", 0x80a897b0, {0}, false, 0, 0, {{0}}},
    {"pop {r0, r1}", 0x80b103b0, {0}, true, SP, 8, {{1, -4}}},
    {"spare", 0x80b110b0, {0}, false, 0, 0, {{0}}},
    {"refuses", 0x808000b0, {0}, false, 0, 0, {{0}}},
    {"pop {sp}", 0x808200b0, {0}, false, 0, 0, {{0}}},
    {"d8 and d9 as VPUSH saves them", 0x80d1a8b0, {0}, true, SP, 24, {{4, -8}, {LR, -4}}},
    {"d8 as FSTMX saves it", 0x80b8a8b0, {0}, true, SP, 20, {{4, -8}, {LR, -4}}},
    {"cannot be unwound", 1, {0}, false, 0, 0, {{0}}},
    {"a routine of another number", 0x81b0b0b0, {0}, false, 0, 0, {{0}}},
    {"routine 1, two words: vsp + 9000",
     0,
     {0x8101b2c9, 0x10acb0b0},
     true,
     SP,
     9024,
     {{8, -8}, {LR, -4}}},
    {"routine 0 in the table", 0, {0x80a8b0b0, 0}, true, SP, 8, {{4, -8}, {LR, -4}}},
    {"C++'s routine", 0, {0x00001000, 0x00a9b0b0}, true, SP, 12, {{5, -8}, {LR, -4}}},
    {"more words than the table has", 0, {0x8109b2c9, 0x10acb0b0}, false, 0, 0, {{0}}},
};

static void make(size_t i, uint32_t index[4], struct exidx *out)
{
    index[0] = distance(INDEX_VA, FUNCTION);
    index[1] = rows[i].word != 0 ? rows[i].word : distance(INDEX_VA + 4, TABLE_VA);
    index[2] = distance(INDEX_VA + 8, FUNCTION + 0x40);
    index[3] = 1;
    *out = (struct exidx){{(const uint8_t *)index, 16},
                          {(const uint8_t *)rows[i].table, sizeof rows[i].table},
                          INDEX_VA,
                          TABLE_VA};
}

TEST(instructions_of_the_table_make_rules)
{
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        uint32_t index[4];
        struct exidx exidx;
        struct cfi_row row;
        uint64_t begin, end;
        test_row(rows[i].name);
        make(i, index, &exidx);
        CHECK(!exidx_find(&exidx, FUNCTION - 1, &begin, &end, &row));
        CHECK(exidx_find(&exidx, FUNCTION, &begin, &end, &row)); /* nothing has run yet */
        CHECK_EQ(row.cfa_offset, 0);
        /* where the last function ends is not known */
        CHECK(exidx_find(&exidx, FUNCTION + 0x40, &begin, &end, &row));
        CHECK_HEX(begin, FUNCTION + 0x40);
        CHECK_HEX(end, FUNCTION + 0x41);
        REQUIRE(exidx_find(&exidx, FUNCTION + 0x20, &begin, &end, &row) == rows[i].found);
        if (!rows[i].found)
            continue;
        CHECK_HEX(begin, FUNCTION);
        CHECK_HEX(end, FUNCTION + 0x40);
        CHECK_EQ(row.cfa_register, rows[i].base);
        CHECK_EQ(row.cfa_offset, rows[i].offset);
        for (size_t k = 0; k < COUNT_OF(rows[i].saved); k++)
            if (rows[i].saved[k][1] != 0) {
                CHECK_EQ(row.rules[rows[i].saved[k][0]].kind, CFI_AT);
                CHECK_EQ(row.rules[rows[i].saved[k][0]].n, rows[i].saved[k][1]);
            }
    }
}

TEST(any_word_and_any_cut_give_rules_or_none)
{
    uint32_t seed = 1;
    for (uint32_t turn = 0; turn < 200000; turn++) {
        uint32_t index[4], words[4];
        struct exidx exidx;
        struct cfi_row row;
        uint64_t begin, end;
        make(COUNT_OF(rows) - 1, index, &exidx);
        for (size_t k = 0; k < COUNT_OF(words); k++)
            words[k] = seed = seed * 1664525 + 1013904223;
        words[0] = turn % 3 == 0 ? words[0] : (words[0] & 0x00ffffff) | 0x81000000;
        exidx.table = (struct byte_view){(const uint8_t *)words, turn % 17};
        if (turn % 5 == 0)
            index[1] = words[3];
        (void)exidx_find(&exidx, FUNCTION + 0x20, &begin, &end, &row);
    }
}

static void put(uint8_t *at, uint32_t value, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

enum { ELF_BYTES = 1024, SECTIONS_AT = 0x200, NAMES_AT = 0x180, SECTIONS = 4 };

/* An ELF file of 32 bits: the first function's row has its instructions, the second's are in
 * `.ARM.extab`, and the third cannot be unwound. */
static void make_elf(uint8_t file[ELF_BYTES], uint32_t machine, const char *index_name,
                     const char *table_name)
{
    const uint32_t index[] = {distance(INDEX_VA, FUNCTION),
                              0x80a8b0b0,
                              distance(INDEX_VA + 8, FUNCTION + 0x40),
                              distance(INDEX_VA + 12, TABLE_VA),
                              distance(INDEX_VA + 16, FUNCTION + 0x80),
                              1};
    const uint32_t table[] = {0x80a9b0b0, 0};
    const struct {
        uint32_t name, type, va, foff, bytes;
    } sections[SECTIONS] = {{0, 0, 0, 0, 0},
                            {1, 0x70000001, INDEX_VA, 0x100, sizeof index},
                            {16, 1, TABLE_VA, 0x140, sizeof table},
                            {32, 3, 0, NAMES_AT, 48}};
    memset(file, 0, ELF_BYTES);
    memcpy(file, "\177ELF\1\1\1", 7);
    put(file + 16, 3, 2);
    put(file + 18, machine, 2);
    put(file + 32, SECTIONS_AT, 4);
    put(file + 40, 52, 2);
    put(file + 46, 40, 2);
    put(file + 48, SECTIONS, 2);
    put(file + 50, 3, 2);
    for (size_t i = 0; i < COUNT_OF(index); i++)
        put(file + 0x100 + 4 * i, index[i], 4);
    for (size_t i = 0; i < COUNT_OF(table); i++)
        put(file + 0x140 + 4 * i, table[i], 4);
    memcpy(file + NAMES_AT + 1, index_name, strlen(index_name));
    memcpy(file + NAMES_AT + 16, table_name, strlen(table_name));
    memcpy(file + NAMES_AT + 32, ".shstrtab", 9);
    for (size_t i = 0; i < SECTIONS; i++) {
        uint8_t *at = file + SECTIONS_AT + 40 * i;
        put(at, sections[i].name, 4);
        put(at + 4, sections[i].type, 4);
        put(at + 12, sections[i].va, 4);
        put(at + 16, sections[i].foff, 4);
        put(at + 20, sections[i].bytes, 4);
    }
}

TEST(the_tables_of_a_file)
{
    static const struct {
        const char *name;
        uint32_t machine; /* EM_ARM is 40 */
        const char *index, *table;
        bool first, second; /* functions that have rules */
    } files[] = {
        {"both tables", 40, ".ARM.exidx", ".ARM.extab", true, true},
        {"no .ARM.extab", 40, ".ARM.exidx", ".other", true, false},
        {"no .ARM.exidx", 40, ".other", ".ARM.extab", false, false},
        {"of another processor", 3, ".ARM.exidx", ".ARM.extab", false, false},
    };
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        static uint8_t file[ELF_BYTES];
        struct cfi_place place;
        struct arena keep;
        test_row(files[i].name);
        make_elf(file, files[i].machine, files[i].index, files[i].table);
        arena_init(&keep, 0);
        struct cfi_table *table = cfi_read_file((struct byte_view){file, sizeof file}, &keep);
        CHECK_EQ(table != NULL, files[i].first);
        if (table != NULL) {
            REQUIRE(cfi_find(table, FUNCTION + 0x20, &place));
            CHECK_HEX(place.begin_rva, FUNCTION);
            CHECK_HEX(place.end_rva, FUNCTION + 0x40);
            CHECK_HEX(place.entry_va, 0);
            CHECK_EQ(place.return_register, LR);
            CHECK_EQ(place.row.cfa_offset, 8); /* pop {r4, lr} */
            CHECK_EQ(cfi_find(table, FUNCTION + 0x60, &place), files[i].second);
            if (files[i].second)
                CHECK_EQ(place.row.cfa_offset, 12); /* pop {r4, r5, lr} */
            CHECK(!cfi_find(table, FUNCTION + 0x90, &place));
        }
        arena_free(&keep);
    }
}
