/* The database: another program's file stays as it is, a schema is upgraded step by step, nested
 * transactions act as one, and damage is reported in the words of the room that keeps the file. */
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/files.h"
#include "base/text.h"
#include "database/query.h"
#include "store/store.h"
#include "test.h"

static void script(const char *path, const char *sql)
{
    sqlite3 *db = NULL;
    REQUIRE(sqlite3_open(path, &db) == SQLITE_OK);
    REQUIRE(sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK);
    (void)sqlite3_close(db);
}

/* "": there is no such file. */
static void digest_file(const char *path, char out[65])
{
    struct fault fault = FAULT_INIT;
    struct arena keep;
    size_t bytes = 0;
    char *text = NULL;
    arena_init(&keep, 0);
    if (path_is_file(path) && file_read(path, 1 << 20, &keep, &text, &bytes, &fault) == ERR_NONE)
        text_sha256(text, bytes, out);
    arena_free(&keep);
}

TEST(what_is_no_database_of_ours_is_said_and_not_touched)
{
    static const struct {
        const char *name, *sql, *bytes;
        enum store_mode mode;
        enum status want;
    } rows[] = {
        {"missing", NULL, NULL, STORE_READ, ERR_ABSENT},
        {"another program's", "CREATE TABLE x (y)", NULL, STORE_WRITE, ERR_MALFORMED},
        {"newer", "PRAGMA application_id=1417114484; PRAGMA user_version=99; CREATE TABLE x (y)",
         NULL, STORE_WRITE, ERR_UNSUPPORTED},
        {"older, for reading", "PRAGMA application_id=1417114484; CREATE TABLE x (y)", NULL,
         STORE_READ, ERR_UNSUPPORTED},
        {"text", NULL,
         "this is no database, and it is longer than a header of one hundred bytes, "
         "which is what SQLite reads first",
         STORE_WRITE, ERR_MALFORMED},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char path[512], before[65] = "", after[65] = "";
        struct store *store = NULL;
        struct fault fault = FAULT_INIT;
        test_row(rows[i].name);
        (void)snprintf(path, sizeof path, "%s/%zu.db", test_scratch(), i);
        if (rows[i].sql != NULL)
            script(path, rows[i].sql);
        if (rows[i].bytes != NULL)
            test_write(path, rows[i].bytes, strlen(rows[i].bytes));
        digest_file(path, before);
        CHECK_EQ(store_open(path, rows[i].mode, &store, &fault), rows[i].want);
        CHECK(store == NULL);
        CHECK_STR(fault.path, path);
        digest_file(path, after);
        CHECK_STR(after, before);
    }
}

static const char *const step_1[] = {"CREATE TABLE t (x)", "INSERT INTO t VALUES (1)", NULL};
static const char *const step_2[] = {"INSERT INTO t VALUES (2)", NULL};
static const char *const step_broken[] = {"INSERT INTO t VALUES (3)", "INSERT INTO none VALUES (4)",
                                          NULL};
static const char *const *const steps[] = {step_1, step_2, step_broken};
static const char *const texts[] = {"SELECT sum(x), count(*) FROM t", "INSERT INTO t VALUES (?)",
                                    "SELECT NULL, 0, 2.5"};

static struct database_kind kind_of(int32_t version)
{
    return (struct database_kind){.what = "figures",
                                  .application_id = 7,
                                  .version = version,
                                  .steps = steps,
                                  .texts = texts,
                                  .text_count = COUNT_OF(texts),
                                  .settings = "PRAGMA synchronous=OFF",
                                  .damaged = ERR_IO,
                                  .foreign = ERR_UNSUPPORTED,
                                  .busy = ERR_TIMEOUT};
}

static uint64_t sum_of(struct database *d)
{
    struct fault fault = FAULT_INIT;
    struct query q = database_query(d, 0, NULL, &fault);
    const uint64_t sum = query_row(&q) ? query_get(&q) : 0;
    CHECK_EQ(query_end(&q), ERR_NONE);
    return sum;
}

TEST(a_schema_is_upgraded_step_by_step)
{
    static const struct {
        const char *name;
        int32_t version;
        enum status want;
        uint64_t sum, reached;
    } rows[] = {
        {"a new file", 1, ERR_NONE, 1, 1},
        {"one step more", 2, ERR_NONE, 3, 2},
        {"nothing to do", 2, ERR_NONE, 3, 2},
        {"a step that fails leaves nothing", 3, ERR_IO, 3, 2},
    };
    char path[512];
    (void)snprintf(path, sizeof path, "%s/steps.db", test_scratch());
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct database_kind kind = kind_of(rows[i].version);
        struct database d, again;
        struct fault fault = FAULT_INIT, none = FAULT_INIT;
        test_row(rows[i].name);
        REQUIRE(database_open(&d, &kind, path, true, &fault) == ERR_NONE);
        REQUIRE(database_start_writing(&d, &fault) == ERR_NONE);
        CHECK_EQ(database_upgrade(&d, &fault), rows[i].want);
        CHECK_EQ(sum_of(&d), rows[i].sum);
        database_close(&d);
        CHECK_EQ(database_open(&again, &kind, path, false, &none), ERR_NONE);
        CHECK_EQ(again.version, rows[i].reached);
        CHECK_EQ(again.application_id, 7);
        database_close(&again);
    }
}

TEST(no_number_is_not_zero)
{
    const struct database_kind kind = kind_of(1);
    struct database d;
    struct fault fault = FAULT_INIT;
    char path[512];
    (void)snprintf(path, sizeof path, "%s/numbers.db", test_scratch());
    REQUIRE(database_open(&d, &kind, path, true, &fault) == ERR_NONE);
    struct query q = database_query(&d, 2, NULL, &fault);
    REQUIRE(query_row(&q));
    CHECK(isnan(query_get_number(&q)));
    CHECK(fpclassify(query_get_number(&q)) == FP_ZERO);
    CHECK(fabs(query_get_number(&q) - 2.5) < 1e-12);
    CHECK_EQ(query_end(&q), ERR_NONE);
    database_close(&d);
}

TEST(nested_transactions_act_as_one)
{
    static const struct {
        const char *name;
        enum status inner, outer;
        uint64_t sum;
    } rows[] = {
        {"both are good", ERR_NONE, ERR_NONE, 111},
        {"the outer one fails", ERR_NONE, ERR_IO, 1},
    };
    const struct database_kind kind = kind_of(1);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct database d;
        struct fault fault = FAULT_INIT;
        char path[512];
        test_row(rows[i].name);
        (void)snprintf(path, sizeof path, "%s/nested%zu.db", test_scratch(), i);
        REQUIRE(database_open(&d, &kind, path, true, &fault) == ERR_NONE);
        REQUIRE(database_start_writing(&d, &fault) == ERR_NONE);
        REQUIRE(database_upgrade(&d, &fault) == ERR_NONE);
        for (uint64_t value = 10; value <= 100; value *= 10) {
            REQUIRE(database_begin(&d, &fault) == ERR_NONE);
            struct query q = database_query(&d, 1, NULL, &fault);
            query_int(&q, value);
            CHECK_EQ(query_run(&q), ERR_NONE);
            CHECK_EQ(database_changed(&d), 1);
        }
        CHECK_EQ(database_end(&d, rows[i].inner, &fault), rows[i].inner);
        CHECK_EQ(database_end(&d, rows[i].outer, &fault), rows[i].outer);
        CHECK_EQ(sum_of(&d), rows[i].sum);
        database_close(&d);
    }
}

TEST(a_fault_is_in_the_words_of_the_kind)
{
    static const struct {
        const char *name;
        int code;
        enum status want;
        enum fault_reason reason;
    } rows[] = {
        {"damaged", SQLITE_CORRUPT, ERR_IO, FAULT_NO_REASON},
        {"no database", SQLITE_NOTADB, ERR_UNSUPPORTED, FAULT_NO_REASON},
        {"another program writes", SQLITE_BUSY, ERR_TIMEOUT, FAULT_NO_REASON},
        {"a table is in use", SQLITE_LOCKED, ERR_TIMEOUT, FAULT_NO_REASON},
        {"no memory", SQLITE_NOMEM, ERR_MEMORY, FAULT_NO_REASON},
        {"full", SQLITE_FULL, ERR_IO, FAULT_FULL},
        {"a write fails", SQLITE_IOERR_WRITE, ERR_IO, FAULT_FULL},
        {"anything else", SQLITE_IOERR, ERR_IO, FAULT_NO_REASON},
    };
    const struct database_kind kind = kind_of(1);
    const struct database d = {.kind = &kind, .path = "figures.db"};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fault fault = FAULT_INIT;
        test_row(rows[i].name);
        CHECK_EQ(database_fault(&d, rows[i].code, NULL, &fault), rows[i].want);
        CHECK_EQ(fault.reason, rows[i].reason);
        CHECK_STR(fault.what, "figures");
        CHECK_STR(fault.path, "figures.db");
    }
}
