/* One database takes over the runs of another, with all that they have, and its baselines. */
#include <stdio.h>
#include <string.h>

#include "store/store.h"
#include "test.h"

struct world {
    struct store *to, *from;
    struct arena keep;
    struct fault fault;
};

static void set_up(struct world *w)
{
    static const struct fault none = FAULT_INIT;
    w->fault = none;
    arena_init(&w->keep, 0);
    REQUIRE(store_open(":memory:", STORE_WRITE, &w->to, &w->fault) == ERR_NONE);
    REQUIRE(store_open(":memory:", STORE_WRITE, &w->from, &w->fault) == ERR_NONE);
}

static void tear_down(struct world *w)
{
    CHECK_EQ(w->fault.code, ERR_NONE);
    store_close(w->to);
    store_close(w->from);
    arena_free(&w->keep);
}

static uint64_t put_run(struct world *w, struct store *store, const char *label,
                        enum run_state state)
{
    static const char *const names[] = {"one", "two", "three"};
    static const struct bench_sample samples[] = {{LANE_OFFSET, STAGE_TOTAL, false, 0, 1000},
                                                  {LANE_CONTROL, STAGE_TOTAL, false, 0, 1100}};
    const struct bench_case cost = {.scenario = "one", .variant = "ob2", .kind = CASE_KIND_CRASH};
    struct run_info run = {.label = label, .command = "twinstack run", .started_ns = 5};
    REQUIRE(store_begin_run(store, &run, &w->keep, &w->fault) == ERR_NONE);
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        struct run_case c = {.scenario = names[i],
                             .variant = "ob2",
                             .kind = CASE_KIND_CRASH,
                             .result = {.verdict = i == 1 ? VERDICT_FAIL : VERDICT_PASS,
                                        .reason = names[i],
                                        .right = ""}};
        REQUIRE(store_put_case(store, run.id, &c, &w->fault) == ERR_NONE);
    }
    REQUIRE(store_put_samples(store, run.id, samples, COUNT_OF(samples), &w->fault) == ERR_NONE);
    REQUIRE(store_put_bench_cases(store, run.id, &cost, 1, &w->fault) == ERR_NONE);
    REQUIRE(store_finish_run(store, run.id, state, 77, &w->fault) == ERR_NONE);
    return run.id;
}

TEST(a_run_is_taken_over_once_with_all_that_it_has)
{
    struct world w;
    struct run_info run;
    struct run_page page;
    struct bench_sample *samples = NULL;
    struct bench_case *costs = NULL;
    uint64_t *ids = NULL;
    uint32_t copied = 99, count = 0;
    set_up(&w);
    (void)put_run(&w, w.to, "own", RUN_COMPLETE);
    (void)put_run(&w, w.from, "first", RUN_COMPLETE);
    (void)put_run(&w, w.from, "second", RUN_INTERRUPTED);
    REQUIRE(store_import(w.to, w.from, &copied, &w.fault) == ERR_NONE);
    CHECK_EQ(copied, 2);
    test_row("again");
    REQUIRE(store_import(w.to, w.from, &copied, &w.fault) == ERR_NONE);
    CHECK_EQ(copied, 0);
    test_row("back");
    REQUIRE(store_import(w.from, w.to, &copied, &w.fault) == ERR_NONE);
    CHECK_EQ(copied, 1);
    test_row("the newest is the second");
    const struct run_query query = {.limit = 10};
    REQUIRE(store_list_runs(w.to, &query, &w.keep, &page, &w.fault) == ERR_NONE);
    REQUIRE(page.count == 3);
    REQUIRE(store_read_run(w.to, 3, &w.keep, &run, &w.fault) == ERR_NONE);
    CHECK_STR(run.label, "second");
    CHECK_EQ(run.state, RUN_INTERRUPTED);
    CHECK_EQ(run.started_ns, 5);
    CHECK_EQ(run.finished_ns, 77);
    REQUIRE(store_list_case_ids(w.to, 3, &w.keep, &ids, &count, &w.fault) == ERR_NONE);
    CHECK_EQ(count, 3);
    for (uint32_t i = 0; i < count; i++) {
        struct run_case c;
        REQUIRE(store_read_parts(w.to, ids[i], 0, &w.keep, &c, &w.fault) == ERR_NONE);
        CHECK_STR(c.result.reason, c.scenario);
        CHECK_EQ(c.result.verdict, strcmp(c.scenario, "two") == 0 ? VERDICT_FAIL : VERDICT_PASS);
    }
    REQUIRE(store_read_samples(w.to, 3, &w.keep, &samples, &count, &w.fault) == ERR_NONE);
    REQUIRE(count == 2);
    CHECK_EQ(samples[1].lane, LANE_CONTROL);
    CHECK_EQ(samples[1].ns, 1100);
    REQUIRE(store_read_bench_cases(w.to, 3, &w.keep, &costs, &count, &w.fault) == ERR_NONE);
    REQUIRE(count == 1);
    CHECK_STR(costs[0].scenario, "one");
    tear_down(&w);
}

/* Run 1 of TO is its own; run 1 of FROM becomes 2, and run 2 becomes 3. */
TEST(a_baseline_is_taken_over_where_there_is_none)
{
    static const struct {
        const char *name;
        const char *own_branch, *own_platform; /* of the baseline that TO has: its run 1 */
        const char *branch, *platform;         /* of the one that FROM has: its run 2 */
        bool has_own;
        uint64_t want; /* the run of TO for FROM's branch and platform */
    } rows[] = {
        {"none yet", NULL, NULL, "main", "linux", false, 3},
        {"the one for all", NULL, NULL, NULL, NULL, false, 3},
        {"there is one", "main", "linux", "main", "linux", true, 1},
        {"there is one for all", NULL, NULL, NULL, NULL, true, 1},
        {"of another branch", "other", "linux", "main", "linux", true, 3},
        {"of another platform", "main", "windows", "main", "linux", true, 3},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct world w;
        uint32_t copied = 0;
        uint64_t got = 0;
        test_row(rows[i].name);
        set_up(&w);
        const uint64_t own = put_run(&w, w.to, "own", RUN_COMPLETE);
        (void)put_run(&w, w.from, "first", RUN_COMPLETE);
        const uint64_t second = put_run(&w, w.from, "second", RUN_COMPLETE);
        if (rows[i].has_own)
            REQUIRE(store_set_baseline(w.to, own, rows[i].own_branch, rows[i].own_platform,
                                       &w.fault) == ERR_NONE);
        REQUIRE(store_set_baseline(w.from, second, rows[i].branch, rows[i].platform, &w.fault) ==
                ERR_NONE);
        REQUIRE(store_import(w.to, w.from, &copied, &w.fault) == ERR_NONE);
        CHECK_EQ(copied, 2);
        REQUIRE(store_get_baseline(w.to, rows[i].branch, rows[i].platform, &got, &w.fault) ==
                ERR_NONE);
        CHECK_EQ(got, rows[i].want);
        tear_down(&w);
    }
}
