/* Sums of runs: those that an upgrade makes, and what is read of them. */
#include <sqlite3.h>
#include <stdio.h>

#include "base/array.h"
#include "old_store.h"
#include "store_fixture.h"

static void change(const char *path, const char *sql)
{
    sqlite3 *db = NULL;
    REQUIRE(sqlite3_open(path, &db) == SQLITE_OK);
    REQUIRE(sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK);
    (void)sqlite3_close(db);
}

static uint32_t count_rows(const char *path, const char *sql)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *row = NULL;
    REQUIRE(sqlite3_open(path, &db) == SQLITE_OK);
    REQUIRE(sqlite3_prepare_v2(db, sql, -1, &row, NULL) == SQLITE_OK);
    REQUIRE(sqlite3_step(row) == SQLITE_ROW);
    const uint32_t count = (uint32_t)sqlite3_column_int(row, 0);
    (void)sqlite3_finalize(row);
    (void)sqlite3_close(db);
    return count;
}

/* An upgrade adds up 256 runs at a time, also those without a case. */
TEST(an_upgrade_adds_up_any_number_of_runs)
{
    static const struct {
        const char *name;
        uint32_t runs, empty;
    } rows[] = {
        {"as many as at a time", 256, 0},
        {"one more", 257, 0},
        {"without a case", 0, 257},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct store_fixture f;
        test_row(rows[i].name);
        char name[40];
        (void)snprintf(name, sizeof name, "sums-%zu.db", i);
        const char *path = store_set_up_file(&f, name);
        for (uint32_t k = 0; k < rows[i].empty + rows[i].runs; k++) {
            struct run_info run = {.label = "run", .uuid = arena_printf(&f.keep, "%08u-0000", k)};
            struct run_case c = {.scenario = "a",
                                 .variant = "ob2",
                                 .kind = CASE_KIND_CRASH,
                                 .timing = {.record_bytes = 7},
                                 .result = {.reason = "", .right = ""}};
            REQUIRE(store_begin_run(f.store, &run, &f.keep, &f.fault) == ERR_NONE);
            if (k >= rows[i].empty)
                REQUIRE(store_put_case(f.store, run.id, &c, &f.fault) == ERR_NONE);
            REQUIRE(store_finish_run(f.store, run.id, RUN_COMPLETE, 1, &f.fault) == ERR_NONE);
        }
        store_close(f.store);
        static const char added_up[] = "SELECT count(DISTINCT run_id) FROM run_median";
        change(path, UNDO_VERSION_22 UNDO_VERSION_21 UNDO_VERSION_20 "DELETE FROM run_median");
        CHECK_EQ(count_rows(path, added_up), 0);
        REQUIRE(store_open(path, STORE_WRITE, &f.store, &f.fault) == ERR_NONE);
        CHECK_EQ(count_rows(path, added_up), rows[i].runs + rows[i].empty);
        store_tear_down(&f);
    }
}

/* Most findings first, then by name; a cause of a newer program is none that a reader knows. */
TEST(causes_are_counted_and_one_that_is_not_known_is_left_out)
{
    static const struct cause_count want[] = {
        {.cause = CAUSE_TRUNCATED, .findings = 7, .cases = 3, .subject_findings = 2},
        {.cause = CAUSE_UNEXPLAINED, .findings = 7, .cases = 4, .subject_findings = 0},
        {.cause = CAUSE_SYMBOLS_MISSING, .findings = 5, .cases = 1, .subject_findings = 5},
    };
    struct cause_count *got = NULL;
    struct run_info run = {.label = "run"};
    struct store_fixture f;
    uint32_t count = 0;
    const char *path = store_set_up_file(&f, "causes.db");
    REQUIRE(store_begin_run(f.store, &run, &f.keep, &f.fault) == ERR_NONE);
    REQUIRE(store_finish_run(f.store, run.id, RUN_COMPLETE, 9, &f.fault) == ERR_NONE);
    change(path, "INSERT INTO run_cause VALUES (1, 'symbols_missing', 5, 1, 5),"
                 " (1, 'unexplained', 7, 4, 0), (1, 'magic', 9, 8, 7), (1, 'newer', 6, 6, 6),"
                 " (1, 'truncated', 7, 3, 2)");
    REQUIRE(store_count_causes(f.store, run.id, &f.keep, &got, &count, &f.fault) == ERR_NONE);
    REQUIRE(count == COUNT_OF(want));
    for (size_t i = 0; i < COUNT_OF(want); i++) {
        test_row(cause_name(want[i].cause));
        CHECK_EQ(got[i].cause, want[i].cause);
        CHECK_EQ(got[i].findings, want[i].findings);
        CHECK_EQ(got[i].cases, want[i].cases);
        CHECK_EQ(got[i].subject_findings, want[i].subject_findings);
    }
    store_tear_down(&f);
}
