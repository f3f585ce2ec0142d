/* Texts that pages show count as of the database that they were made of, and for the program that
 * made them; damaged ones are as if they were not there. */
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/process.h"
#include "make_run.h"
#include "store/store.h"
#include "test.h"

struct fixture {
    struct arena keep;
    struct run_info run;
    struct run_case cases[MADE_CASES];
    struct store *store;
    struct fault fault;
    char path[512];
};

static const char address[] = "/metrics", program[] = "this one", another[] = "another";

static uint64_t begin(struct fixture *f)
{
    struct run_info run = f->run;
    run.uuid = NULL;
    REQUIRE(store_begin_run(f->store, &run, &f->keep, &f->fault) == ERR_NONE);
    return run.id;
}

static void finish(struct fixture *f, uint64_t run, enum run_state state)
{
    REQUIRE(store_finish_run(f->store, run, state, f->run.finished_ns, &f->fault) == ERR_NONE);
}

/* Two runs: the first is complete, the second was stopped. */
static void set_up(struct fixture *f)
{
    static const struct fault none = FAULT_INIT;
    memset(f, 0, sizeof *f);
    f->fault = none;
    arena_init(&f->keep, 0);
    make_run(&f->keep, &f->run, f->cases);
    (void)snprintf(f->path, sizeof f->path, "%s/shown.db", test_scratch());
    (void)remove(f->path);
    REQUIRE(store_open(f->path, STORE_WRITE, &f->store, &f->fault) == ERR_NONE);
    store_set_program(f->store, program);
    finish(f, begin(f), RUN_COMPLETE);
    finish(f, begin(f), RUN_INTERRUPTED);
}

static void tear_down(struct fixture *f)
{
    CHECK_EQ(f->fault.code, ERR_NONE);
    store_close(f->store);
    arena_free(&f->keep);
}

/* Changes the database as another program would. */
static void sql(const struct fixture *f, const char *script)
{
    sqlite3 *db = NULL;
    REQUIRE(sqlite3_open(f->path, &db) == SQLITE_OK);
    REQUIRE(sqlite3_exec(db, script, NULL, NULL, NULL) == SQLITE_OK);
    REQUIRE(sqlite3_close(db) == SQLITE_OK);
}

static const char *shown(struct fixture *f)
{
    size_t bytes = 0;
    const char *text = store_read_shown(f->store, address, 0, &f->keep, &bytes);
    CHECK(text == NULL || strlen(text) == bytes);
    return text;
}

static enum status put(struct fixture *f, uint64_t change, const char *text)
{
    const struct shown_text texts[] = {{address, text, strlen(text)}, {"/other", "x", 1}};
    return store_put_shown(f->store, change, texts, COUNT_OF(texts), &f->fault);
}

static void a_run_begins(struct fixture *f)
{
    (void)begin(f);
}

static void a_case_of_it(struct fixture *f)
{
    REQUIRE(store_put_case(f->store, begin(f), &f->cases[0], &f->fault) == ERR_NONE);
}

static void its_pace(struct fixture *f)
{
    const struct run_pace pace = {.total = 5};
    REQUIRE(store_put_pace(f->store, begin(f), &pace, &f->fault) == ERR_NONE);
}

static void it_ends(struct fixture *f)
{
    finish(f, begin(f), RUN_COMPLETE);
}

static void it_goes_on(struct fixture *f)
{
    REQUIRE(store_resume_run(f->store, 2, &f->fault) == ERR_NONE);
}

static void a_run_is_deleted(struct fixture *f)
{
    REQUIRE(store_delete_run(f->store, 2, &f->fault) == ERR_NONE);
}

static void all_are_pruned(struct fixture *f)
{
    uint32_t deleted = 0;
    REQUIRE(store_prune(f->store, 0, &deleted, &f->fault) == ERR_NONE);
}

static void a_baseline(struct fixture *f)
{
    REQUIRE(store_set_baseline(f->store, 1, "b", "p", &f->fault) == ERR_NONE);
}

static void it_moves(struct fixture *f)
{
    sql(f, "UPDATE baseline SET run_id = 1");
}

static void it_goes(struct fixture *f)
{
    sql(f, "DELETE FROM baseline");
}

static void runs_come_in(struct fixture *f)
{
    struct store *other = NULL;
    struct run_info run = f->run;
    uint32_t count = 0;
    run.uuid = NULL;
    REQUIRE(store_open(":memory:", STORE_WRITE, &other, &f->fault) == ERR_NONE);
    REQUIRE(store_begin_run(other, &run, &f->keep, &f->fault) == ERR_NONE);
    REQUIRE(store_finish_run(other, run.id, RUN_COMPLETE, 1, &f->fault) == ERR_NONE);
    REQUIRE(store_import(f->store, other, &count, &f->fault) == ERR_NONE && count == 1);
    store_close(other);
}

static void it_is_published(struct fixture *f)
{
    const char *copy = arena_printf(&f->keep, "%s/copy.db", test_scratch());
    REQUIRE(store_publish(f->store, copy, &f->fault) == ERR_NONE);
    store_close(f->store);
    REQUIRE(store_open(copy, STORE_READ, &f->store, &f->fault) == ERR_NONE);
    store_set_program(f->store, program);
}

static void a_run_is_killed(struct fixture *f)
{
    char self[PROCESS_NAME_BYTES];
    process_name_self(self); /* no process of this machine has that number */
    (void)begin(f);
    sql(f, arena_printf(&f->keep, "UPDATE run_note SET name = '%d%s' WHERE kind = 'process'",
                        INT32_MAX, strchr(self, '@')));
}

TEST(a_text_counts_until_what_is_shown_changes)
{
    static const struct {
        const char *name;
        void (*happens)(struct fixture *f);
        bool counts;
    } rows[] = {
        {"a run begins", a_run_begins, true},
        {"a case of it", a_case_of_it, true},
        {"its pace", its_pace, true},
        {"it ends", it_ends, false},
        {"one that was stopped goes on", it_goes_on, false},
        {"a run is deleted", a_run_is_deleted, false},
        {"all but baselines go", all_are_pruned, false},
        {"a baseline", a_baseline, false},
        {"it moves", it_moves, false},
        {"it goes", it_goes, false},
        {"runs of another database", runs_come_in, false},
        {"a run is killed", a_run_is_killed, false},
        {"a published copy", it_is_published, true},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fixture f;
        test_row(rows[i].name);
        set_up(&f);
        REQUIRE(store_set_baseline(f.store, 1, NULL, NULL, &f.fault) == ERR_NONE);
        REQUIRE(put(&f, store_wants_shown(f.store), "a text") == ERR_NONE);
        REQUIRE(shown(&f) != NULL);
        CHECK_EQ(store_wants_shown(f.store), 0);
        rows[i].happens(&f);
        CHECK_STR(shown(&f), rows[i].counts ? "a text" : NULL);
        tear_down(&f);
    }
}

static const char of_first[] = "/api/v1/runs/1/grid";

static const char *shown_of_first(struct fixture *f)
{
    size_t bytes = 0;
    return store_read_shown(f->store, of_first, 1, &f->keep, &bytes);
}

static void it_is_another(struct fixture *f)
{
    sql(f, "UPDATE run SET finished_ns = finished_ns + 1 WHERE id = 1");
}

static void it_was_stopped(struct fixture *f)
{
    sql(f, "UPDATE run SET state = 'interrupted' WHERE id = 1");
}

static void the_first_is_deleted(struct fixture *f)
{
    REQUIRE(store_delete_run(f->store, 1, &f->fault) == ERR_NONE);
}

/* A text of the first run: neither a later run nor one that was killed changes it. */
TEST(a_text_of_one_run_counts_until_its_run_its_history_or_a_baseline_changes)
{
    static const struct {
        const char *name;
        void (*happens)(struct fixture *f);
        bool counts, alone; /* the same of a text that says nothing of baselines */
    } rows[] = {
        {"another begins", a_run_begins, true, true},
        {"another ends", it_ends, true, true},
        {"a later one goes on", it_goes_on, true, true},
        {"a later one is deleted", a_run_is_deleted, true, true},
        {"runs of another database", runs_come_in, true, true},
        {"a run is killed", a_run_is_killed, true, true},
        {"a published copy", it_is_published, true, true},
        {"it is not what it was", it_is_another, false, false},
        {"it was stopped", it_was_stopped, false, false},
        {"a baseline", a_baseline, false, true},
        {"the baseline goes", it_goes, false, true},
        {"it is deleted", the_first_is_deleted, false, false},
    };
    for (size_t i = 0; i < 2 * COUNT_OF(rows); i++) {
        const bool alone = i >= COUNT_OF(rows);
        const size_t row = i % COUNT_OF(rows);
        struct fixture f;
        const struct shown_text text = {of_first, "a text", 6};
        test_row(rows[row].name);
        set_up(&f);
        REQUIRE(store_set_baseline(f.store, 1, "x", "y", &f.fault) == ERR_NONE);
        const uint64_t basis = store_shown_basis(f.store, 1, !alone);
        REQUIRE(basis > UINT64_MAX / 2);
        REQUIRE(store_put_shown(f.store, basis, &text, 1, &f.fault) == ERR_NONE);
        REQUIRE(put(&f, store_wants_shown(f.store), "now") == ERR_NONE);
        CHECK_STR(shown(&f), "now");
        REQUIRE(shown_of_first(&f) != NULL);
        rows[row].happens(&f);
        CHECK_STR(shown_of_first(&f),
                  (alone ? rows[row].alone : rows[row].counts) ? "a text" : NULL);
        tear_down(&f);
    }
}

TEST(the_texts_of_runs_that_are_gone_and_of_other_programs_go)
{
    static const struct {
        const char *address;
        bool stays;
    } rows[] = {{"/api/v1/runs/1", true},        {"/api/v1/runs/1/queue?limit=50", true},
                {"/api/v1/timing?run=1", true},  {"/api/v1/timing?limit=125&run=1", true},
                {"/api/v1/runs/2/grid", false},  {"/api/v1/runs/12", false},
                {"/api/v1/timing?run=2", false}, {"/api/v1/hooks?limit=1&run=2", false}};
    struct fixture f;
    set_up(&f);
    const uint64_t basis = store_shown_basis(f.store, 1, true);
    CHECK_EQ(store_shown_basis(f.store, begin(&f), true), 0); /* it is not over */
    CHECK_EQ(store_shown_basis(f.store, 99, true), 0);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct shown_text text = {rows[i].address, "a text", 6};
        REQUIRE(store_put_shown(f.store, basis, &text, 1, &f.fault) == ERR_NONE);
    }
    a_run_is_deleted(&f);
    const struct shown_text more = {"/api/v1/runs/1/more", "x", 1};
    REQUIRE(store_put_shown(f.store, basis, &more, 1, &f.fault) == ERR_NONE);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        size_t bytes = 0;
        test_row(rows[i].address);
        CHECK_EQ(store_read_shown(f.store, rows[i].address, 1, &f.keep, &bytes) != NULL,
                 rows[i].stays);
    }
    store_set_program(f.store, another);
    REQUIRE(store_put_shown(f.store, basis, &more, 1, &f.fault) == ERR_NONE);
    store_set_program(f.store, program);
    CHECK(store_read_shown(f.store, rows[0].address, 1, &f.keep, &(size_t){0}) == NULL);
    tear_down(&f);
}

/* What was made of older data is written after them, or by another program. */
TEST(only_a_text_of_now_and_of_this_program_counts)
{
    size_t bytes = 0;
    struct fixture f;
    set_up(&f);
    const uint64_t before = store_wants_shown(f.store);
    REQUIRE(before != 0);
    it_ends(&f);
    REQUIRE(put(&f, before, "late") == ERR_NONE);
    CHECK(shown(&f) == NULL);
    const uint64_t now = store_wants_shown(f.store);
    CHECK(now != 0 && now != before);
    REQUIRE(put(&f, now, "in time") == ERR_NONE);
    CHECK_STR(shown(&f), "in time");
    CHECK(store_read_shown(f.store, "/nowhere", 0, &f.keep, &bytes) == NULL);
    store_set_program(f.store, another);
    CHECK(shown(&f) == NULL);
    CHECK_EQ(store_wants_shown(f.store), now);
    store_set_program(f.store, NULL);
    CHECK(shown(&f) == NULL);
    CHECK_EQ(store_wants_shown(f.store), 0);
    store_set_program(f.store, another);
    a_run_begins(&f);
    CHECK_EQ(store_wants_shown(f.store), 0); /* its cases may be signs of an older run */
    tear_down(&f);
}

TEST(a_database_that_is_only_read_wants_none)
{
    struct fixture f;
    set_up(&f);
    store_close(f.store);
    REQUIRE(store_open(f.path, STORE_READ, &f.store, &f.fault) == ERR_NONE);
    store_set_program(f.store, program);
    CHECK_EQ(store_wants_shown(f.store), 0);
    struct fault refused = FAULT_INIT;
    const struct shown_text text = {address, "a text", 6};
    CHECK_EQ(store_put_shown(f.store, 1, &text, 1, &refused), ERR_IO);
    CHECK(shown(&f) == NULL);
    tear_down(&f);
}

TEST(a_damaged_text_is_none)
{
    static const struct {
        const char *name, *script;
    } rows[] = {
        {"not compressed", "UPDATE shown SET text = x'00112233445566778899'"},
        {"cut", "UPDATE shown SET text = substr(text, 1, length(text) - 2)"},
        {"longer than it says", "UPDATE shown SET plain_bytes = plain_bytes - 1"},
        {"shorter than it says", "UPDATE shown SET plain_bytes = plain_bytes + 1"},
        {"says more than there can be", "UPDATE shown SET plain_bytes = 32 << 20"},
        {"says more than is allowed", "UPDATE shown SET plain_bytes = 1 << 62"},
        {"says less than nothing", "UPDATE shown SET plain_bytes = -1"},
        {"too large", "UPDATE shown SET plain_bytes = NULL, text = zeroblob((32 << 20) + 1)"},
        {"of the future", "UPDATE shown SET change = 1 << 62"},
        {"no count", "DELETE FROM change"},
        {"no table", "DROP TABLE shown"},
    };
    char text[4096];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fixture f;
        test_row(rows[i].name);
        set_up(&f);
        REQUIRE(put(&f, store_wants_shown(f.store), text) == ERR_NONE);
        CHECK_STR(shown(&f), text);
        sql(&f, rows[i].script);
        CHECK(shown(&f) == NULL);
        tear_down(&f);
    }
}

TEST(texts_are_replaced_and_long_ones_are_left_out)
{
    struct fixture f;
    set_up(&f);
    char *text = arena_alloc(&f.keep, SHOWN_MAX_BYTES + 2);
    REQUIRE(text != NULL);
    memset(text, 'x', SHOWN_MAX_BYTES);
    const uint64_t now = store_wants_shown(f.store);
    static const struct {
        size_t bytes;
        bool stored;
    } rows[] = {
        {1, true}, {SHOWN_MAX_BYTES, true}, {(size_t)SHOWN_MAX_BYTES + 1, false}, {0, true}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        size_t bytes = 99;
        const struct shown_text one = {address, text, rows[i].bytes};
        text[SHOWN_MAX_BYTES] = 'x';
        REQUIRE(store_put_shown(f.store, now, &one, 1, &f.fault) == ERR_NONE);
        const char *back = store_read_shown(f.store, address, 0, &f.keep, &bytes);
        CHECK_EQ(back != NULL, rows[i].stored);
        if (back != NULL)
            CHECK(bytes == rows[i].bytes && memcmp(back, text, bytes) == 0);
    }
    tear_down(&f);
}
