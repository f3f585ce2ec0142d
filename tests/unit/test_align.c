/* Alignment: the example that align.c begins with. */
#include <string.h>

#include "base/array.h"
#include "compare/mismatch.h"
#include "test.h"

enum { LEAF = 1, MIDDLE, MAIN, START };

static struct frame_key key_at(uint64_t name, uint32_t module, uint64_t offset, uint16_t depth)
{
    return (struct frame_key){.name = name,
                              .last_name = name,
                              .module = module,
                              .offset = offset,
                              .inline_depth = depth,
                              .own = module == 1};
}

/* The worked example at the head of align.c. */
TEST(the_example_of_an_alignment_has_its_rows_and_sums)
{
    const struct frame_key truth[] = {key_at(LEAF, 0, 0, 0), key_at(MIDDLE, 0, 0, 0),
                                      key_at(MAIN, 0, 0, 0)};
    const struct frame_key rtl[] = {key_at(LEAF, 1, 0x10, 1), key_at(MIDDLE, 1, 0x10, 0),
                                    key_at(MAIN, 1, 0x40, 0), key_at(START, 2, 0x90, 0)};
    const struct frame_key dump[] = {rtl[0], rtl[1], rtl[3]};
    const struct frame_key judged[] = {rtl[1], rtl[2], rtl[3]};
    const struct engine_claim subject = {.subject = true}, reference = {.subject = false};
    const struct truth_thread thread = {.id = 1};
    struct column columns[] = {{.truth = &thread, .keys = truth, .count = COUNT_OF(truth)},
                               {.claim = &subject, .keys = rtl, .count = COUNT_OF(rtl)},
                               {.claim = &subject, .keys = dump, .count = COUNT_OF(dump)},
                               {.claim = &reference, .keys = judged, .count = COUNT_OF(judged)}};
    static const int32_t want[] = {0, 0, 0, -1, 1, 1, 1, 0, 2, 2, -1, 1, -1, 3, 2, 2};
    struct table table = {.column_count = COUNT_OF(columns), .columns = columns, .reference = 1};
    struct fault fault = FAULT_INIT;
    struct arena keep;
    uint64_t of_dump = 0, of_judge = 0;
    arena_init(&keep, 0);
    REQUIRE(table_build(&table, NULL, &keep, &fault) == ERR_NONE);
    REQUIRE(table.row_count == COUNT_OF(want) / COUNT_OF(columns));
    CHECK(memcmp(table.cells, want, sizeof want) == 0);
    REQUIRE(column_similarity(&columns[1], &columns[2], &keep, &of_dump, &fault) == ERR_NONE);
    REQUIRE(column_similarity(&columns[1], &columns[3], &keep, &of_judge, &fault) == ERR_NONE);
    CHECK_EQ(of_dump >> 32, 290);
    CHECK_EQ(of_judge >> 32, 300);
    arena_free(&keep);
}

/* Each pair of columns is asked at each row, in an order that jumps. */
TEST(a_block_is_the_same_when_another_was_asked_before)
{
    enum { COLUMNS = 4, ROWS = 17 };
    struct frame_key keys[ROWS] = {{0}};
    struct column columns[COLUMNS];
    int32_t cells[ROWS * COLUMNS];
    struct row_block last = {0};
    const struct table kept = {COLUMNS, ROWS, columns, cells, 1, &last};
    const struct table plain = {COLUMNS, ROWS, columns, cells, 1, NULL};
    uint32_t longest = 0;
    for (uint32_t row = 0; row < ROWS; row++)
        keys[row].offset = row;
    for (uint32_t column = 0; column < COLUMNS; column++)
        columns[column] = (struct column){.keys = keys, .count = ROWS};
    for (uint32_t row = 0; row < ROWS; row++)
        for (uint32_t column = 0; column < COLUMNS; column++)
            cells[row * COLUMNS + column] =
                (row * 7 + column * 5) % 11 < 3 ? -1 : (int32_t)((row * column * 3 + row) % ROWS);
    for (uint32_t i = 0; i < ROWS * COLUMNS * COLUMNS; i++) {
        const uint32_t at = i * 13 % (ROWS * COLUMNS * COLUMNS);
        struct difference d = {.table = &plain,
                               .row = at % ROWS,
                               .column = at / ROWS % COLUMNS,
                               .against = at / ROWS / COLUMNS};
        const uint32_t start = rule_block_start(&d), end = rule_block_end(&d);
        d.table = &kept;
        CHECK_EQ(rule_block_start(&d), start);
        CHECK_EQ(rule_block_end(&d), end);
        longest = end - start > longest ? end - start : longest;
    }
    CHECK(longest > 3);
}
