/* The unwind table of 32-bit arm images: made tables, one instruction or form in each row. What a
 * compiler makes: tests/e2e/test_unwind_tables.py. */
#include <string.h>

#include "test.h"
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
        exidx.table = (struct object_bytes){(const uint8_t *)words, turn % 17};
        if (turn % 5 == 0)
            index[1] = words[3];
        (void)exidx_find(&exidx, FUNCTION + 0x20, &begin, &end, &row);
    }
}
