/* What a comparison reads of each case of a stored run, by itself (store/read_side.c). */
#include "store_fixture.h"

/* Cases that differ in all that a side keeps: repeats, a truth, stacks of either way, none. */
TEST(a_side_has_each_case_by_itself)
{
    static struct truth truth;
    struct run_info run = {
        .label = "run", .command = "twinstack run", .uuid = "1", .platform = "linux"};
    struct run_info back;
    struct engine_claim claims[] = {
        {.engine = "judge:x", .cost = {.total_ns = 7}},
        {.engine = "offset:rtl", .subject = true, .cost = {.total_ns = 11}},
        {.engine = "dump", .subject = true, .cost = {.total_ns = 13}}};
    struct engine_score both[] = {
        {.engine = "judge:x", .state = STACK_OK, .frames = 9},
        {.engine = "offset:rtl", .subject = true, .state = STACK_OK, .frames = 5},
        {.engine = "dump", .subject = true, .state = STACK_OK, .frames = 3}};
    struct engine_score cut[] = {
        {.engine = "judge:x", .state = STACK_OK, .frames = 9},
        {.engine = "offset:rtl", .subject = true, .state = STACK_FAILED, .frames = 2},
        {.engine = "dump", .subject = true, .state = STACK_OK, .frames = 0}};
    struct run_case given[] = {
        {.scenario = "a",
         .variant = "v",
         .kind = CASE_KIND_CRASH,
         .folder = "kept",
         .truth = &truth,
         .claims = claims,
         .claim_count = COUNT_OF(claims),
         .result = {.verdict = VERDICT_PASS, .scores = both, .score_count = COUNT_OF(both)}},
        {.scenario = "a",
         .variant = "v",
         .repeat = 2,
         .kind = CASE_KIND_HANG,
         .folder = "failed",
         .result = {.verdict = VERDICT_ERROR, .reason = "gone"}},
        {.scenario = "b",
         .variant = "w",
         .kind = CASE_KIND_CRASH,
         .claims = claims,
         .claim_count = COUNT_OF(claims),
         .result = {.verdict = VERDICT_XFAIL, .scores = cut, .score_count = COUNT_OF(cut)}},
    };
    static const struct {
        const char *variant, *folder, *reason;
        uint32_t repeat, frames, has;
        uint64_t ns[3]; /* of judge:x, offset:rtl and dump */
    } want[COUNT_OF(given)] = {
        {"v", NULL, NULL, 0, 5, DIFF_HAS_TRUTH | DIFF_HAS_OFFSET | DIFF_HAS_DUMP, {7, 11, 13}},
        {"v", "failed", "gone", 2, 0, 0, {0}},
        {"w", NULL, NULL, 0, 2, 0, {7, 0, 13}},
    };
    struct store_fixture f;
    struct diff_side side;
    store_set_up(&f);
    REQUIRE(store_begin_run(f.store, &run, &f.keep, &f.fault) == ERR_NONE);
    for (size_t i = 0; i < COUNT_OF(given); i++)
        REQUIRE(store_put_case(f.store, run.id, &given[i], &f.fault) == ERR_NONE);
    REQUIRE(store_finish_run(f.store, run.id, RUN_COMPLETE, 1, &f.fault) == ERR_NONE);
    REQUIRE(store_read_run(f.store, run.id, &f.keep, &back, &f.fault) == ERR_NONE);
    REQUIRE(store_read_side(f.store, &back, DIFF_TIMES, &f.keep, &side, &f.fault) == ERR_NONE);
    REQUIRE(side.count == COUNT_OF(given) && side.series_count == 3);
    for (size_t i = 0; i < COUNT_OF(given); i++) {
        const struct diff_case *c = &side.cases[i];
        CHECK_STR(c->scenario, given[i].scenario);
        CHECK_STR(c->variant, want[i].variant);
        CHECK_EQ(c->verdict, given[i].result.verdict);
        CHECK_EQ(c->repeat, want[i].repeat);
        CHECK_EQ(c->kind, given[i].kind);
        CHECK_STR(c->folder != NULL ? c->folder : "-",
                  want[i].folder != NULL ? want[i].folder : "-");
        CHECK_STR(c->reason != NULL ? c->reason : "-",
                  want[i].reason != NULL ? want[i].reason : "-");
        CHECK_EQ(c->frames, want[i].frames);
        CHECK_EQ(c->has, want[i].has);
        CHECK(c->finding == NULL && c->second == NULL);
        for (size_t s = 0; s < 3; s++)
            CHECK_EQ(side.series[s].total_ns[i], want[i].ns[s]);
    }
    /* a run that is being written has more cases than its head says */
    back.case_count = 2;
    REQUIRE(store_read_side(f.store, &back, DIFF_TIMES, &f.keep, &side, &f.fault) == ERR_NONE);
    CHECK_EQ(side.count, 2);
    store_tear_down(&f);
}

/* A run that was cut off knows since when its cases fail, as a complete one does. */
TEST(a_history_begins_with_the_run_itself)
{
    static const struct {
        const char *name;
        enum run_state before, last;
        enum verdict first;
        int failing, good; /* which of the three runs; -1: none */
    } rows[] = {
        {"complete", RUN_COMPLETE, RUN_COMPLETE, VERDICT_PASS, 1, 0},
        {"cut off", RUN_COMPLETE, RUN_INTERRUPTED, VERDICT_PASS, 1, 0},
        {"the one before, too", RUN_INTERRUPTED, RUN_INTERRUPTED, VERDICT_PASS, 2, 0},
        {"it always failed", RUN_COMPLETE, RUN_INTERRUPTED, VERDICT_FAIL, 0, -1},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const enum run_state states[] = {RUN_COMPLETE, rows[i].before, rows[i].last};
        struct run_info runs[3];
        struct case_history got;
        struct store_fixture f;
        store_set_up(&f);
        test_row(rows[i].name);
        for (int k = 0; k < 3; k++) {
            runs[k] = (struct run_info){
                .label = "run", .uuid = arena_printf(&f.keep, "%d", k), .branch = "main"};
            REQUIRE(store_begin_run(f.store, &runs[k], &f.keep, &f.fault) == ERR_NONE);
            struct run_case c = {.scenario = "a",
                                 .variant = "ob2",
                                 .result = {.verdict = k == 0 ? rows[i].first : VERDICT_FAIL}};
            REQUIRE(store_put_case(f.store, runs[k].id, &c, &f.fault) == ERR_NONE);
            REQUIRE(store_finish_run(f.store, runs[k].id, states[k], 1, &f.fault) == ERR_NONE);
        }
        const struct diff_case c = {.scenario = "a", .variant = "ob2", .verdict = VERDICT_FAIL};
        REQUIRE(store_read_history(f.store, &c, &runs[2], &f.keep, &got, &f.fault) == ERR_NONE);
        CHECK_EQ(got.failing_run, runs[rows[i].failing].id);
        CHECK_EQ(got.good_run, rows[i].good >= 0 ? runs[rows[i].good].id : 0);
        store_tear_down(&f);
    }
}
