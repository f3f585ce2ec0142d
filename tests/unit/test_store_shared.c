/* The store keeps once what many cases share, and files compressed: what is read is what was
 * stored, also by an older version, and damage is reported. */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "base/thread.h"
#include "make_run.h"
#include "old_store.h"
#include "store/store.h"
#include "test.h"

enum { REPEATS = 40 };

struct fixture {
    struct arena keep;
    struct run_info run;
    struct run_case cases[MADE_CASES];
    struct store *store;
    struct fault fault;
    char path[512];
};

static void open_it(struct fixture *f)
{
    REQUIRE(store_open(f->path, STORE_WRITE, &f->store, &f->fault) == ERR_NONE);
}

static void set_up(struct fixture *f)
{
    static const struct fault none = FAULT_INIT;
    memset(f, 0, sizeof *f);
    f->fault = none;
    arena_init(&f->keep, 0);
    make_run(&f->keep, &f->run, f->cases);
    (void)snprintf(f->path, sizeof f->path, "%s/shared.db", test_scratch());
    (void)remove(f->path);
    open_it(f);
    REQUIRE(store_begin_run(f->store, &f->run, &f->keep, &f->fault) == ERR_NONE);
}

static void put(struct fixture *f, struct run_case *c)
{
    REQUIRE(store_put_case(f->store, f->run.id, c, &f->fault) == ERR_NONE);
}

static void tear_down(struct fixture *f)
{
    store_close(f->store);
    arena_free(&f->keep);
}

/* Runs SQL beside the store; returns the number in the last row. */
static long long run_sql(const struct fixture *f, const char *sql)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    long long number = 0;
    REQUIRE(sqlite3_open(f->path, &db) == SQLITE_OK);
    for (const char *rest = sql; *rest != '\0';) {
        REQUIRE(sqlite3_prepare_v2(db, rest, -1, &statement, &rest) == SQLITE_OK);
        while (sqlite3_step(statement) == SQLITE_ROW)
            number = sqlite3_column_int64(statement, 0);
        REQUIRE(sqlite3_finalize(statement) == SQLITE_OK);
    }
    (void)sqlite3_close(db);
    return number;
}

static char *in_words(struct fixture *f, uint64_t case_id)
{
    struct run_case c;
    struct json j;
    REQUIRE(store_read_case(f->store, case_id, &f->keep, &c, &f->fault) == ERR_NONE);
    json_to_text(&j, true);
    json_array(&j);
    made_case_write(&j, &c);
    for (uint32_t i = 0; i < c.artifact_count; i++) {
        char sha256[65];
        text_sha256(c.artifacts[i].data, c.artifacts[i].bytes, sha256);
        json_string(&j, sha256);
    }
    json_array_end(&j);
    return json_take(&j, NULL);
}

TEST(an_older_database_keeps_every_frame)
{
    struct fixture f;
    char *before[MADE_CASES];
    set_up(&f);
    for (int i = 0; i < MADE_CASES; i++) {
        put(&f, &f.cases[i]);
        before[i] = in_words(&f, f.cases[i].id);
    }
    store_close(f.store);
    (void)run_sql(&f, UNDO_VERSION_22 UNDO_VERSION_21 UNDO_VERSION_20 UNDO_VERSION_19
                          UNDO_VERSION_18 UNDO_VERSION_17 UNDO_VERSION_16 UNDO_VERSION_15
                              UNDO_VERSION_14 UNDO_VERSION_13 UNDO_VERSION_12 UNDO_VERSION_11
                  "ALTER TABLE artifact DROP COLUMN plain_bytes;"
                  "DELETE FROM case_artifact; DELETE FROM artifact");
    open_it(&f);
    CHECK_EQ(run_sql(&f, "PRAGMA user_version"), STORE_SCHEMA_VERSION);
    CHECK(run_sql(&f, "SELECT count(*) FROM site") > 5);
    for (int i = 0; i < MADE_CASES; i++) {
        char *after = in_words(&f, f.cases[i].id);
        test_row(f.cases[i].scenario);
        REQUIRE(before[i] != NULL && after != NULL);
        if (f.cases[i].artifact_count == 0) /* others end with their files */
            CHECK_STR(after, before[i]);
        else
            CHECK(strncmp(after, before[i], strlen(after) - 8) == 0);
        free(before[i]);
        free(after);
    }
    tear_down(&f);
}

/* Puts the first case with MVID ("": none) as that of all its modules; returns its id. */
static uint64_t put_build(struct fixture *f, const char *mvid)
{
    struct run_case c = f->cases[0];
    struct engine_claim claim = c.claims[0];
    struct stack stack = claim.stacks[0];
    struct frame frames[8];
    struct module modules[8];
    REQUIRE(stack.frame_count <= COUNT_OF(frames));
    for (uint32_t i = 0; i < stack.frame_count; i++) {
        frames[i] = stack.frames[i];
        if (frames[i].module == NULL)
            continue;
        modules[i] = *frames[i].module;
        memcpy(modules[i].mvid, mvid, strlen(mvid) + 1);
        frames[i].module = &modules[i];
    }
    stack.frames = frames;
    claim.stacks = &stack;
    claim.stack_count = c.claim_count = 1;
    c.claims = &claim;
    c.artifact_count = 0;
    c.result.thread_count = c.result.finding_count = 0;
    c.truth = NULL;
    put(f, &c);
    return c.id;
}

/* The MVID of the innermost frame's module. */
static const char *stored_mvid(struct fixture *f, uint64_t case_id)
{
    struct run_case c;
    REQUIRE(store_read_case(f->store, case_id, &f->keep, &c, &f->fault) == ERR_NONE);
    REQUIRE(c.claim_count == 1 && c.claims[0].stack_count == 1);
    REQUIRE(c.claims[0].stacks[0].frames[0].module != NULL);
    return c.claims[0].stacks[0].frames[0].module->mvid;
}

TEST(builds_that_differ_in_their_mvid_alone_stay_apart)
{
    static const char *const mvids[] = {"03020100-0504-0706-0809-0A0B0C0D0E0F", "",
                                        "03020100-0504-0706-0809-0A0B0C0D0E10"};
    uint64_t ids[COUNT_OF(mvids)];
    struct fixture f;
    set_up(&f);
    for (size_t i = 0; i < COUNT_OF(mvids); i++)
        ids[i] = put_build(&f, mvids[i]);
    for (size_t i = 0; i < COUNT_OF(mvids); i++) {
        test_row(mvids[i]);
        CHECK_STR(stored_mvid(&f, ids[i]), mvids[i]);
    }
    tear_down(&f);
}

TEST(modules_of_a_database_without_mvids_have_none)
{
    struct fixture f;
    set_up(&f);
    const uint64_t id = put_build(&f, "03020100-0504-0706-0809-0A0B0C0D0E0F");
    store_close(f.store);
    const long long modules =
        run_sql(&f, UNDO_VERSION_22 UNDO_VERSION_21 UNDO_VERSION_20 UNDO_VERSION_19 UNDO_VERSION_18
                        UNDO_VERSION_17 UNDO_VERSION_16 UNDO_VERSION_15 UNDO_VERSION_14
                            UNDO_VERSION_13 UNDO_VERSION_12 "SELECT count(*) FROM module");
    open_it(&f);
    CHECK_EQ(run_sql(&f, "PRAGMA user_version"), STORE_SCHEMA_VERSION);
    CHECK_EQ(run_sql(&f, "SELECT count(*) FROM module"), modules);
    CHECK_STR(stored_mvid(&f, id), "");
    CHECK_STR(stored_mvid(&f, put_build(&f, "03020100-0504-0706-0809-0A0B0C0D0E0F")),
              "03020100-0504-0706-0809-0A0B0C0D0E0F");
    tear_down(&f);
}

TEST(equal_cases_add_rows_of_numbers_only)
{
    static const char *const tables[] = {"site", "text", "module", "artifact"};
    long long counts[4];
    struct fixture f;
    set_up(&f);
    for (int i = 0; i < MADE_CASES; i++)
        put(&f, &f.cases[i]);
    for (int t = 0; t < 4; t++) {
        char sql[64];
        (void)snprintf(sql, sizeof sql, "SELECT count(*) FROM %s", tables[t]);
        counts[t] = run_sql(&f, sql);
    }
    for (int i = 0; i < REPEATS; i++)
        put(&f, &f.cases[i % MADE_CASES]);
    for (int t = 0; t < 4; t++) {
        char sql[64];
        test_row(tables[t]);
        (void)snprintf(sql, sizeof sql, "SELECT count(*) FROM %s", tables[t]);
        CHECK(counts[t] > 0);
        CHECK_EQ(run_sql(&f, sql), counts[t]);
    }
    tear_down(&f);
}

/* One file of 100,000 equal bytes. */
static void put_file(struct fixture *f, struct case_artifact *file, struct run_case *c)
{
    char *data = arena_alloc(&f->keep, 100000);
    REQUIRE(data != NULL);
    memset(data, 'a', 100000);
    *file = (struct case_artifact){
        .role = ARTIFACT_RECORD, .name = "record.rec", .data = data, .bytes = 100000};
    text_sha256(data, 100000, file->sha256);
    *c = f->cases[0];
    c->artifacts = file;
    c->artifact_count = 1;
    put(f, c);
}

TEST(files_are_compressed_and_damage_is_reported)
{
    static const struct {
        const char *name, *sql;
        enum status want;
    } rows[] = {
        {"whole", "SELECT 1", ERR_NONE},
        {"a size that is too large", "UPDATE artifact SET plain_bytes = 100001", ERR_MALFORMED},
        {"a size that no file can have", "UPDATE artifact SET plain_bytes = 1 << 62",
         ERR_MALFORMED},
        {"a negative size", "UPDATE artifact SET plain_bytes = -1", ERR_MALFORMED},
        {"a size that is too small", "UPDATE artifact SET plain_bytes = 99999", ERR_MALFORMED},
        {"cut", "UPDATE artifact SET bytes = substr(bytes, 1, length(bytes) - 5)", ERR_MALFORMED},
        {"empty", "UPDATE artifact SET bytes = x''", ERR_MALFORMED},
        {"never compressed", "UPDATE artifact SET plain_bytes = NULL, bytes = x'41'", ERR_NONE},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fixture f;
        struct run_case c, back;
        struct case_artifact file;
        test_row(rows[i].name);
        set_up(&f);
        put_file(&f, &file, &c);
        CHECK(run_sql(&f, "SELECT max(length(bytes)) FROM artifact") < 1000);
        (void)run_sql(&f, rows[i].sql);
        CHECK_EQ(store_read_case(f.store, c.id, &f.keep, &back, &f.fault), rows[i].want);
        if (rows[i].want == ERR_NONE && i == 0) {
            REQUIRE(back.artifact_count == 1 && back.artifacts[0].bytes == 100000);
            CHECK(memcmp(back.artifacts[0].data, file.data, 100000) == 0);
        }
        tear_down(&f);
    }
}

struct opening {
    struct thread *thread;
    const char *path;
    struct fault fault;
};

static void open_and_close(void *context)
{
    struct opening *o = context;
    struct store *store = NULL;
    (void)store_open(o->path, STORE_WRITE, &store, &o->fault);
    store_close(store);
}

TEST(a_new_database_is_opened_by_several_at_once)
{
    static const struct fault none = FAULT_INIT;
    struct opening all[4];
    char path[512];
    (void)snprintf(path, sizeof path, "%s/new.db", test_scratch());
    for (int i = 0; i < REPEATS; i++) {
        (void)remove(path);
        for (size_t k = 0; k < COUNT_OF(all); k++) {
            all[k] = (struct opening){.path = path, .fault = none};
            all[k].thread = thread_start(open_and_close, &all[k]);
            REQUIRE(all[k].thread != NULL);
        }
        for (size_t k = 0; k < COUNT_OF(all); k++) {
            thread_join(all[k].thread);
            CHECK_STR(all[k].fault.code == ERR_NONE ? "opened" : all[k].fault.what, "opened");
        }
    }
}
