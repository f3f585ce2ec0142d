/* A bench: its ratio, with invented times and known answers, and what the store keeps of it. */
#include <math.h>
#include <string.h>

#include "conduct/bench_measure.h"
#include "store_fixture.h"
#include "test.h"

enum { SCENARIOS = 14, BUILDS = 2, CASES = SCENARIOS * BUILDS };

/* Scenario S costs S + 1 by offsets and RATIO times that by a dump, in two builds, in PROCESS. */
static void make_costs(struct bench_case *costs, struct arena *keep, enum cpu arch, uint64_t ratio,
                       uint32_t process)
{
    for (uint32_t i = 0; i < CASES; i++) {
        const uint64_t ns = 1000 * ((uint64_t)(i / BUILDS) + 1);
        costs[i] = (struct bench_case){.process = process,
                                       .scenario = arena_printf(keep, "s%u", i / BUILDS),
                                       .variant = i % BUILDS == 0 ? "ob0" : "ob2",
                                       .arch = arch,
                                       .kind = CASE_KIND_CRASH,
                                       .ns = {[LANE_OFFSET] = ns, [LANE_DUMP] = ns * ratio}};
    }
}

TEST(a_bench_has_a_ratio_for_each_processor)
{
    static const struct {
        const char *name;
        uint32_t x64, x86; /* cases in each of two processes */
        bool cold;         /* that side is asked for; all are warm */
        uint32_t ratios;
        enum cpu first;
        size_t cases, scenarios;
        double ratio;
        bool sure;
    } rows[] = {
        {"no case, as in a bench of before", 0, 0, false, 0, CPU_UNKNOWN, 0, 0, NAN, false},
        {"none was cold", CASES, 0, true, 0, CPU_UNKNOWN, 0, 0, NAN, false},
        {"one case has no interval", 1, 0, false, 1, CPU_X64, 1, 1, 3, false},
        {"eleven scenarios in 22 cases", 22, 0, false, 1, CPU_X64, 22, 11, 3, false},
        {"twelve", 24, 0, false, 1, CPU_X64, 24, 12, 3, true},
        {"processors are not mixed", CASES, CASES, false, 2, CPU_X64, CASES, SCENARIOS, 3, true},
        {"the other one alone", 0, 24, false, 1, CPU_X86, 24, 12, 20, true},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct bench_case costs[4 * CASES], made[CASES];
        struct bench_ratio got[CPU_COUNT];
        struct fault fault = FAULT_INIT;
        struct arena keep;
        uint32_t count = 0, made_count = 0;
        test_row(rows[i].name);
        arena_init(&keep, 0);
        for (uint32_t process = 0; process < 2; process++) {
            make_costs(made, &keep, CPU_X64, 3, process);
            memcpy(&costs[made_count], made, rows[i].x64 * sizeof *made);
            made_count += rows[i].x64;
            make_costs(made, &keep, CPU_X86, 20, process);
            memcpy(&costs[made_count], made, rows[i].x86 * sizeof *made);
            made_count += rows[i].x86;
        }
        const struct bench bench = {.costs = costs, .cost_count = made_count};
        REQUIRE(bench_ratios(&bench, rows[i].cold, &keep, got, &count, &fault) == ERR_NONE);
        CHECK_EQ(count, rows[i].ratios);
        if (count > 0) {
            CHECK_EQ(got[0].arch, rows[i].first);
            CHECK_EQ(got[0].cases, rows[i].cases);
            CHECK_EQ(got[0].scenarios, rows[i].scenarios);
            CHECK_EQ(got[0].processes, 2);
            CHECK(fabs(got[0].ratio.value - rows[i].ratio) < 1e-9);
            CHECK_EQ(!isnan(got[0].ratio.low) && !isnan(got[0].ratio.high), rows[i].sure);
        }
        arena_free(&keep);
    }
}

/* All cases of a process have its ratio, so that cases alone would leave no doubt. The intervals
 * are exp(median of the logarithms +- sqrt(2) * t * s / sqrt(n)), worked out by hand. */
TEST(the_interval_covers_what_another_process_would_give)
{
    static const struct {
        const char *name;
        uint32_t count;
        uint64_t ratios[5];
        double value, low, high;
    } rows[] = {
        {"one process says nothing about another", 1, {10}, 10, NAN, NAN},
        {"two equal ones", 2, {10, 10}, 10, 10, 10},
        {"two are few", 2, {10, 11}, 10.48809, 4.4532, 24.701},
        {"five", 5, {10, 10, 11, 9, 10}, 10, 8.8264, 11.3296},
        {"one of five that is far off moves no median", 5, {10, 10, 11, 9, 23}, 10, 5.1240, 19.516},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct bench_case costs[5 * CASES];
        struct bench_ratio got[CPU_COUNT];
        struct fault fault = FAULT_INIT;
        struct arena keep;
        uint32_t count = 0;
        test_row(rows[i].name);
        arena_init(&keep, 0);
        for (uint32_t p = 0; p < rows[i].count; p++)
            make_costs(&costs[(size_t)p * CASES], &keep, CPU_X64, rows[i].ratios[p], p);
        const struct bench bench = {.costs = costs, .cost_count = rows[i].count * CASES};
        REQUIRE(bench_ratios(&bench, false, &keep, got, &count, &fault) == ERR_NONE);
        CHECK_EQ(got[0].processes, rows[i].count);
        const double want[] = {rows[i].value, rows[i].low, rows[i].high};
        const double have[] = {got[0].ratio.value, got[0].ratio.low, got[0].ratio.high};
        for (int k = 0; k < 3; k++)
            CHECK(isnan(want[k]) ? isnan(have[k]) : fabs(have[k] / want[k] - 1) < 0.001);
        arena_free(&keep);
    }
}

TEST(a_case_without_one_of_the_times_does_not_count)
{
    struct bench_case costs[CASES];
    struct bench_ratio got[CPU_COUNT];
    struct fault fault = FAULT_INIT;
    struct arena keep;
    uint32_t count = 0;
    arena_init(&keep, 0);
    make_costs(costs, &keep, CPU_X64, 3, 0);
    costs[3].ns[LANE_DUMP] = costs[4].ns[LANE_OFFSET] = 0;
    const struct bench bench = {.costs = costs, .cost_count = CASES};
    REQUIRE(bench_ratios(&bench, false, &keep, got, &count, &fault) == ERR_NONE);
    CHECK_EQ(got[0].cases, CASES - 2);
    CHECK_EQ(got[0].scenarios, SCENARIOS);
    arena_free(&keep);
}

/* Builds of a scenario that is slow both ways rise together: three more builds of each change
 * neither the ratio nor how sure it is. */
TEST(more_builds_do_not_make_it_surer)
{
    struct bench_case costs[8 * SCENARIOS];
    struct bench_ratio few[CPU_COUNT], many[CPU_COUNT];
    struct fault fault = FAULT_INIT;
    struct arena keep;
    uint32_t count = 0;
    arena_init(&keep, 0);
    for (uint32_t i = 0; i < 8 * SCENARIOS; i++) {
        const uint32_t s = i / 2 % SCENARIOS;
        costs[i] = (struct bench_case){.process = i % 2,
                                       .scenario = arena_printf(&keep, "s%u", s),
                                       .variant = arena_printf(&keep, "ob%u", i / 2 / SCENARIOS),
                                       .arch = CPU_X64,
                                       .ns = {[LANE_OFFSET] = 1000 + 100 * (uint64_t)(s * s % 7),
                                              [LANE_DUMP] = 5000 + 1000 * (uint64_t)s}};
    }
    struct bench bench = {.costs = costs, .cost_count = 2 * SCENARIOS};
    REQUIRE(bench_ratios(&bench, false, &keep, few, &count, &fault) == ERR_NONE);
    bench.cost_count = 8 * SCENARIOS;
    REQUIRE(bench_ratios(&bench, false, &keep, many, &count, &fault) == ERR_NONE);
    CHECK_EQ(few[0].cases, SCENARIOS);
    CHECK_EQ(many[0].cases, 4 * SCENARIOS);
    CHECK(few[0].ratio.low < few[0].ratio.value && few[0].ratio.value < few[0].ratio.high);
    CHECK(fabs(few[0].ratio.value - many[0].ratio.value) < 1e-9);
    CHECK(fabs(few[0].ratio.low / many[0].ratio.low - 1) < 0.05);
    CHECK(fabs(few[0].ratio.high / many[0].ratio.high - 1) < 0.05);
    arena_free(&keep);
}

TEST(the_cases_of_a_bench_come_out_as_they_went_in_also_of_a_copy)
{
    struct bench_case costs[CASES], *back = NULL;
    const struct bench_sample samples[] = {{LANE_OFFSET, STAGE_TOTAL, false, 0, 1000},
                                           {LANE_DUMP, STAGE_TOTAL, false, 0, 3000}};
    struct run_info run = {.uuid = "b", .label = "bench", .state = RUN_RUNNING};
    struct bench bench = {.sample_count = 2, .costs = costs, .cost_count = CASES};
    struct bench_sample copy[2];
    struct store_fixture f, other;
    uint32_t count = 0, copied = 0;
    store_set_up(&f);
    store_set_up(&other);
    make_costs(costs, &f.keep, CPU_X86, 20, 7);
    costs[1].cold = true;
    costs[2].kind = CASE_KIND_HANG;
    memcpy(copy, samples, sizeof copy);
    bench.samples = copy;
    REQUIRE(bench_keep(f.store, &run, &bench, &f.keep, &f.fault) == ERR_NONE);
    REQUIRE(store_import(other.store, f.store, &copied, &other.fault) == ERR_NONE);
    CHECK_EQ(copied, 1);
    struct store *const stores[] = {f.store, other.store};
    static const char *const names[] = {"stored", "copied"};
    for (size_t i = 0; i < COUNT_OF(stores); i++) {
        test_row(names[i]);
        REQUIRE(store_read_bench_cases(stores[i], 1, &f.keep, &back, &count, &f.fault) == ERR_NONE);
        REQUIRE(count == CASES);
        for (uint32_t k = 0; k < count; k++) {
            CHECK_EQ(back[k].process, 7);
            CHECK_STR(back[k].scenario, costs[k].scenario);
            CHECK_STR(back[k].variant, costs[k].variant);
            CHECK_EQ(back[k].arch, costs[k].arch);
            CHECK_EQ(back[k].kind, costs[k].kind);
            CHECK_EQ(back[k].cold, costs[k].cold);
            CHECK_EQ(back[k].ns[LANE_OFFSET], costs[k].ns[LANE_OFFSET]);
            CHECK_EQ(back[k].ns[LANE_DUMP], costs[k].ns[LANE_DUMP]);
        }
    }
    store_tear_down(&other);
    store_tear_down(&f);
}

/* A bench measures more while the control is far from the lane that it repeats. */
TEST(a_bench_is_noisy_by_the_larger_of_its_noises)
{
    static const struct {
        const char *name;
        uint64_t warm, cold; /* the control; the lane is 1000 */
        bool is_cold, noisy;
    } rows[] = {
        {"both agree", 1000, 1000, true, false},
        {"a quarter slower", 1250, 1000, true, false},
        {"slower by more", 1260, 1000, true, true},
        {"faster by more", 740, 1000, false, true},
        {"only cold", 1000, 1300, true, true},
        {"cold was not asked for", 1000, 1300, false, false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct bench_sample samples[4 * 3];
        struct arena keep;
        uint32_t count = 0;
        test_row(rows[i].name);
        arena_init(&keep, 0);
        for (uint32_t round = 0; round < 3; round++)
            for (int cold = 0; cold < 2; cold++)
                for (int control = 0; control < 2; control++)
                    samples[count++] =
                        (struct bench_sample){.lane = control != 0 ? LANE_CONTROL : LANE_OFFSET,
                                              .stage = STAGE_TOTAL,
                                              .cold = cold != 0,
                                              .round = round,
                                              .ns = control == 0 ? 1000
                                                    : cold != 0  ? rows[i].cold
                                                                 : rows[i].warm};
        const struct bench bench = {
            .samples = samples, .sample_count = count, .cold = rows[i].is_cold};
        CHECK_EQ(bench_is_noisy(&bench, &keep), rows[i].noisy);
        arena_free(&keep);
    }
}

/* Which lane is measured when, and what counts: the times are the machine's, but each lane's way,
 * the order of the samples and the rounds that they are of are not. */
TEST(the_lanes_of_a_bench_take_turns_and_the_warm_up_does_not_count)
{
    static const enum bench_lane lanes[] = {LANE_DUMP, LANE_OFFSET, LANE_CONTROL};
    static const struct {
        const char *name;
        uint32_t warmup, turn;
    } rows[] = {
        {"a dump begins", 0, 0},
        {"the second process begins with offsets", 0, 1},
        {"rounds before those that count have turns too", 2, 0},
    };
    enum { ROUNDS = 4 }; /* so many that samples of the warm-up would have room, too */
    const char *const folder = test_source("corpus/cases/null_write.ob2");
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct bench_request request = {.folders = &folder,
                                              .folder_count = 1,
                                              .rounds = ROUNDS,
                                              .warmup = rows[i].warmup,
                                              .turn = rows[i].turn};
        uint32_t begun = 0, unwound[BENCH_LANES] = {0};
        uint64_t least[BENCH_LANES] = {0};
        struct fault fault = FAULT_INIT;
        struct bench got;
        struct arena keep;
        test_row(rows[i].name);
        arena_init(&keep, 0);
        REQUIRE(bench_measure(&request, &keep, &got, &fault) == ERR_NONE);
        for (uint32_t k = 0; k < got.sample_count; k++) {
            const struct bench_sample *s = &got.samples[k];
            CHECK(!s->cold);
            CHECK(s->round >= rows[i].warmup && s->round < ROUNDS + rows[i].warmup);
            unwound[s->lane] += s->stage == STAGE_UNWIND;
            if (s->stage == STAGE_TOTAL && (least[s->lane] == 0 || s->ns < least[s->lane]))
                least[s->lane] = s->ns;
            if (k > 0 && s->round == got.samples[k - 1].round)
                continue;
            CHECK_EQ(s->round, rows[i].warmup + begun++);
            CHECK_EQ(s->lane, lanes[(s->round + rows[i].turn) % COUNT_OF(lanes)]);
        }
        CHECK_EQ(begun, ROUNDS);
        CHECK_EQ(unwound[LANE_DUMP], ROUNDS); /* a record has its stack already */
        CHECK_EQ(unwound[LANE_OFFSET] + unwound[LANE_CONTROL], 0);
        REQUIRE(got.cost_count == 1);
        CHECK_STR(got.costs[0].scenario, "null_write");
        CHECK_EQ(got.costs[0].ns[LANE_DUMP], least[LANE_DUMP]);
        CHECK_EQ(got.costs[0].ns[LANE_OFFSET], least[LANE_OFFSET]);
        arena_free(&keep);
    }
}
