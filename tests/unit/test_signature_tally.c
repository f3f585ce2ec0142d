/* Counting signatures in bounded memory, partial results as text, and adding them up. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare/signature_tally.h"
#include "random.h"
#include "stream/partial.h"
#include "test.h"

/* Small numbers are frequent, as signatures are. */
static uint32_t skewed(uint64_t *state, uint32_t below)
{
    const uint32_t most = (uint32_t)(next_random(state) % below) + 1;
    return (uint32_t)(next_random(state) % most);
}

static void add(struct signature_tally *tally, uint32_t name, uint64_t count)
{
    struct fault fault = FAULT_INIT;
    char text[64], example[32];
    (void)snprintf(text, sizeof text, "function_%u | main", name);
    (void)snprintf(example, sizeof example, "stack %u", name);
    REQUIRE(signature_tally_add(tally, text, count, example, &fault) == ERR_NONE);
}

/* The tally's rows as a partial result in KEEP. */
static struct partial ranked(struct signature_tally *tally, struct arena *keep)
{
    struct fault fault = FAULT_INIT;
    struct signature_count *rows = NULL;
    struct partial p = {.stacks = tally->stacks};
    REQUIRE(signature_tally_rank(tally, UINT32_MAX, keep, &rows, &p.count, &p.floor, &fault) ==
            ERR_NONE);
    p.rows = rows;
    return p;
}

enum { NAMES = 500, STACKS = 20000 };

TEST(counts_are_exact_up_to_the_limit_and_bounded_above_it)
{
    static const struct {
        const char *name;
        uint32_t limit;
        bool exact;
    } rows[] = {
        {"no limit", 0, true},
        {"a limit above the number", NAMES + 1, true},
        {"a limit below it", 100, false},
        {"one signature", 1, false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct signature_tally tally = {.limit = rows[i].limit};
        uint64_t truth[NAMES] = {0}, random = 42;
        struct arena keep;
        arena_init(&keep, 0);
        test_row(rows[i].name);
        for (uint32_t k = 0; k < STACKS; k++) {
            const uint32_t name = skewed(&random, NAMES);
            truth[name] += 1 + k % 3;
            add(&tally, name, 1 + k % 3);
        }
        const struct partial p = ranked(&tally, &keep);
        bool kept[NAMES] = {false};
        CHECK_EQ(p.floor == 0, rows[i].exact);
        CHECK(rows[i].limit == 0 || p.floor <= p.stacks / rows[i].limit);
        for (uint32_t k = 0; k < p.count; k++) {
            unsigned name = 0;
            REQUIRE(sscanf(p.rows[k].text, "function_%u", &name) == 1 && name < NAMES);
            kept[name] = true;
            CHECK(p.rows[k].count >= truth[name]);
            CHECK(p.rows[k].count - p.rows[k].error <= truth[name]);
            CHECK_EQ(p.rows[k].rank, k + 1);
            CHECK_EQ(signature_tally_rank_of(&tally, p.rows[k].text), k + 1);
        }
        for (uint32_t name = 0; name < NAMES; name++)
            CHECK(kept[name] || truth[name] <= p.floor);
        CHECK_EQ(signature_tally_rank_of(&tally, "never seen"), 0);
        signature_tally_free(&tally);
        arena_free(&keep);
    }
}

/* ---- sums ----------------------------------------------------------------------------- */

static void join(struct signature_tally *tally, const struct partial *p)
{
    struct fault fault = FAULT_INIT;
    signature_tally_join(tally, p->stacks, p->floor);
    for (uint32_t i = 0; i < p->count; i++)
        REQUIRE(signature_tally_join_row(tally, &p->rows[i], &fault) == ERR_NONE);
}

/* Writes P and reads it back, as when two programs exchange a file. */
static struct partial carried(const struct partial *p, bool as_json, struct arena *keep)
{
    struct text_buffer text = {NULL, 0, 0, false};
    struct partial back;
    struct fault fault = FAULT_INIT;
    size_t used = 0;
    (as_json ? partial_write_ndjson : partial_write_columns)(&text, p);
    REQUIRE(!text.failed);
    REQUIRE(partial_read(text.text, text.bytes, keep, &back, &used, &fault) == ERR_NONE);
    CHECK_EQ(used, text.bytes);
    free(text.text);
    return back;
}

enum { PARTS = 9 };

/* Joins PARTS in a random order and in random groups. Each group is written and read back. */
static struct partial sum(const struct partial parts[PARTS], uint64_t *random, struct arena *keep)
{
    struct partial left[PARTS];
    uint32_t count = PARTS;
    memcpy(left, parts, sizeof left);
    while (count > 1) {
        struct signature_tally tally = {.count = 0};
        const uint32_t group = 2 + (uint32_t)(next_random(random) % (count - 1));
        for (uint32_t i = 0; i < group; i++) {
            const uint32_t at = (uint32_t)(next_random(random) % count);
            join(&tally, &left[at]);
            left[at] = left[--count];
        }
        const struct partial joined = ranked(&tally, keep);
        left[count++] = carried(&joined, next_random(random) % 2 == 0, keep);
        signature_tally_free(&tally);
    }
    return left[0];
}

static void make_parts(uint32_t limit, uint64_t truth[NAMES], struct partial parts[PARTS],
                       struct arena *keep)
{
    uint64_t random = 7;
    for (uint32_t part = 0; part < PARTS; part++) {
        struct signature_tally tally = {.limit = limit};
        for (uint32_t k = 0; k < STACKS / PARTS; k++) {
            const uint32_t name = skewed(&random, NAMES);
            truth[name]++;
            add(&tally, name, 1);
        }
        parts[part] = ranked(&tally, keep);
        struct signature_count *rows = ARENA_ARRAY(keep, parts[part].count, struct signature_count);
        REQUIRE(rows != NULL);
        memcpy(rows, parts[part].rows, parts[part].count * sizeof *rows);
        for (uint32_t i = 0; i < parts[part].count; i++)
            rows[i].first_seen = arena_printf(keep, "2026-11-%02u", 1 + (part * 4 + i) % 28);
        parts[part].rows = rows;
        signature_tally_free(&tally);
    }
}

TEST(sums_depend_neither_on_order_nor_on_grouping)
{
    static const struct {
        const char *name;
        uint32_t limit;
    } rows[] = {{"exact parts", 0}, {"parts with errors", 60}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct partial parts[PARTS];
        struct arena keep;
        uint64_t random = 1, truth[NAMES] = {0};
        arena_init(&keep, 0);
        test_row(rows[i].name);
        make_parts(rows[i].limit, truth, parts, &keep);
        const struct partial first = sum(parts, &random, &keep);
        struct text_buffer text = {NULL, 0, 0, false};
        partial_write_columns(&text, &first);
        for (int round = 0; round < 50; round++) {
            struct arena work;
            arena_init(&work, 0);
            const struct partial again = sum(parts, &random, &work);
            struct text_buffer other = {NULL, 0, 0, false};
            partial_write_columns(&other, &again);
            CHECK_STR(other.text, text.text);
            free(other.text);
            arena_free(&work);
        }
        for (uint32_t k = 0; k < first.count; k++) {
            unsigned name = 0;
            REQUIRE(sscanf(first.rows[k].text, "function_%u", &name) == 1 && name < NAMES);
            CHECK(first.rows[k].count >= truth[name]);
            CHECK(first.rows[k].count - first.rows[k].error <= truth[name]);
            if (rows[i].limit == 0)
                CHECK_EQ(first.rows[k].count, truth[name]);
        }
        free(text.text);
        arena_free(&keep);
    }
}

/* ---- hostile partial results ------------------------------------------------------------ */

static const struct signature_count good_rows[] = {
    {.text = "a\tb | c\\d", .example = "line\nbreak", .first_seen = "monday", .count = 5},
    {.text = "poke | main", .count = 3, .error = 1},
};
static const struct partial good = {.of = "today",
                                    .hour = "2026-11-22T08",
                                    .version = "1.2",
                                    .stacks = 8,
                                    .floor = 1,
                                    .bad = 2,
                                    .rows = good_rows,
                                    .count = COUNT_OF(good_rows)};

TEST(a_partial_result_comes_back_as_it_was)
{
    for (int as_json = 0; as_json <= 1; as_json++) {
        struct arena keep;
        arena_init(&keep, 0);
        const struct partial p = carried(&good, as_json != 0, &keep);
        REQUIRE(p.count == good.count);
        CHECK_STR(p.of, good.of);
        CHECK_STR(p.hour, good.hour);
        CHECK_STR(p.version, good.version);
        CHECK_EQ(p.stacks, good.stacks);
        CHECK_EQ(p.floor, good.floor);
        CHECK_EQ(p.bad, good.bad);
        CHECK_STR(p.rows[0].text, good_rows[0].text);
        CHECK_STR(p.rows[0].example, good_rows[0].example);
        CHECK_STR(p.rows[0].first_seen, good_rows[0].first_seen);
        CHECK_EQ(p.rows[0].count, 5);
        CHECK(p.rows[1].example == NULL);
        CHECK_EQ(p.rows[1].error, 1);
        arena_free(&keep);
    }
}

TEST(every_truncation_of_a_partial_result_is_one)
{
    for (int as_json = 0; as_json <= 1; as_json++) {
        struct text_buffer text = {NULL, 0, 0, false};
        (as_json ? partial_write_ndjson : partial_write_columns)(&text, &good);
        for (uint32_t bytes = 0; bytes < text.bytes; bytes++) {
            struct fault fault = FAULT_INIT;
            struct partial p;
            struct arena keep;
            size_t used = 0;
            arena_init(&keep, 0);
            char *cut = test_copy(text.text, bytes);
            CHECK_EQ(partial_read(cut, bytes, &keep, &p, &used, &fault), ERR_TRUNCATED);
            free(cut);
            arena_free(&keep);
        }
        free(text.text);
    }
}

TEST(a_partial_result_that_would_make_sums_wrong_is_refused)
{
    static const struct {
        const char *name, *text;
        enum status want;
    } rows[] = {
        {"not one", "some other text of a file\n", ERR_MALFORMED},
        {"a newer form", "#signatures\t2\t0\t0\t0\t0\t\t\t\n", ERR_UNSUPPORTED},
        {"too few columns", "#signatures\t1\t0\t0\t0\t0\t\t\n", ERR_MALFORMED},
        {"too many columns", "#signatures\t1\t0\t0\t0\t0\t\t\t\t\n", ERR_MALFORMED},
        {"not a number", "#signatures\t1\tx\t0\t0\t0\t\t\t\n", ERR_MALFORMED},
        {"more rows than bytes", "#signatures\t1\t9999999\t0\t0\t0\t\t\t\n", ERR_TRUNCATED},
        {"more rows than allowed", "#signatures\t1\t99999999\t0\t0\t0\t\t\t\n", ERR_LIMIT},
        {"counts above the number of stacks", "#signatures\t1\t1\t2\t0\t0\t\t\t\n3\t0\t\t\ta\n",
         ERR_MALFORMED},
        {"counts that add up to more",
         "#signatures\t1\t2\t3\t0\t0\t\t\t\n2\t0\t\t\ta\n2\t0\t\t\tb\n", ERR_MALFORMED},
        {"an error above its count", "#signatures\t1\t1\t9\t9\t0\t\t\t\n3\t4\t\t\ta\n",
         ERR_MALFORMED},
        {"a count above the number of stacks, its error not",
         "#signatures\t1\t1\t3\t3\t0\t\t\t\n5\t3\t\t\ta\n", ERR_MALFORMED},
        {"a count of zero", "#signatures\t1\t1\t9\t0\t0\t\t\t\n0\t0\t\t\ta\n", ERR_MALFORMED},
        {"no signature", "#signatures\t1\t1\t9\t0\t0\t\t\t\n1\t0\t\t\t\n", ERR_MALFORMED},
        {"a floor above the number of stacks", "#signatures\t1\t0\t3\t4\t0\t\t\t\n", ERR_MALFORMED},
        {"so many stacks that a sum overflows",
         "#signatures\t1\t0\t18446744073709551615\t0\t0\t\t\t\n", ERR_MALFORMED},
        {"no number of rows", "{\"schema_version\":1}\n", ERR_MALFORMED},
        {"not an object", "{\"schema_version\":1,\"total\":1,\"stacks\":1}\n[1,2,3]\n",
         ERR_MALFORMED},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fault fault = FAULT_INIT;
        struct partial p;
        struct arena keep;
        size_t used = 0;
        arena_init(&keep, 0);
        test_row(rows[i].name);
        CHECK_EQ(partial_read(rows[i].text, strlen(rows[i].text), &keep, &p, &used, &fault),
                 rows[i].want);
        arena_free(&keep);
    }
}

TEST(a_signature_that_is_there_twice_is_refused)
{
    struct signature_tally tally = {.count = 0};
    struct fault fault = FAULT_INIT;
    const struct signature_count row = {.text = "a", .count = 1};
    signature_tally_join(&tally, 2, 0);
    CHECK_EQ(signature_tally_join_row(&tally, &row, &fault), ERR_NONE);
    CHECK_EQ(signature_tally_join_row(&tally, &row, &fault), ERR_MALFORMED);
    signature_tally_free(&tally);
}
