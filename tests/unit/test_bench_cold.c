/* Which cases of a run are measured, and which of their costs are cold. */
#include <string.h>

#include "base/files.h"
#include "conduct/bench_measure.h"
#include "store_fixture.h"
#include "test.h"

/* One round: what the case of x64 cost is what the sample says. A case of two repeats is measured
 * once, and only where its folder still is. */
TEST(cold_cases_follow_the_warm_ones)
{
    static const struct {
        const char *scenario, *variant;
        bool cold;
    } want[] = {{"null_write", "ob2", false},
                {"call_data", "x86-ob2", false},
                {"null_write", "ob2", true},
                {"call_data", "x86-ob2", true}};
    const char *folders[2];
    struct store_fixture f;
    struct run_info run = {.label = "run"};
    struct bench got;
    const char **of_run;
    uint32_t count = 0;
    store_set_up(&f);
    folders[0] = arena_string(&f.keep, test_source("corpus/cases/null_write.ob2"));
    folders[1] = arena_string(&f.keep, test_source("corpus/cases/call_data.x86-ob2"));
    struct run_case cases[] = {
        {.scenario = "a", .variant = "o", .folder = folders[0]},
        {.scenario = "a", .variant = "o", .folder = folders[0], .repeat = 1},
        {.scenario = "b", .variant = "o"},
        {.scenario = "c", .variant = "o", .folder = path_join(&f.keep, test_scratch(), "gone")},
        {.scenario = "d", .variant = "o", .folder = folders[1]},
    };
    REQUIRE(store_begin_run(f.store, &run, &f.keep, &f.fault) == ERR_NONE);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        cases[i].kind = CASE_KIND_CRASH;
        cases[i].result.reason = cases[i].result.right = "";
        REQUIRE(store_put_case(f.store, run.id, &cases[i], &f.fault) == ERR_NONE);
    }
    REQUIRE(bench_folders_of_run(f.store, "1", &f.keep, &of_run, &count, &f.fault) == ERR_NONE);
    REQUIRE(count == COUNT_OF(folders));
    for (uint32_t i = 0; i < count; i++)
        CHECK_STR(of_run[i], folders[i]);
    const struct bench_request request = {
        .folders = of_run, .folder_count = count, .rounds = 1, .cold = true};
    REQUIRE(bench_measure(&request, &f.keep, &got, &f.fault) == ERR_NONE);
    CHECK_EQ(got.case_count, COUNT_OF(folders));
    REQUIRE(got.cost_count == COUNT_OF(want));
    for (uint32_t i = 0; i < COUNT_OF(want); i++) {
        CHECK_STR(got.costs[i].scenario, want[i].scenario);
        CHECK_STR(got.costs[i].variant, want[i].variant);
        CHECK_EQ(got.costs[i].cold, want[i].cold);
        CHECK_EQ(got.costs[i].arch, i % 2 == 0 ? CPU_X64 : CPU_X86);
    }
    for (uint32_t i = 0; i < got.sample_count; i++) {
        const struct bench_sample *s = &got.samples[i];
        const struct bench_case *first = &got.costs[s->cold ? COUNT_OF(folders) : 0];
        if (s->stage == STAGE_TOTAL && s->lane != LANE_CONTROL)
            CHECK_EQ(s->ns, first->ns[s->lane]);
    }
    store_tear_down(&f);
}
