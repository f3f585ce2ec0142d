/* The totals of a stream: a result that is delivered twice. */
#include <stdio.h>
#include <string.h>

#include "base/files.h"
#include "stream/slice.h"
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

static void put(const char *path, const struct partial *partials, uint32_t count,
                const char *judged)
{
    static struct shadow_engine engines[] = {{"offset:rtl", NULL, SHADOW_SAME, NULL, NULL, 1},
                                             {"dump", "offset:rtl", SHADOW_SAME, NULL, NULL, 1}};
    const struct shadow s = {judged,  "2026-11-22T08",  "1.0", "PASS", "leaf",
                             engines, COUNT_OF(engines)};
    struct totals *totals = NULL;
    struct fault fault = FAULT_INIT;
    bool is_new = false;
    REQUIRE(totals_open(path, true, &totals, &fault) == ERR_NONE);
    REQUIRE(totals_begin(totals, &fault) == ERR_NONE);
    for (uint32_t i = 0; i < count; i++)
        REQUIRE(totals_add(totals, &partials[i], &is_new, &fault) == ERR_NONE);
    if (judged != NULL)
        REQUIRE(totals_add_shadow(totals, &s, &is_new, &fault) == ERR_NONE);
    REQUIRE(totals_end(totals, &fault) == ERR_NONE);
    totals_close(totals);
}

/* totals.h: sums; a report of two queues counts twice, and is one of SAME; a sampled one is judged
 * once. */
TEST(totals_of_queues_are_added_up)
{
    static const struct signature_count of_a[] = {
        {.text = "leaf", .count = 3, .example = "a-1", .first_seen = "2026-11-22"}};
    static const struct signature_count of_b[] = {
        {.text = "leaf", .count = 4, .example = "b-1", .first_seen = "2026-11-21"},
        {.text = "root", .count = 1, .example = "b-1", .first_seen = "2026-11-21"}};
    static const struct partial a[] = {{"a-1", "2026-11-22T08", "1.0", 4, 0, 1, of_a, 1},
                                       {"both", "2026-11-22T09", "1.0", 0, 0, 2, NULL, 0}};
    static const struct partial b[] = {{"b-1", "2026-11-21T08", "1.0", 5, 0, 0, of_b, 2},
                                       {"both", "2026-11-22T09", "1.0", 0, 0, 2, NULL, 0}};
    static struct shadow_list judged;
    const struct totals_query query = {.top = 9};
    struct totals *totals = NULL;
    struct totals_list list;
    struct fault fault = FAULT_INIT;
    struct arena keep;
    uint64_t same = 7;
    arena_init(&keep, 0);
    const char *parts[] = {path_join(&keep, test_scratch(), "a"),
                           path_join(&keep, test_scratch(), "b"),
                           path_join(&keep, test_scratch(), "c")};
    const char *sum = path_join(&keep, test_scratch(), "sum"),
               *text = path_join(&keep, test_scratch(), "text");
    put(parts[0], a, COUNT_OF(a), "a-1");
    put(parts[1], b, COUNT_OF(b), "a-1");
    put(parts[2], NULL, 0, "b-1");
    for (int turn = 0; turn < 2; turn++) { /* the second time the sum is there */
        REQUIRE(totals_merge(sum, parts, COUNT_OF(parts), &same, &fault) == ERR_NONE);
        CHECK_EQ(same, 1);
        REQUIRE(totals_open(sum, false, &totals, &fault) == ERR_NONE);
        CHECK_STR(counted(totals), "9 stacks, 5 bad, 4 reports: leaf 7, root 1,");
        REQUIRE(totals_read(totals, &query, &keep, &list, &fault) == ERR_NONE && list.count == 2);
        CHECK_STR(list.rows[0].first_seen, "2026-11-21");
        CHECK_STR(list.rows[0].last_seen, "2026-11-22");
        CHECK_STR(list.rows[0].example, "b-1");
        REQUIRE(totals_read_shadow(totals, &(struct totals_shadow_query){0}, &keep, &judged,
                                   &fault) == ERR_NONE);
        CHECK(judged.reports == 2 && judged.engine_count == 2);
        CHECK_EQ(judged.engines[0].same + judged.engines[1].same, 2);
        totals_close(totals);
    }
    const char *mixed[] = {parts[0], path_join(&keep, test_scratch(), "none")};
    CHECK_EQ(totals_merge(sum, mixed, 2, &same, &fault), ERR_ABSENT);
    fault_clear(&fault);
    REQUIRE(totals_open(sum, false, &totals, &fault) == ERR_NONE); /* whole or not at all */
    CHECK_STR(counted(totals), "9 stacks, 5 bad, 4 reports: leaf 7, root 1,");
    totals_close(totals);
    test_write(text, "a text", 6);
    CHECK_EQ(totals_merge(text, parts, 2, &same, &fault), ERR_UNSUPPORTED);
    fault_clear(&fault);
    CHECK(path_is_file(text) && !path_is_file(path_join(&keep, test_scratch(), "text.new")) &&
          !path_is_file(path_join(&keep, test_scratch(), "sum.new")));
    test_write(text, "", 0);
    CHECK_EQ(totals_merge(text, parts, 1, &same, &fault), ERR_NONE);
    CHECK_EQ(same, 0);
    arena_free(&keep);
}

/* totals.h: the newest 100 versions are listed. */
TEST(the_newest_versions_are_listed)
{
    static const uint32_t made[] = {99, 100, 101, 130};
    for (size_t i = 0; i < COUNT_OF(made); i++) {
        static const struct signature_count one = {.text = "leaf", .count = 1};
        const struct totals_query query = {.top = 10};
        struct totals *totals = NULL;
        struct totals_list list;
        struct fault fault = FAULT_INIT;
        struct arena keep;
        char path[600], last[20];
        arena_init(&keep, 0);
        (void)snprintf(path, sizeof path, "%s/versions-%u", test_scratch(), (unsigned)made[i]);
        test_row(path);
        REQUIRE(totals_open(path, true, &totals, &fault) == ERR_NONE);
        REQUIRE(totals_begin(totals, &fault) == ERR_NONE);
        for (uint32_t k = 0; k < made[i]; k++) {
            bool is_new = false;
            const struct partial p = {.of = arena_printf(&keep, "a-%u", (unsigned)k),
                                      .hour =
                                          arena_printf(&keep, "2026-11-%02uT%02u",
                                                       (unsigned)(1 + k / 24), (unsigned)(k % 24)),
                                      .version = arena_printf(&keep, "v%03u", (unsigned)k),
                                      .stacks = 1,
                                      .rows = &one,
                                      .count = 1};
            REQUIRE(totals_add(totals, &p, &is_new, &fault) == ERR_NONE && is_new);
        }
        REQUIRE(totals_end(totals, &fault) == ERR_NONE);
        REQUIRE(totals_read(totals, &query, &keep, &list, &fault) == ERR_NONE);
        CHECK_EQ(list.reports, made[i]);
        REQUIRE(list.version_count == (made[i] < 100 ? made[i] : 100));
        (void)snprintf(last, sizeof last, "v%03u", (unsigned)(made[i] - 1));
        CHECK_STR(list.versions[0].version, last);
        (void)snprintf(last, sizeof last, "v%03u", (unsigned)(made[i] - list.version_count));
        CHECK_STR(list.versions[list.version_count - 1].version, last);
        totals_close(totals);
        arena_free(&keep);
    }
}

/* FIPS 180 states the digest of "abc". The slices come in any order, and one may come twice. */
#define ABC "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
#define ABD "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ae"
TEST(slices_are_whole_when_their_digest_is_that_of_their_bytes)
{
    static const struct {
        const char *name, *digest;
        struct {
            uint32_t number;
            const char *data;
        } slices[4];
        enum status status; /* of the last one */
        const char *whole;
    } rows[] = {
        {"in order", ABC, {{0, "ab"}, {1, "c"}}, ERR_NONE, "abc"},
        {"the last one first", ABC, {{1, "c"}, {0, "ab"}}, ERR_NONE, "abc"},
        {"one twice", ABC, {{0, "ab"}, {0, "ab"}, {1, "c"}}, ERR_NONE, "abc"},
        {"one is missing", ABC, {{0, "ab"}}, ERR_NONE, NULL},
        {"another digest", ABD, {{0, "ab"}, {1, "c"}}, ERR_MALFORMED, NULL},
        {"other bytes", ABC, {{0, "ab"}, {1, "d"}}, ERR_MALFORMED, NULL},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct totals *totals = NULL;
        struct fault fault = FAULT_INIT;
        struct arena keep;
        const char *whole = NULL;
        size_t bytes = 0;
        test_row(rows[i].name);
        arena_init(&keep, 0);
        const char *path = arena_printf(&keep, "%s/slices-%zu", test_scratch(), i);
        REQUIRE(totals_open(path, true, &totals, &fault) == ERR_NONE);
        REQUIRE(totals_begin(totals, &fault) == ERR_NONE);
        for (size_t k = 0; k < COUNT_OF(rows[i].slices) && rows[i].slices[k].data != NULL; k++) {
            const char *data = rows[i].slices[k].data;
            const struct slice slice = {"r-1", rows[i].digest, rows[i].slices[k].number,
                                        2,     data,           strlen(data)};
            CHECK(whole == NULL);
            (void)totals_add_slice(totals, &slice, &keep, &whole, &bytes, &fault);
        }
        CHECK_EQ(fault.code, rows[i].status);
        if (fault.code == ERR_NONE && CHECK_EQ(whole != NULL, rows[i].whole != NULL) &&
            whole != NULL)
            CHECK_STR(arena_text(&keep, whole, bytes), rows[i].whole);
        totals_close(totals);
        arena_free(&keep);
    }
}
