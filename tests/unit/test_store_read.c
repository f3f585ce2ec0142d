/* What a comparison reads of a stored run, what it read is what was stored, and by which words a
 * run is found (store.h). */
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "base/files.h"
#include "base/process.h"
#include "make_run.h"
#include "model/known.h"
#include "random.h"
#include "store_fixture.h"

static struct run_info run_of(const char *uuid, const char *commit, const char *branch)
{
    return (struct run_info){.label = "run",
                             .command = "twinstack run",
                             .uuid = uuid,
                             .commit = commit,
                             .branch = branch,
                             .platform = "linux"};
}

TEST(a_run_is_found_by_the_start_of_its_uuid_or_commit)
{
    static const struct {
        const char *word;
        uint64_t want; /* 0: none */
    } rows[] = {
        {"0123", 1},     {"01234567", 1}, {"012", 0},     {"0124", 0},   {"abcdef", 0},
        {"abcdef0", 1},  {"abcdef1", 0},  {"fedcba9", 2}, {"98765", 2},  {"98769", 3},
        {"9876", 0},     {"9877", 0},     {"1", 1},       {"2", 2},      {"4", 0},
        {"first", 1},    {"second", 2},   {"secon", 0},   {"latest", 3}, {"latest~1", 2},
        {"latest~2", 1}, {"latest~3", 0},
    };
    struct store_fixture f;
    store_set_up(&f);
    struct run_info one = run_of("01234567-0000", "abcdef0123", "first");
    struct run_info two = run_of("98765432-0000", "fedcba9876", "second");
    struct run_info three = run_of("98769999-0000", "1111111111", "third");
    REQUIRE(store_begin_run(f.store, &one, &f.keep, &f.fault) == ERR_NONE);
    REQUIRE(store_finish_run(f.store, one.id, RUN_COMPLETE, 1, &f.fault) == ERR_NONE);
    REQUIRE(store_begin_run(f.store, &two, &f.keep, &f.fault) == ERR_NONE);
    REQUIRE(store_finish_run(f.store, two.id, RUN_COMPLETE, 2, &f.fault) == ERR_NONE);
    REQUIRE(store_begin_run(f.store, &three, &f.keep, &f.fault) == ERR_NONE);
    REQUIRE(store_finish_run(f.store, three.id, RUN_COMPLETE, 3, &f.fault) == ERR_NONE);
    REQUIRE(one.id == 1 && two.id == 2 && three.id == 3);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        uint64_t id = 0;
        test_row(rows[i].word);
        const enum status found = store_find_run(f.store, rows[i].word, &id, &f.fault);
        CHECK_EQ(found == ERR_NONE ? id : 0, rows[i].want);
        if (strcmp(rows[i].word, "9876") == 0)
            CHECK_STR(f.fault.hint, "more than one begins like that");
        fault_clear(&f.fault);
    }
    store_tear_down(&f);
}

enum { FRAMES = 3 };

/* A case with a finding that decides it, of each cause in turn. */
static void put_case(struct store_fixture *f, uint64_t run, uint32_t number, enum cause cause)
{
    const struct module module = {.name = "app.exe", .unloaded_at_ns = MODULE_STILL_LOADED};
    struct frame frames[FRAMES];
    struct stack stack = {
        .frames = frames, .frame_count = 1 + number % FRAMES, .role = THREAD_ROLE_SUSPECT};
    for (uint32_t i = 0; i < FRAMES; i++)
        frames[i] = (struct frame){
            .index = i, .module = &module, .module_name = "app.exe", .offset = 0x10 + i};
    struct engine_claim claims[] = {
        {.engine = "offset:rtl", .subject = true, .cost = {.total_ns = 100 + number}},
        {.engine = "dump",
         .subject = true,
         .stacks = &stack,
         .stack_count = 1,
         .cost = {.total_ns = 200 + number}},
        {.engine = "judge:x", .cost = {.total_ns = 300 + number}}};
    struct engine_score scores[] = {
        {.engine = "offset:rtl", .subject = true, .state = STACK_SKIPPED},
        {.engine = "dump", .subject = true, .state = STACK_OK, .frames = 1 + number % FRAMES},
        {.engine = "judge:x", .state = STACK_OK, .frames = 77}};
    struct finding finding = {.engine = "dump",
                              .against = FINDING_TRUTH,
                              .wrong = "dump",
                              .evidence = "what was seen",
                              .module = "app.exe",
                              .function = "f",
                              .level = (enum finding_level)(number % (LEVEL_LINE + 1)),
                              .cause = cause,
                              .blame = BLAME_WALK,
                              .blame_engine = "dump",
                              .frame_a = -1,
                              .frame_b = (int32_t)number,
                              .fails = true,
                              .against_truth = true};
    struct run_case c = {.scenario = "s",
                         .variant = arena_printf(&f->keep, "v%02u", (unsigned)number),
                         .kind = CASE_KIND_HANG,
                         .folder = "a/folder",
                         .claims = claims,
                         .claim_count = COUNT_OF(claims),
                         .result = {.verdict = VERDICT_FAIL,
                                    .reason = "its reason",
                                    .signature = "dump=x",
                                    .findings = &finding,
                                    .finding_count = 1,
                                    .scores = scores,
                                    .score_count = COUNT_OF(scores)}};
    REQUIRE(store_put_case(f->store, run, &c, &f->fault) == ERR_NONE);
}

TEST(a_side_of_a_comparison_has_what_was_stored)
{
    static const enum diff_detail details[] = {DIFF_VERDICTS, DIFF_STACKS, DIFF_TIMES};
    struct run_info run = run_of("01234567-0000", "abcdef0123", "first"), back;
    struct store_fixture f;
    store_set_up(&f);
    REQUIRE(store_begin_run(f.store, &run, &f.keep, &f.fault) == ERR_NONE);
    for (uint32_t i = 0; i < CAUSE_COUNT; i++)
        put_case(&f, run.id, i, (enum cause)i);
    REQUIRE(store_finish_run(f.store, run.id, RUN_COMPLETE, 1, &f.fault) == ERR_NONE);
    REQUIRE(store_read_run(f.store, run.id, &f.keep, &back, &f.fault) == ERR_NONE);
    for (size_t d = 0; d < COUNT_OF(details); d++) {
        struct diff_side side;
        const bool whole = details[d] == DIFF_TIMES;
        REQUIRE(store_read_side(f.store, &back, details[d], &f.keep, &side, &f.fault) == ERR_NONE);
        REQUIRE(side.count == CAUSE_COUNT);
        CHECK_EQ(side.series_count, whole ? 3 : 0);
        for (uint32_t i = 0; i < side.count; i++) {
            const struct diff_case *c = &side.cases[i];
            test_row(cause_name((enum cause)i));
            CHECK_STR(c->scenario, "s");
            CHECK_EQ(c->kind, CASE_KIND_HANG);
            CHECK_EQ(c->verdict, VERDICT_FAIL);
            CHECK_STR(c->signature, "dump=x");
            CHECK_EQ(c->index, i);
            CHECK_EQ(c->has, details[d] == DIFF_VERDICTS ? 0U : (unsigned)DIFF_HAS_DUMP);
            CHECK_EQ(c->frames, details[d] == DIFF_VERDICTS ? 0 : 1 + i % FRAMES);
            CHECK_EQ(c->finding != NULL, whole);
            if (!whole || c->finding == NULL)
                continue;
            CHECK_STR(c->reason, "its reason");
            CHECK_STR(c->folder, "a/folder");
            CHECK_STR(cause_name(c->finding->cause), cause_name((enum cause)i));
            CHECK_STR(c->finding->engine, "dump");
            CHECK_STR(c->finding->evidence, "what was seen");
            CHECK_STR(c->finding->module, "app.exe");
            CHECK_STR(c->finding->function, "f");
            CHECK_EQ(c->finding->level, i % (LEVEL_LINE + 1));
            CHECK_EQ(c->finding->blame, BLAME_WALK);
            CHECK_STR(c->finding->blame_engine, "dump");
            CHECK_STR(c->finding->wrong, "dump");
            CHECK(c->finding->against_truth && c->finding->fails);
            CHECK_EQ(c->finding->frame_a, -1);
            CHECK_EQ(c->finding->frame_b, i);
            CHECK(c->second == NULL);
        }
        for (uint32_t s = 0; s < side.series_count; s++)
            for (uint32_t i = 0; i < side.count; i++) {
                const char *engine = side.series[s].engine;
                test_row(engine);
                CHECK_EQ(side.series[s].subject, strncmp(engine, "judge", 5) != 0);
                CHECK_EQ(side.series[s].total_ns[i], s == 0 ? 0 : 100 * s + 100 + i);
            }
    }
    store_tear_down(&f);
}

/* Changes the database at PATH as another program would. */
static void change(const char *path, const char *sql)
{
    sqlite3 *db;
    REQUIRE(sqlite3_open(path, &db) == SQLITE_OK);
    REQUIRE(sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK);
    REQUIRE(sqlite3_close(db) == SQLITE_OK);
}

static int rows_of(const char *path, const char *table)
{
    char sql[128];
    sqlite3_stmt *ask;
    sqlite3 *db;
    (void)snprintf(sql, sizeof sql, "SELECT count(*) FROM %s", table);
    REQUIRE(sqlite3_open(path, &db) == SQLITE_OK);
    REQUIRE(sqlite3_prepare_v2(db, sql, -1, &ask, NULL) == SQLITE_OK);
    REQUIRE(sqlite3_step(ask) == SQLITE_ROW);
    const int count = sqlite3_column_int(ask, 0);
    REQUIRE(sqlite3_finalize(ask) == SQLITE_OK && sqlite3_close(db) == SQLITE_OK);
    return count;
}

/* Both runs that were killed count as finished, the older one too. */
TEST(runs_that_were_killed_are_among_the_latest)
{
    static const char *const words[] = {"latest", "latest~1", "latest~2"};
    char self[PROCESS_NAME_BYTES];
    struct store_fixture f;
    uint64_t found = 0;
    const char *path = store_set_up_file(&f, "killed.db");
    for (uint32_t i = 0; i < COUNT_OF(words); i++) {
        struct run_info run = run_of(arena_printf(&f.keep, "0123456%u-0000", i), "abcdef0123", "b");
        REQUIRE(store_begin_run(f.store, &run, &f.keep, &f.fault) == ERR_NONE);
        REQUIRE(run.id == i + 1);
    }
    REQUIRE(store_finish_run(f.store, 1, RUN_COMPLETE, 1, &f.fault) == ERR_NONE);
    process_name_self(self); /* no process of this machine has that number */
    change(path, arena_printf(&f.keep, "UPDATE run_note SET name = '%d%s' WHERE kind = 'process'",
                              INT32_MAX, strchr(self, '@')));
    for (uint32_t i = 0; i < COUNT_OF(words); i++) {
        test_row(words[i]);
        CHECK_EQ(store_find_run(f.store, words[i], &found, &f.fault), ERR_NONE);
        CHECK_EQ(found, COUNT_OF(words) - i);
    }
    store_tear_down(&f);
}

/* A way that took no stack is not measured, and has no row. */
TEST(a_case_without_a_measured_way_has_no_costs)
{
    static const struct {
        const char *name;
        uint64_t frames[WAY_COUNT];
        bool measured;
    } rows[] = {
        {"no way took a stack", {0}, false},
        {"one did", {[WAY_OFFSET] = 5}, true},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct run_info run = run_of("01234567-0000", "abcdef0123", "first");
        struct way_cost ways[WAY_COUNT] = {0};
        struct run_case c = {
            .scenario = "s", .variant = "v", .ways = ways, .result = {.verdict = VERDICT_PASS}};
        struct run_case back;
        struct store_fixture f;
        test_row(rows[i].name);
        store_set_up(&f);
        for (int way = 0; way < WAY_COUNT; way++)
            ways[way].frames = rows[i].frames[way];
        REQUIRE(store_begin_run(f.store, &run, &f.keep, &f.fault) == ERR_NONE);
        REQUIRE(store_put_case(f.store, run.id, &c, &f.fault) == ERR_NONE);
        REQUIRE(store_read_case(f.store, c.id, &f.keep, &back, &f.fault) == ERR_NONE);
        CHECK_EQ(back.ways != NULL, rows[i].measured);
        for (int way = 0; way < WAY_COUNT && back.ways != NULL; way++)
            CHECK_EQ(back.ways[way].frames, rows[i].frames[way]);
        store_tear_down(&f);
    }
}

/* As in a database that a later version wrote. */
TEST(a_way_that_is_not_known_is_left_out)
{
    struct run_info run = run_of("01234567-0000", "abcdef0123", "first");
    struct way_cost ways[WAY_COUNT] = {[WAY_DUMP] = {.frames = 7}, [WAY_OFFSET] = {.frames = 5}};
    struct run_case c = {
        .scenario = "s", .variant = "v", .ways = ways, .result = {.verdict = VERDICT_PASS}};
    struct run_case back;
    struct store_fixture f;
    const char *path = store_set_up_file(&f, "ways.db");
    REQUIRE(store_begin_run(f.store, &run, &f.keep, &f.fault) == ERR_NONE);
    REQUIRE(store_put_case(f.store, run.id, &c, &f.fault) == ERR_NONE);
    change(path, "UPDATE way_cost SET way = 'telepathy' WHERE way = 'dump'");
    REQUIRE(store_read_case(f.store, c.id, &f.keep, &back, &f.fault) == ERR_NONE);
    REQUIRE(back.ways != NULL);
    for (int way = 0; way < WAY_COUNT; way++)
        CHECK_EQ(back.ways[way].frames, way == WAY_OFFSET ? 5 : 0);
    store_tear_down(&f);
}

/* As after damage: the number of the thread that a stack is of is one too high. */
TEST(a_stack_of_a_thread_that_the_case_does_not_have_is_in_no_table)
{
    struct run_case cases[MADE_CASES], back;
    struct store_fixture f;
    struct run_info run;
    const char *path = store_set_up_file(&f, "damaged.db");
    make_run(&f.keep, &run, cases);
    REQUIRE(store_begin_run(f.store, &run, &f.keep, &f.fault) == ERR_NONE);
    REQUIRE(store_put_case(f.store, run.id, &cases[0], &f.fault) == ERR_NONE);
    const uint32_t threads = cases[0].result.thread_count;
    REQUIRE(threads > 0 && cases[0].claims[0].stack_count > 0);
    change(path, "UPDATE stack SET thread = thread + 1");
    REQUIRE(store_read_case(f.store, cases[0].id, &f.keep, &back, &f.fault) == ERR_NONE);
    REQUIRE(back.result.thread_count == threads);
    CHECK_EQ(back.claims[0].stack_count, cases[0].claims[0].stack_count);
    CHECK(back.result.threads[0].stacks[0] == NULL);
    store_tear_down(&f);
}

/* A program of the same schema may know one word more: of a frame it says the least, of a cell that
 * it was not judged. */
TEST(a_number_that_has_no_word_says_the_least)
{
    static const struct {
        const char *name, *table, *column;
        uint32_t last, least; /* the last one that has a word */
        size_t at;            /* in struct frame */
    } rows[] = {
        {"how it was found", "site", "found_by", FOUND_CFI, FOUND_GIVEN,
         offsetof(struct frame, found_by)},
        {"where its name is from", "site", "symbols", SYMBOLS_COUNT - 1, SYMBOLS_NONE,
         offsetof(struct frame, symbols)},
        {"its class", "site", "class", CLASS_GENERATED, CLASS_NONE,
         offsetof(struct frame, frame_class)},
        {"its identity", "site", "identity", IDENTITY_AMBIGUOUS, IDENTITY_UNCHECKED,
         offsetof(struct frame, identity)},
        {"its mark", "stack_frame", "mark", CELL_MARK_COUNT - 1, CELL_UNJUDGED, SIZE_MAX},
        {"its cause", "stack_frame", "cause", CAUSE_COUNT - 1, CAUSE_UNEXPLAINED, SIZE_MAX - 1},
    };
    for (size_t i = 0; i < 3 * COUNT_OF(rows); i++) {
        const uint32_t stored = i % 3 < 2 ? rows[i / 3].last + (uint32_t)(i % 3) : UINT32_MAX;
        const uint32_t want = i % 3 == 0 ? stored : rows[i / 3].least;
        struct run_case cases[MADE_CASES], back;
        struct store_fixture f;
        struct run_info run;
        char name[40];
        (void)snprintf(name, sizeof name, "numbers-%zu.db", i);
        test_row(rows[i / 3].name);
        const char *path = store_set_up_file(&f, name);
        make_run(&f.keep, &run, cases);
        REQUIRE(store_begin_run(f.store, &run, &f.keep, &f.fault) == ERR_NONE);
        REQUIRE(store_put_case(f.store, run.id, &cases[0], &f.fault) == ERR_NONE);
        change(path, arena_printf(&f.keep, "UPDATE OR REPLACE %s SET %s = %u", rows[i / 3].table,
                                  rows[i / 3].column, stored));
        REQUIRE(store_read_case(f.store, cases[0].id, &f.keep, &back, &f.fault) == ERR_NONE);
        REQUIRE(back.claims[0].stack_count > 0 && back.claims[0].stacks[0].frame_count > 0);
        const struct align_cell *cell = thread_result_cell(&back.result.threads[0], 0, 1);
        unsigned got = 0;
        if (rows[i / 3].at == SIZE_MAX)
            got = (unsigned)cell->mark;
        else if (rows[i / 3].at == SIZE_MAX - 1)
            got = (unsigned)cell->cause;
        else
            memcpy(&got, (const char *)&back.claims[0].stacks[0].frames[0] + rows[i / 3].at,
                   sizeof got);
        CHECK_EQ(got, want);
        store_tear_down(&f);
    }
}

/* A verdict decides what a reader does, so one that is not known is no verdict; another word that
 * is not known says the least. */
TEST(a_word_that_is_not_known_is_refused_or_says_the_least)
{
    static const struct {
        const char *name, *change;
        enum status status;
    } rows[] = {
        {"nothing", "SELECT 1", ERR_NONE},
        {"a verdict", "UPDATE crash_case SET verdict = 'MAYBE'", ERR_MALFORMED},
        {"a cause", "UPDATE finding SET cause = 'magic', level = 99", ERR_NONE},
        {"a state", "UPDATE run SET state = 'asleep'", ERR_NONE},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const bool cause = strstr(rows[i].change, "magic") != NULL;
        const bool state = strstr(rows[i].change, "asleep") != NULL;
        struct run_case cases[MADE_CASES], back, *outcomes = NULL;
        struct fault one = FAULT_INIT, all = FAULT_INIT, side_fault = FAULT_INIT;
        struct diff_side side;
        struct store_fixture f;
        struct run_info run, read;
        uint32_t count = 0;
        char name[40];
        (void)snprintf(name, sizeof name, "words-%zu.db", i);
        test_row(rows[i].name);
        const char *path = store_set_up_file(&f, name);
        make_run(&f.keep, &run, cases);
        REQUIRE(store_begin_run(f.store, &run, &f.keep, &f.fault) == ERR_NONE);
        for (uint32_t k = 0; k < MADE_CASES; k++)
            REQUIRE(store_put_case(f.store, run.id, &cases[k], &f.fault) == ERR_NONE);
        REQUIRE(store_finish_run(f.store, run.id, RUN_COMPLETE, 9, &f.fault) == ERR_NONE);
        change(path, rows[i].change);
        REQUIRE(store_read_run(f.store, run.id, &f.keep, &read, &f.fault) == ERR_NONE);
        CHECK_EQ(read.state, state ? RUN_INTERRUPTED : RUN_COMPLETE);
        CHECK_EQ(read.case_count, MADE_CASES);
        CHECK_EQ(store_read_case(f.store, cases[2].id, &f.keep, &back, &one), rows[i].status);
        CHECK_EQ(store_read_outcomes(f.store, run.id, &f.keep, &outcomes, &count, &all),
                 rows[i].status);
        CHECK_EQ(store_read_side(f.store, &run, DIFF_TIMES, &f.keep, &side, &side_fault),
                 rows[i].status);
        if (rows[i].status == ERR_NONE) {
            REQUIRE(back.result.finding_count > 0);
            const struct finding *first = &back.result.findings[0];
            CHECK_EQ(first->cause, cause ? CAUSE_UNEXPLAINED : cases[2].result.findings[0].cause);
            CHECK_EQ(first->level, cause ? LEVEL_PHYSICAL : cases[2].result.findings[0].level);
        }
        store_tear_down(&f);
    }
}

/* What only deleted runs had takes no room. */
TEST(a_pruned_database_has_no_rows_of_deleted_runs)
{
    static const char *const tables[] = {"crash_case", "site", "module", "artifact"};
    struct run_case cases[MADE_CASES];
    struct store_fixture f;
    struct run_info run;
    uint32_t deleted = 0;
    const char *path = store_set_up_file(&f, "pruned.db");
    make_run(&f.keep, &run, cases);
    REQUIRE(store_begin_run(f.store, &run, &f.keep, &f.fault) == ERR_NONE);
    for (int i = 0; i < MADE_CASES; i++)
        REQUIRE(store_put_case(f.store, run.id, &cases[i], &f.fault) == ERR_NONE);
    REQUIRE(store_finish_run(f.store, run.id, RUN_COMPLETE, 1, &f.fault) == ERR_NONE);
    for (int pruned = 0; pruned < 2; pruned++) {
        if (pruned != 0)
            REQUIRE(store_prune(f.store, 0, &deleted, &f.fault) == ERR_NONE);
        for (size_t i = 0; i < COUNT_OF(tables); i++) {
            test_row(tables[i]);
            CHECK_EQ(rows_of(path, tables[i]) > 0, pruned == 0);
        }
    }
    CHECK_EQ(deleted, 1);
    store_tear_down(&f);
}

TEST(pruning_keeps_the_newest_finished_runs_and_the_baseline)
{
    static const struct {
        const char *name;
        uint32_t runs, keep;
        uint64_t baseline; /* 0: none */
        bool goes_on;      /* the newest one */
        uint32_t deleted;
        uint64_t first, second; /* the oldest two that are left; 0: none */
    } rows[] = {
        {"one more than is kept", 4, 3, 0, false, 1, 2, 3},
        {"as many as are kept", 3, 3, 0, false, 0, 1, 2},
        {"fewer than are kept", 2, 3, 0, false, 0, 1, 2},
        {"one is kept", 3, 1, 0, false, 2, 3, 0},
        {"none is kept", 3, 0, 0, false, 3, 0, 0},
        {"the baseline does not count", 4, 2, 1, false, 1, 1, 3},
        {"the newest is the baseline", 5, 1, 5, false, 3, 4, 5},
        {"a run that goes on does not count", 4, 2, 0, true, 1, 2, 3},
        {"no finished run is kept", 2, 0, 0, true, 1, 2, 0},
        {"256 are deleted", 256, 0, 0, false, 256, 0, 0},
        {"257 are deleted", 258, 1, 0, false, 257, 258, 0},
        {"600 are deleted", 602, 2, 0, false, 600, 601, 602},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct store_fixture f;
        uint32_t deleted = 0;
        uint64_t left[2] = {0, 0}, count = 0;
        test_row(rows[i].name);
        store_set_up(&f);
        for (uint32_t n = 1; n <= rows[i].runs; n++) {
            struct run_info run = run_of(arena_printf(&f.keep, "%08x-0", n), "abcdef0", "main");
            REQUIRE(store_begin_run(f.store, &run, &f.keep, &f.fault) == ERR_NONE);
            if (n < rows[i].runs || !rows[i].goes_on)
                REQUIRE(store_finish_run(f.store, run.id, n % 2 ? RUN_COMPLETE : RUN_INTERRUPTED, n,
                                         &f.fault) == ERR_NONE);
        }
        if (rows[i].baseline != 0)
            REQUIRE(store_set_baseline(f.store, rows[i].baseline, NULL, NULL, &f.fault) ==
                    ERR_NONE);
        REQUIRE(store_prune(f.store, rows[i].keep, &deleted, &f.fault) == ERR_NONE);
        CHECK_EQ(deleted, rows[i].deleted);
        for (uint64_t id = 1; id <= rows[i].runs; id++) {
            struct run_info run;
            if (store_read_run(f.store, id, &f.keep, &run, &f.fault) == ERR_NONE && count++ < 2)
                left[count - 1] = id;
            fault_clear(&f.fault);
        }
        CHECK_EQ(count, rows[i].runs - rows[i].deleted);
        CHECK_EQ(left[0], rows[i].first);
        CHECK_EQ(left[1], rows[i].second);
        store_tear_down(&f);
    }
}

TEST(a_database_is_published_to_any_file_but_itself)
{
    static const struct {
        const char *name, *to; /* in the scratch folder */
        enum status want;
    } rows[] = {
        {"a new file", "new.db", ERR_NONE},
        {"a file that is there", "new.db", ERR_NONE},
        {"a file of another program", "text.db", ERR_NONE},
        {"beside what a killed one left", "left.db", ERR_NONE},
        {"itself", "source.db", ERR_USAGE},
        {"itself, another spelling", "./folder/../source.db", ERR_USAGE},
        {"a folder", "folder", ERR_USAGE},
        {"in a folder that is missing", "missing/new.db", ERR_IO},
    };
    struct store_fixture f;
    struct run_info run = run_of("01234567-0000", "abcdef0123", "first");
    const char *source = store_set_up_file(&f, "source.db");
    REQUIRE(store_begin_run(f.store, &run, &f.keep, &f.fault) == ERR_NONE);
    REQUIRE(folder_make(arena_printf(&f.keep, "%s/folder", test_scratch()), &f.fault) == ERR_NONE);
    test_write(arena_printf(&f.keep, "%s/text.db", test_scratch()), "text", 4);
    test_write(arena_printf(&f.keep, "%s/left.db.part", test_scratch()), "text", 4);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct store *copy = NULL;
        struct run_info back;
        const char *to = arena_printf(&f.keep, "%s/%s", test_scratch(), rows[i].to);
        test_row(rows[i].name);
        CHECK_EQ(store_publish(f.store, to, &f.fault), rows[i].want);
        CHECK(!path_is_file(arena_printf(&f.keep, "%s.part", to)));
        fault_clear(&f.fault);
        const char *whole = rows[i].want == ERR_NONE ? to : source;
        REQUIRE(store_open(whole, STORE_READ, &copy, &f.fault) == ERR_NONE);
        CHECK_EQ(store_read_run(copy, run.id, &f.keep, &back, &f.fault), ERR_NONE);
        store_close(copy);
    }
    store_tear_down(&f);
}

/* Outcomes have the findings that findings_deciding() chooses among all. */
TEST(the_findings_that_decide_are_one_rule_in_sql_and_here)
{
    enum { CASES = 900, FINDINGS = 6 };
    static const enum cause causes[] = {CAUSE_WRONG_STEP, CAUSE_SYMBOLS_MISSING, CAUSE_LINE_TABLE};
    static const enum blame blames[] = {BLAME_WALK, BLAME_SYMBOLS_SHARED, BLAME_UNKNOWN};
    static struct finding findings[CASES][FINDINGS];
    struct store_fixture f;
    struct run_case *read = NULL;
    uint64_t random = 43;
    uint32_t count = 0, second = 0, beyond = 0;
    store_set_up(&f);
    struct run_info run = run_of("01234567-0000", "abcdef0123", "first");
    REQUIRE(store_begin_run(f.store, &run, &f.keep, &f.fault) == ERR_NONE);
    for (uint32_t i = 0; i < CASES; i++) {
        for (uint32_t k = 0; k < FINDINGS; k++)
            findings[i][k] =
                (struct finding){.engine = "dump",
                                 .against = "offset:rtl",
                                 .evidence = arena_printf(&f.keep, "finding %u", (unsigned)k),
                                 .cause = causes[next_random(&random) % COUNT_OF(causes)],
                                 .blame = blames[next_random(&random) % COUNT_OF(blames)],
                                 .blame_engine = "dump",
                                 .level = (enum finding_level)(next_random(&random) % 3),
                                 .frame_a = (int32_t)(next_random(&random) % 3) - 1,
                                 .thread_id = (uint32_t)(next_random(&random) % 2),
                                 .row = (uint32_t)(next_random(&random) % 4),
                                 .fails = next_random(&random) % 3 != 0};
        struct run_case c = {.scenario = "null_write",
                             .variant = arena_printf(&f.keep, "v%u", (unsigned)i),
                             .kind = CASE_KIND_CRASH,
                             .result = {.verdict = VERDICT_FAIL,
                                        .reason = i % 4 == 0 ? KNOWN_BEYOND "a] accepted: b" : "c",
                                        .right = "",
                                        .signature = "s",
                                        .findings = findings[i],
                                        .finding_count = FINDINGS}};
        REQUIRE(store_put_case(f.store, run.id, &c, &f.fault) == ERR_NONE);
    }
    REQUIRE(store_read_outcomes(f.store, run.id, &f.keep, &read, &count, &f.fault) == ERR_NONE);
    REQUIRE(count == CASES);
    for (uint32_t i = 0; i < CASES; i++) {
        const struct finding *want[FINDINGS_DECIDING];
        findings_deciding(findings[i], FINDINGS, i % 4 == 0 ? KNOWN_BEYOND "a]" : "c", want);
        const struct case_result *got = &read[i].result;
        test_row(read[i].variant);
        CHECK_EQ(got->finding_count, (want[0] != NULL) + (want[1] != NULL));
        for (uint32_t k = 0; k < got->finding_count && want[k] != NULL; k++) {
            CHECK_STR(got->findings[k].evidence, want[k]->evidence);
            CHECK_EQ(got->findings[k].blame, want[k]->blame);
        }
        second += want[1] != NULL;
        beyond += want[0] != finding_deciding(findings[i], FINDINGS);
    }
    CHECK(second > 10);
    CHECK(beyond > 10);
    store_tear_down(&f);
}
