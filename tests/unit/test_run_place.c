/* Where the cases of a run are, which old folders make room for them, and how an interrupted run is
 * found and taken up: conduct/run_session.h. */
#include <stdio.h>
#include <string.h>

#include "base/files.h"
#include "conduct/run_session.h"
#include "store_fixture.h"

/* 2023-11-14 22:13:20 UTC, as `date -u -d @1700000000` prints it. */
#define BEGAN_S UINT64_C(1700000000)
#define FOLDER "20231114T221320.900000042Z"

static const struct run_info newest = {.started_ns = BEGAN_S * 1000000000U + 900000042};

TEST(a_folder_of_a_run_is_named_by_its_start)
{
    static const struct {
        const char *name, *db, *out, *want;
    } rows[] = {
        {"beside the database", "x/y/runs.db", NULL, "x/y/runs/" FOLDER},
        {"of a database in this folder", "runs.db", NULL, "./runs/" FOLDER},
        {"of a database in the root", "/runs.db", NULL, "/runs/" FOLDER},
        {"a folder of the user", "x/y/runs.db", "mine", "mine"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena keep;
        const struct run_request request = {.db = rows[i].db, .out = rows[i].out};
        struct run_session s = {
            .request = &request, .keep = &keep, .info = newest, .fault = FAULT_INIT};
        test_row(rows[i].name);
        arena_init(&keep, 0);
        CHECK_EQ(run_choose_folder(&s), ERR_NONE);
        CHECK_STR(s.collect.out_folder, rows[i].want);
        arena_free(&keep);
    }
}

static const char *below(struct arena *keep, const char *name)
{
    const char *path = arena_printf(keep, "%s/%s", test_scratch(), name);
    REQUIRE(path != NULL);
    return path;
}

/* Folders are data of users: of those that runs have named by the time, nine stay beside the new
 * one, and all others. */
TEST(only_old_folders_that_runs_have_named_are_removed)
{
    static const char *const others[] = {
        "20231113",                   /* a day */
        "20231113T000000",            /* without a fraction */
        "20231113-000000.000000001Z", /* another form */
        "2023111T000000.000000001Z",  /* seven digits */
        "202311130T00000.000000001Z", /* nine */
        "baseline",
    };
    static const struct {
        const char *name;
        int before;
        const char *resume;
        int removed; /* the oldest */
    } rows[] = {
        {"room for one more", 9, NULL, 0},
        {"one too many", 10, NULL, 1},
        {"three too many", 12, NULL, 3},
        {"a run that goes on needs no room", 12, "last", 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena keep;
        arena_init(&keep, 0);
        const char *runs = below(&keep, arena_printf(&keep, "%zu/runs", i));
        const struct run_request request = {
            .db = below(&keep, arena_printf(&keep, "%zu/runs.db", i)), .resume = rows[i].resume};
        struct run_session s = {
            .request = &request, .keep = &keep, .info = newest, .fault = FAULT_INIT};
        test_row(rows[i].name);
        for (int k = 0; k < rows[i].before; k++)
            REQUIRE(
                folder_make(arena_printf(&keep, "%s/20231113T0000%02d.000000001Z/cases", runs, k),
                            &s.fault) == ERR_NONE);
        for (size_t k = 0; k < COUNT_OF(others); k++)
            REQUIRE(folder_make(path_join(&keep, runs, others[k]), &s.fault) == ERR_NONE);
        CHECK_EQ(run_choose_folder(&s), ERR_NONE);
        for (int k = 0; k < rows[i].before; k++)
            CHECK_EQ(path_is_folder(
                         arena_printf(&keep, "%s/20231113T0000%02d.000000001Z/cases", runs, k)),
                     k >= rows[i].removed);
        for (size_t k = 0; k < COUNT_OF(others); k++)
            CHECK(path_is_folder(path_join(&keep, runs, others[k])));
        arena_free(&keep);
    }
}

/* ---- which run goes on ------------------------------------------------------------------- */

#define COMPLETE "a complete run is never changed"
#define OTHER "only what `twinstack run` began can go on"
#define GOES_ON "it is going on: another twinstack works on it"
#define NONE_LEFT "every run in the database is complete, or going on"

/* Each letter is a run, the oldest first: c complete, i interrupted, a running and its process is
 * alive, b an interrupted bench. */
static void put_runs(struct store_fixture *f, const char *runs)
{
    for (const char *run = runs; *run != '\0'; run++) {
        struct run_info info = {
            .label = *run == 'b' ? "bench" : "run",
            .started_ns = newest.started_ns + (uint64_t)(run - runs),
            .command = "twinstack run -k 'a b'",
        };
        REQUIRE(store_begin_run(f->store, &info, &f->keep, &f->fault) == ERR_NONE);
        CHECK_EQ(info.id, run - runs + 1);
        if (*run == 'c' || *run == 'i' || *run == 'b')
            REQUIRE(store_finish_run(f->store, info.id,
                                     *run == 'c' ? RUN_COMPLETE : RUN_INTERRUPTED, 9,
                                     &f->fault) == ERR_NONE);
    }
}

TEST(the_run_that_goes_on_is_the_newest_that_can)
{
    static const struct {
        const char *name, *runs, *resume;
        uint64_t want; /* its number; 0: none */
        enum status status;
        const char *hint;
    } rows[] = {
        {"the newest of two", "ii", "last", 2, ERR_NONE, NULL},
        {"before one that is complete", "ic", "last", 1, ERR_NONE, NULL},
        {"before one that goes on", "ia", "last", 1, ERR_NONE, NULL},
        {"before a bench", "ib", "last", 1, ERR_NONE, NULL},
        {"by its number", "iic", "1", 1, ERR_NONE, NULL},
        {"all are complete", "cc", "last", 0, ERR_ABSENT, NONE_LEFT},
        {"the only one goes on", "a", "last", 0, ERR_ABSENT, NONE_LEFT},
        {"no run", "", "last", 0, ERR_ABSENT, NONE_LEFT},
        {"a number that is complete", "ci", "1", 0, ERR_USAGE, COMPLETE},
        {"a number that goes on", "ai", "1", 0, ERR_USAGE, GOES_ON},
        {"the number of a bench", "b", "1", 0, ERR_USAGE, OTHER},
        {"a number that is not there", "i", "7", 0, ERR_ABSENT, NULL},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct store_fixture f;
        char **argv = NULL;
        int argc = 0;
        test_row(rows[i].name);
        store_set_up(&f);
        put_runs(&f, rows[i].runs);
        const struct run_request request = {.resume = rows[i].resume};
        struct run_session s = {
            .request = &request, .keep = &f.keep, .store = f.store, .fault = FAULT_INIT};
        CHECK_EQ(run_session_find_resumed(&s, &argc, &argv), rows[i].status);
        if (rows[i].hint != NULL)
            CHECK_HAS(s.fault.hint, rows[i].hint);
        if (rows[i].status == ERR_NONE && CHECK_EQ(s.info.id, rows[i].want) && CHECK_EQ(argc, 2)) {
            CHECK_STR(argv[0], "-k");
            CHECK_STR(argv[1], "a b");
        }
        store_tear_down(&f);
    }
}

/* ---- taking it up -------------------------------------------------------------------------- */

TEST(a_run_goes_on_with_its_cases_if_nothing_has_changed)
{
    static const struct {
        const char *name;
        const char *commit, *compiler, *out;
        uint32_t room; /* cases that the scenarios of now make */
        enum status status;
        const char *fact, *before, *now;
        uint32_t cases;
        const char *folder;
    } rows[] = {
        {"nothing has", "c1", "cc 1", "given", 4, ERR_NONE, NULL, NULL, NULL, 3, "/elsewhere/"},
        {"another commit", "c2", "cc 1", "given", 4, ERR_USAGE, "commit", "c1", "c2", 0, NULL},
        {"no commit", NULL, "cc 1", "given", 4, ERR_USAGE, "commit", "c1", NULL, 0, NULL},
        {"another compiler", "c1", "cc 2", "given", 4, ERR_USAGE, "compiler", "cc 1", "cc 2", 0,
         NULL},
        {"fewer scenarios", "c1", "cc 1", "given", 2, ERR_NONE, NULL, NULL, NULL, 2, "/elsewhere/"},
        {"no room", "c1", "cc 1", "given", 0, ERR_NONE, NULL, NULL, NULL, 0, "given"},
    };
    static const struct {
        const char *scenario, *variant;
        uint32_t repeat;
        bool there;
    } asked[] = {
        {"a", "ob0", 0, true},  {"a", "ob0", 1, true},  {"b", "ob2", 0, true},
        {"a", "ob2", 0, false}, {"b", "ob0", 0, false}, {"b", "ob2", 1, false},
        {"c", "ob0", 0, false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct store_fixture f;
        struct run_case cases[4];
        struct diff_fact changed = {NULL, NULL, NULL};
        const struct run_request request = {.db = "runs.db", .out = rows[i].out, .resume = "1"};
        struct run_info info = newest, now = newest;
        test_row(rows[i].name);
        memset(cases, 0, sizeof cases);
        store_set_up(&f);
        info.label = "run";
        info.commit = "c1";
        info.compiler = "cc 1";
        now.commit = rows[i].commit;
        now.compiler = rows[i].compiler;
        REQUIRE(store_begin_run(f.store, &info, &f.keep, &f.fault) == ERR_NONE);
        for (int k = 0; k < 3; k++) {
            struct run_case c = {.scenario = asked[k].scenario,
                                 .variant = asked[k].variant,
                                 .repeat = asked[k].repeat,
                                 .folder = k == 1 ? "/elsewhere/cases.1/a.ob0" : NULL};
            REQUIRE(store_put_case(f.store, info.id, &c, &f.fault) == ERR_NONE);
        }
        REQUIRE(store_finish_run(f.store, info.id, RUN_INTERRUPTED, 9, &f.fault) == ERR_NONE);
        struct run_session s = {.request = &request,
                                .keep = &f.keep,
                                .store = f.store,
                                .info = info,
                                .cases = cases,
                                .case_count = rows[i].room,
                                .fault = FAULT_INIT};
        CHECK_EQ(run_take_up(&s, &now, &changed), rows[i].status);
        CHECK_STR(changed.name, rows[i].fact);
        CHECK_STR(changed.a, rows[i].before);
        CHECK_STR(changed.b, rows[i].now);
        CHECK_EQ(s.stored_count, rows[i].cases);
        CHECK_STR(s.collect.out_folder, rows[i].folder);
        for (size_t k = 0; k < COUNT_OF(asked) && rows[i].cases == 3; k++) {
            const struct scenario scenario = {.name = asked[k].scenario,
                                              .variant = asked[k].variant};
            CHECK_EQ(run_has_case(&s, &scenario, asked[k].repeat), asked[k].there);
        }
        struct run_info stored;
        REQUIRE(store_read_run(f.store, info.id, &f.keep, &stored, &f.fault) == ERR_NONE);
        CHECK_EQ(stored.state, rows[i].status == ERR_NONE ? RUN_RUNNING : RUN_INTERRUPTED);
        store_tear_down(&f);
    }
}
