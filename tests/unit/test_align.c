/* Alignment: the example that align.c begins with. */
#include <string.h>

#include "compare/align.h"
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
