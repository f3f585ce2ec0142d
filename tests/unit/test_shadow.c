/* The result of a shadow comparison: its line of text, its sampling, and its sums. */
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "stream/shadow_result.h"
#include "stream/totals.h"
#include "test.h"

static struct shadow_engine engines[] = {
    {"offset:rtl", NULL, SHADOW_SAME, NULL, NULL, 1000},
    {"dump", "offset:rtl", SHADOW_DIFFERS, "truncated", "a\t\"b\".dll", 3000},
    {"judge:x", "offset:rtl", SHADOW_FAILED, "no stack", NULL, 0},
};
static const struct shadow good = {"alice-1", "2026-11-22T08",  "1.0", "PASS", "poke | main",
                                   engines,   COUNT_OF(engines)};

TEST(what_is_written_is_read)
{
    struct fault fault = FAULT_INIT;
    struct shadow got;
    struct arena keep;
    size_t bytes = 0;
    arena_init(&keep, 0);
    const char *text = shadow_write(&good, &keep, &bytes);
    REQUIRE(text != NULL && shadow_is_text(text, bytes));
    REQUIRE(shadow_read(text, bytes, &keep, &got, &fault) == ERR_NONE);
    CHECK_STR(got.id, "alice-1");
    CHECK_STR(got.hour, "2026-11-22T08");
    CHECK_STR(got.version, "1.0");
    CHECK_STR(got.verdict, "PASS");
    CHECK_STR(got.signature, "poke | main");
    REQUIRE(got.count == 3);
    for (uint32_t i = 0; i < got.count; i++) {
        CHECK_STR(got.engines[i].engine, engines[i].engine);
        CHECK_EQ(got.engines[i].result, engines[i].result);
        CHECK_EQ(got.engines[i].cause == NULL, engines[i].cause == NULL);
        if (engines[i].cause != NULL)
            CHECK_STR(got.engines[i].cause, engines[i].cause);
        CHECK_EQ(got.engines[i].ns, engines[i].ns);
    }
    CHECK_STR(got.engines[2].against, "offset:rtl");
    CHECK_EQ(got.engines[1].result, SHADOW_DIFFERS);
    CHECK_STR(got.engines[1].module, "a\t\"b\".dll");
    CHECK(got.engines[0].against == NULL);
    CHECK_EQ(got.engines[1].ns, 3000);
    for (size_t end = 0; end + 1 < bytes; end++) { /* only the end of the line may be missing */
        struct fault cut = FAULT_INIT;
        CHECK(shadow_read(text, end, &keep, &got, &cut) != ERR_NONE);
    }
    arena_free(&keep);
}

TEST(what_another_version_wrote_is_refused)
{
    static const struct {
        const char *name, *text;
        enum status want;
    } rows[] = {
        {"nothing", "", ERR_MALFORMED},
        {"a newer form",
         "{\"shadow\":2,\"id\":\"a\",\"hour\":\"2026-11-22T08\",\"verdict\":\"PASS\"}",
         ERR_UNSUPPORTED},
        {"no id", "{\"shadow\":1,\"hour\":\"2026-11-22T08\",\"verdict\":\"PASS\",\"engines\":[]}",
         ERR_MALFORMED},
        {"an id that is a path",
         "{\"shadow\":1,\"id\":\"../"
         "a\",\"hour\":\"2026-11-22T08\",\"verdict\":\"PASS\",\"engines\":[]}",
         ERR_MALFORMED},
        {"no engines",
         "{\"shadow\":1,\"id\":\"a\",\"hour\":\"2026-11-22T08\",\"verdict\":\"PASS\"}",
         ERR_MALFORMED},
        {"an unknown result",
         "{\"shadow\":1,\"id\":\"a\",\"hour\":\"2026-11-22T08\",\"verdict\":\"PASS\",\"engines\":[{"
         "\"engine\":\"x\",\"result\":\"maybe\"}]}",
         ERR_MALFORMED},
    };
    struct arena keep;
    arena_init(&keep, 0);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fault fault = FAULT_INIT;
        struct shadow got;
        test_row(rows[i].name);
        CHECK_EQ(shadow_read(rows[i].text, strlen(rows[i].text), &keep, &got, &fault),
                 rows[i].want);
    }
    arena_free(&keep);
}

TEST(the_sample_is_a_share_and_depends_on_the_id_alone)
{
    static const struct {
        const char *name;
        double share;
        uint32_t least, most;
    } rows[] = {
        {"none", 0, 0, 0},
        {"one in a hundred", 0.01, 60, 140},
        {"a quarter", 0.25, 2350, 2650},
        {"all", 1, 10000, 10000},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        uint32_t sampled = 0;
        test_row(rows[i].name);
        for (uint32_t k = 0; k < 10000; k++) {
            char id[32];
            (void)snprintf(id, sizeof id, "alice-%u", (unsigned)k);
            const bool is = shadow_is_sampled(id, rows[i].share);
            sampled += is;
            CHECK(is == shadow_is_sampled(id, rows[i].share));
            CHECK(!is || shadow_is_sampled(id, 1)); /* a larger share includes a smaller one */
        }
        CHECK(sampled >= rows[i].least && sampled <= rows[i].most);
    }
}

static void add(struct totals *totals, const char *id, const char *hour, enum shadow_result result,
                bool is_new)
{
    struct fault fault = FAULT_INIT;
    struct shadow_engine two[] = {engines[0], engines[1]};
    struct shadow s = good;
    bool added = false;
    two[1].result = result;
    s.id = id;
    s.hour = hour;
    s.engines = two;
    s.count = 2;
    REQUIRE(totals_begin(totals, &fault) == ERR_NONE);
    (void)totals_add_shadow(totals, &s, &added, &fault);
    CHECK_EQ(totals_end(totals, &fault), ERR_NONE);
    CHECK_EQ(added, is_new);
}

TEST(agreement_is_summed_up_once_per_report)
{
    static struct shadow_list list;
    struct fault fault = FAULT_INIT;
    struct totals *totals = NULL;
    struct arena keep;
    char path[600];
    (void)snprintf(path, sizeof path, "%s/totals.db", test_scratch());
    arena_init(&keep, 0);
    REQUIRE(totals_open(path, true, &totals, &fault) == ERR_NONE);
    add(totals, "a-1", "2026-11-22T08", SHADOW_SAME, true);
    add(totals, "a-1", "2026-11-22T08", SHADOW_DIFFERS, false); /* delivered again */
    add(totals, "a-2", "2026-11-22T08", SHADOW_DIFFERS, true);
    add(totals, "a-3", "2026-11-22T09", SHADOW_SAME, true);
    add(totals, "a-4", "2026-11-22T10", SHADOW_DIFFERS, true);
    REQUIRE(totals_read_shadow(totals, &(struct totals_shadow_query){0}, &keep, &list, &fault) ==
            ERR_NONE);
    CHECK_EQ(list.reports, 4);
    REQUIRE(list.engine_count == 2 && list.cause_count == 1);
    CHECK_STR(list.engines[0].engine, "dump");
    CHECK_EQ(list.engines[0].same, 2);
    CHECK_EQ(list.engines[0].differs, 2);
    CHECK_EQ(list.engines[0].failed, 0);
    CHECK_EQ(list.engines[0].median_ns, 3000);
    REQUIRE(list.engines[0].hour_count == 3);
    CHECK_STR(list.engines[0].hours[0].hour, "2026-11-22T08");
    CHECK_STR(list.engines[0].hours[2].hour, "2026-11-22T10");
    CHECK_EQ(list.engines[0].hours[2].judged, 1);
    CHECK_EQ(list.engines[0].hours[2].agreed, 0);
    CHECK_EQ(list.engines[0].hours[0].judged, 2);
    CHECK_EQ(list.engines[0].hours[0].agreed, 1);
    CHECK_STR(list.causes[0].cause, "truncated");
    CHECK_EQ(list.causes[0].count, 2);
    CHECK_STR(list.causes[0].first_hour, "2026-11-22T08");
    CHECK_STR(list.causes[0].last_hour, "2026-11-22T10");
    CHECK_STR(list.causes[0].report, "a-4"); /* the newest */
    REQUIRE(totals_read_shadow(totals, &(struct totals_shadow_query){.since = "2026-11-22T09"},
                               &keep, &list, &fault) == ERR_NONE);
    CHECK_EQ(list.reports, 2);
    totals_close(totals);
    arena_free(&keep);
}

static int64_t query(const char *path, const char *text)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    REQUIRE(sqlite3_open(path, &db) == SQLITE_OK);
    REQUIRE(sqlite3_prepare_v2(db, text, -1, &statement, NULL) == SQLITE_OK);
    const int64_t value =
        sqlite3_step(statement) == SQLITE_ROW ? (int64_t)sqlite3_column_int64(statement, 0) : -1;
    (void)sqlite3_finalize(statement);
    CHECK_EQ(sqlite3_close(db), SQLITE_OK);
    return value;
}

TEST(old_results_are_deleted_and_their_ids_are_remembered)
{
    static struct shadow_list list;
    struct fault fault = FAULT_INIT;
    struct totals *totals = NULL;
    struct arena keep;
    char path[600];
    (void)snprintf(path, sizeof path, "%s/bounded.db", test_scratch());
    arena_init(&keep, 0);
    REQUIRE(totals_open(path, true, &totals, &fault) == ERR_NONE);
    add(totals, "a-1", "2026-11-22T08", SHADOW_DIFFERS, true);
    add(totals, "a-2", "2999-11-22T08", SHADOW_SAME, true); /* a wrong clock */
    add(totals, "a-3", "2026-11-22T08", SHADOW_SAME, true);
    (void)query(path, "UPDATE shadow SET added = 100001 WHERE id = 'a-3'"); /* many came between */
    add(totals, "a-4", "1999-11-22T09", SHADOW_SAME, true);
    REQUIRE(totals_read_shadow(totals, &(struct totals_shadow_query){0}, &keep, &list, &fault) ==
            ERR_NONE);
    CHECK_EQ(list.reports, 2);
    REQUIRE(list.engine_count == 2);
    CHECK_EQ(list.engines[0].same, 2);
    CHECK_EQ(list.cause_count, 0);
    CHECK_EQ(query(path, "SELECT count(*) FROM shadow_engine"), 4);
    add(totals, "a-1", "2026-11-22T08", SHADOW_DIFFERS, false); /* delivered again, late */
    CHECK_EQ(query(path, "SELECT count(*) FROM shadow"), 2);
    totals_close(totals);
    arena_free(&keep);
}

TEST(results_of_an_older_file_stay_in_order)
{
    struct fault fault = FAULT_INIT;
    struct totals *totals = NULL;
    char path[600];
    (void)snprintf(path, sizeof path, "%s/older.db", test_scratch());
    REQUIRE(totals_open(path, true, &totals, &fault) == ERR_NONE);
    add(totals, "b-1", "2026-11-22T09", SHADOW_SAME, true);
    add(totals, "b-2", "2026-11-22T08", SHADOW_SAME, true);
    totals_close(totals);
    (void)query(path, "DROP INDEX shadow_in_order");
    (void)query(path, "ALTER TABLE shadow DROP COLUMN added");
    (void)query(path, "DELETE FROM report");
    (void)query(path, "DROP TABLE slice");
    (void)query(path, "PRAGMA user_version = 2");
    REQUIRE(totals_open(path, false, &totals, &fault) == ERR_NONE); /* read as it is */
    totals_close(totals);
    REQUIRE(totals_open(path, true, &totals, &fault) == ERR_NONE);
    add(totals, "b-1", "2026-11-22T09", SHADOW_SAME, false);
    add(totals, "b-3", "2026-11-22T07", SHADOW_SAME, true);
    CHECK_EQ(query(path, "SELECT added FROM shadow WHERE id = 'b-2'"), 1);
    CHECK_EQ(query(path, "SELECT added FROM shadow WHERE id = 'b-1'"), 2);
    CHECK_EQ(query(path, "SELECT added FROM shadow WHERE id = 'b-3'"), 3);
    CHECK_EQ(query(path, "SELECT count(*) FROM report"), 3);
    totals_close(totals);
}

/* Which of the texts of a queue are results: the head of shadow_result.c. */
TEST(a_result_is_known_by_its_beginning)
{
    static const struct {
        const char *text;
        size_t bytes;
        bool is;
    } rows[] = {
        {"{\"shadow\":1}", 12, true},   {"{\"shadow\":", 10, true},
        {"{\"shadow\":1", 9, false},    {"", 0, false},
        {"{\"shadows\":1}", 13, false}, {"#signatures 1", 13, false},
        {" {\"shadow\":1}", 13, false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].text);
        CHECK_EQ(shadow_is_text(rows[i].text, rows[i].bytes), rows[i].is);
    }
}
