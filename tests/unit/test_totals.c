/* The totals of a stream: a result that is delivered twice. */
#include <stdio.h>

#include "base/files.h"
#include "stream/totals.h"
#include "test.h"

/* "STACKS, BAD, REPORTS: SIGNATURE COUNT, ..." */
static const char *counted(struct totals *totals)
{
    static char out[400];
    const struct totals_query query = {.top = 100};
    struct totals_list list;
    struct fault fault = FAULT_INIT;
    struct arena keep;
    arena_init(&keep, 0);
    REQUIRE(totals_read(totals, &query, &keep, &list, &fault) == ERR_NONE);
    size_t at =
        (size_t)snprintf(out, sizeof out, "%u stacks, %u bad, %u reports:", (unsigned)list.stacks,
                         (unsigned)list.bad, (unsigned)list.reports);
    for (uint32_t i = 0; i < list.count && at < sizeof out; i++)
        at += (size_t)snprintf(out + at, sizeof out - at, " %s %u,", list.rows[i].signature,
                               (unsigned)list.rows[i].count);
    arena_free(&keep);
    return out;
}

/* The worked example at the head of totals.c, after a transaction that is not committed. */
TEST(a_report_that_is_delivered_twice_counts_once)
{
    static const struct signature_count first[] = {{.text = "poke | main", .count = 5}};
    static const struct signature_count second[] = {{.text = "poke | main", .count = 2},
                                                    {.text = "leaf", .count = 1}};
    static const struct partial a1 = {"a-1", "2026-11-22T08", "1.0", 5, 0, 1, first, 1};
    static const struct partial a2 = {"a-2", "2026-11-22T09", "1.1", 3, 0, 0, second, 2};
    static const struct {
        const char *name;
        const struct partial *partial;
        bool dies, is_new;
        const char *want;
    } rows[] = {
        {"it dies before the commit", &a1, true, true, "0 stacks, 0 bad, 0 reports:"},
        {"the first", &a1, false, true, "5 stacks, 1 bad, 1 reports: poke | main 5,"},
        {"another", &a2, false, true, "8 stacks, 1 bad, 2 reports: poke | main 7, leaf 1,"},
        {"the first again", &a1, false, false,
         "8 stacks, 1 bad, 2 reports: poke | main 7, leaf 1,"},
    };
    struct totals *totals = NULL;
    struct fault fault = FAULT_INIT;
    struct arena keep;
    arena_init(&keep, 0);
    const char *path = path_join(&keep, test_scratch(), "totals");
    REQUIRE(totals_open(path, true, &totals, &fault) == ERR_NONE);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        bool is_new = false;
        fault_clear(&fault);
        test_row(rows[i].name);
        REQUIRE(totals_begin(totals, &fault) == ERR_NONE);
        REQUIRE(totals_add(totals, rows[i].partial, &is_new, &fault) == ERR_NONE);
        CHECK_EQ(is_new, rows[i].is_new);
        if (rows[i].dies)
            (void)fault_set(&fault, ERR_IO, FAULT_NO_OFFSET, "the reducer");
        CHECK_EQ(totals_end(totals, &fault), rows[i].dies ? ERR_IO : ERR_NONE);
        CHECK_STR(counted(totals), rows[i].want);
    }
    totals_close(totals);
    arena_free(&keep);
}

/* totals.h: there is room for 16 verdicts; the reports of others count, too. */
TEST(reports_count_whatever_their_verdicts_are)
{
    static const struct {
        const char *name;
        uint32_t verdicts, listed;
    } rows[] = {{"one", 1, 1}, {"sixteen", 16, 16}, {"seventeen", 17, 16}, {"forty", 40, 16}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        static struct shadow_list list;
        const struct totals_shadow_query query = {0};
        struct totals *totals = NULL;
        struct fault fault = FAULT_INIT;
        struct arena keep;
        arena_init(&keep, 0);
        test_row(rows[i].name);
        const char *path = path_join(&keep, test_scratch(), rows[i].name);
        REQUIRE(totals_open(path, true, &totals, &fault) == ERR_NONE);
        REQUIRE(totals_begin(totals, &fault) == ERR_NONE);
        for (uint32_t k = 0; k < rows[i].verdicts; k++) {
            struct shadow_engine engine = {.engine = "dump", .against = "offset:rtl"};
            const char *const word = arena_printf(&keep, "v%02u", (unsigned)k);
            const struct shadow s = {.id = word,
                                     .hour = "2026-11-22T09",
                                     .version = "1.1",
                                     .verdict = word,
                                     .signature = "main",
                                     .engines = &engine,
                                     .count = 1};
            bool is_new = false;
            REQUIRE(totals_add_shadow(totals, &s, &is_new, &fault) == ERR_NONE && is_new);
        }
        REQUIRE(totals_end(totals, &fault) == ERR_NONE);
        REQUIRE(totals_read_shadow(totals, &query, &keep, &list, &fault) == ERR_NONE);
        CHECK_EQ(list.reports, rows[i].verdicts);
        REQUIRE(list.verdict_count == rows[i].listed);
        for (uint32_t k = 0; k < list.verdict_count; k++)
            CHECK_EQ(list.verdicts[k].count, 1);
        totals_close(totals);
        arena_free(&keep);
    }
}
