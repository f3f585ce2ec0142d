/* A bench: its ratio, with invented times and known answers, and what the store keeps of it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "conduct/bench_measure.h"
#include "store_fixture.h"
#include "study/trend.h"
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
        const double value = bench_ratio_value(&bench, rows[i].cold, &keep, &got[4].arch);
        CHECK(isnan(value) ? isnan(rows[i].ratio) : fabs(value - rows[i].ratio) < 1e-9);
        CHECK_EQ(got[4].arch, rows[i].first);
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

/* Scenario S costs 20 times as much by a dump; without cases, samples say 3 times. */
TEST(a_trend_has_the_ratio_of_the_bench_of_its_commit)
{
    static const struct {
        const char *name, *commit; /* of the run; the bench's is "c" */
        uint32_t cases;            /* of the bench */
        bool cold;                 /* they are, and not all of them */
        double ratio;
    } rows[] = {
        {"the same commit", "c", CASES, false, 20},
        {"cold ones count before the others", "c", CASES, true, 10},
        {"another commit", "d", CASES, false, NAN},
        {"a bench of before, which has samples alone", "c", 0, false, 3},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct bench_sample samples[10];
        struct bench_case costs[2 * CASES];
        struct store_fixture f;
        struct trend trend;
        test_row(rows[i].name);
        store_set_up(&f);
        for (uint32_t k = 0; k < COUNT_OF(samples); k++)
            samples[k] = (struct bench_sample){.lane = k % 2 == 0 ? LANE_OFFSET : LANE_DUMP,
                                               .stage = STAGE_TOTAL,
                                               .round = k / 2,
                                               .ns = k % 2 == 0 ? 1000 : 3000};
        make_costs(costs, &f.keep, CPU_X64, 20, 0);
        make_costs(costs + CASES, &f.keep, CPU_X64, 10, 0);
        for (uint32_t k = CASES; k < 2 * CASES; k++)
            costs[k].cold = true;
        const struct bench bench = {.samples = samples,
                                    .sample_count = COUNT_OF(samples),
                                    .costs = costs,
                                    .cost_count = rows[i].cold ? 2 * CASES : rows[i].cases};
        struct run_info was = {.uuid = "b", .label = "bench", .commit = "c", .started_ns = 1};
        struct run_info run = {.uuid = "r", .label = "run", .commit = rows[i].commit};
        struct run_case c = {.scenario = "s", .variant = "ob2", .result.reason = ""};
        c.result.right = "all";
        run.started_ns = 2;
        REQUIRE(bench_keep(f.store, &was, &bench, &f.keep, &f.fault) == ERR_NONE);
        REQUIRE(store_begin_run(f.store, &run, &f.keep, &f.fault) == ERR_NONE);
        REQUIRE(store_put_case(f.store, run.id, &c, &f.fault) == ERR_NONE);
        REQUIRE(store_finish_run(f.store, run.id, RUN_COMPLETE, 2, &f.fault) == ERR_NONE);
        const struct trend_query query = {.metric = METRIC_SPEED_RATIO};
        REQUIRE(study_read_trend(f.store, &query, &f.keep, &trend, &f.fault) == ERR_NONE);
        REQUIRE(trend.count > 0);
        const struct trend_point *point = &trend.points[trend.count - 1];
        CHECK_EQ(point->run_id, run.id);
        CHECK_EQ(point->bench, isnan(rows[i].ratio) ? 0 : was.id);
        CHECK_EQ(isnan(point->value) != 0, isnan(rows[i].ratio) != 0);
        CHECK(isnan(point->value) || fabs(point->value - rows[i].ratio) < 1e-9);
        store_tear_down(&f);
    }
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

/* The times are the machine's, but each lane's way and the samples' order and rounds are not. */
TEST(the_lanes_of_a_bench_take_turns_and_the_warm_up_does_not_count)
{
    static const enum bench_lane lanes[] = {LANE_DUMP, LANE_OFFSET, LANE_CONTROL};
    static const struct {
        const char *name;
        uint32_t warmup, turn, cases;
    } rows[] = {
        {"a dump begins", 0, 0, 1},
        {"the second process begins with offsets", 0, 1, 1},
        {"rounds before those that count have turns too", 2, 0, 1},
        {"samples are of the cases of one processor", 0, 0, 2},
    };
    enum { ROUNDS = 4 }; /* so many that samples of the warm-up would have room, too */
    const char *const folders[] = {test_source("corpus/cases/null_write.ob2"),
                                   test_source("corpus/cases/throw_uncaught.x86-ob2")};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct bench_request request = {.folders = folders,
                                              .folder_count = rows[i].cases,
                                              .rounds = ROUNDS,
                                              .warmup = rows[i].warmup,
                                              .turn = rows[i].turn};
        uint32_t begun = 0, samples[BENCH_LANES][BENCH_STAGES] = {{0}};
        uint64_t least[BENCH_LANES] = {0};
        struct fault fault = FAULT_INIT;
        struct bench got;
        struct arena keep;
        test_row(rows[i].name);
        arena_init(&keep, 0);
        REQUIRE(bench_measure(&request, &keep, &got, &fault) == ERR_NONE);
        for (uint32_t k = 0; k < got.sample_count; k++) {
            const struct bench_sample *s = &got.samples[k];
            CHECK(!s->cold && s->round >= rows[i].warmup && s->round < ROUNDS + rows[i].warmup);
            samples[s->lane][s->stage]++;
            if (s->stage == STAGE_TOTAL && (least[s->lane] == 0 || s->ns < least[s->lane]))
                least[s->lane] = s->ns;
            if (k > 0 && s->round == got.samples[k - 1].round)
                continue;
            CHECK_EQ(s->round, rows[i].warmup + begun++);
            CHECK_EQ(s->lane, lanes[(s->round + rows[i].turn) % COUNT_OF(lanes)]);
        }
        CHECK_EQ(begun, ROUNDS);
        for (uint32_t lane = 0; lane < BENCH_LANES; lane++)
            for (uint32_t stage = 0; stage < BENCH_STAGES; stage++) /* a record has its stack */
                CHECK_EQ(samples[lane][stage],
                         stage == STAGE_UNWIND && lane != LANE_DUMP ? 0 : ROUNDS);
        REQUIRE(got.cost_count == rows[i].cases);
        CHECK_STR(got.costs[0].scenario, "null_write");
        CHECK_EQ(got.costs[0].ns[LANE_DUMP], least[LANE_DUMP]);
        CHECK_EQ(got.costs[0].ns[LANE_OFFSET], least[LANE_OFFSET]);
        arena_free(&keep);
    }
}

enum { JUDGED_ROUNDS = 8, JUDGED_SAMPLES = JUDGED_ROUNDS * 11 * 2 };

/* Each stage of each lane takes the same time in every round, cold ten times as long; the control
 * is 10 % slower than the lane that it repeats, cold 30 % faster. */
static uint32_t put_samples(struct bench_sample *out, uint64_t dump_total_ns)
{
    static const struct {
        enum bench_lane lane;
        enum bench_stage stage;
        uint64_t ns;
    } rows[] = {
        {LANE_OFFSET, STAGE_PARSE, 100},   {LANE_OFFSET, STAGE_LOAD, 300},
        {LANE_OFFSET, STAGE_RESOLVE, 1},   {LANE_OFFSET, STAGE_TOTAL, 1000},
        {LANE_DUMP, STAGE_PARSE, 700},     {LANE_DUMP, STAGE_UNWIND, 800},
        {LANE_DUMP, STAGE_LOAD, 450},      {LANE_DUMP, STAGE_RESOLVE, 2},
        {LANE_DUMP, STAGE_TOTAL, 0},       {LANE_CONTROL, STAGE_TOTAL, 1100},
        {LANE_CONTROL, STAGE_PARSE, 9999},
    };
    uint32_t count = 0;
    for (uint32_t round = 0; round < JUDGED_ROUNDS; round++)
        for (size_t i = 0; i < COUNT_OF(rows); i++)
            for (uint64_t cold = 0; cold < 2; cold++) {
                uint64_t ns = rows[i].ns == 0 ? dump_total_ns : rows[i].ns;
                ns = cold != 0 && rows[i].lane == LANE_CONTROL ? 700 : ns;
                out[count++] = (struct bench_sample){.lane = rows[i].lane,
                                                     .stage = rows[i].stage,
                                                     .cold = cold != 0,
                                                     .round = round,
                                                     .ns = ns * (cold != 0 ? 10 : 1)};
            }
    return count;
}

static void judge(struct store_fixture *f, uint64_t before_ns, uint64_t now_ns, bool cold,
                  struct bench_findings *out)
{
    struct bench_sample samples[JUDGED_SAMPLES], earlier[JUDGED_SAMPLES];
    struct case_timing timings[4] = {
        {.walk_ns = 10,
         .record_write_ns = 5,
         .dump_write_ns = 70,
         .record_bytes = 3,
         .dump_bytes = 60,
         .stop_walk_ns = 40,
         .stop_dump_ns = 80},
        {.walk_ns = 30,
         .record_write_ns = 7,
         .dump_write_ns = 70,
         .record_bytes = 3,
         .dump_bytes = 90,
         .stop_dump_ns = 120},
        {.walk_ns = 1, .record_write_ns = 9, .dump_write_ns = 70, .record_bytes = 3},
        {.walk_ns = 900, .record_write_ns = 900, .stop_walk_ns = 900, .dump_bytes = 900}};
    struct bench bench = {.samples = samples,
                          .sample_count = put_samples(samples, now_ns),
                          .timings = timings,
                          .archs = (enum cpu[]){CPU_X64, CPU_X64, CPU_X64, CPU_X86},
                          .case_count = COUNT_OF(timings),
                          .cold = cold};
    if (before_ns > 0) {
        struct run_info run = {.uuid = "b", .label = "bench", .state = RUN_RUNNING};
        const struct bench last = {.samples = earlier,
                                   .sample_count = put_samples(earlier, before_ns)};
        REQUIRE(bench_keep(f->store, &run, &last, &f->keep, &f->fault) == ERR_NONE);
    }
    REQUIRE(bench_judge(&bench, f->store, &f->keep, out, &f->fault) == ERR_NONE);
}

static bool nearly(double got, double want)
{
    return isnan(want) ? isnan(got) : fabs(got - want) < 1e-9;
}

/* The medians by hand; a stage that a way does not have is no number, and so is its ratio. */
TEST(a_bench_has_the_median_of_each_stage)
{
    static const struct {
        const char *name;
        double offset, dump, ratio;
    } rows[] =
        {
            {"parse", 100, 700, 7}, {"unwind", NAN, 800, NAN},  {"load symbols", 300, 450, 1.5},
            {"resolve", 1, 2, 2},   {"total", 1000, 3000, NAN},
        },
      capture[] = {
          {"capture walk", 10, NAN, NAN},
          {"suspension", 40, 100, 2.5},
          {"write", 7, 70, 10},
          {"bytes a report", 3, 75, 25},
      };
    struct bench_findings got;
    struct store_fixture f;
    store_set_up(&f);
    judge(&f, 0, 3000, true, &got);
    CHECK_EQ(got.case_count, 4);
    CHECK(got.captured == 3 && got.capture_arch == CPU_X64); /* the fourth is in no median */
    CHECK_EQ(got.side_count, 2);
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        for (uint32_t cold = 0; cold < 2; cold++) {
            const struct bench_row *row = &got.sides[cold].stages[i];
            const double scale = cold != 0 ? 10 : 1;
            test_row(rows[i].name);
            CHECK_STR(row->name, rows[i].name);
            CHECK(nearly(row->ways[LANE_OFFSET].value, rows[i].offset * scale));
            CHECK(nearly(row->ways[LANE_DUMP].value, rows[i].dump * scale));
            CHECK(nearly(row->ratio, rows[i].ratio));
            CHECK_EQ(row->ways[LANE_DUMP].n, JUDGED_ROUNDS);
            CHECK_EQ(row->ways[LANE_OFFSET].n, isnan(rows[i].offset) ? 0 : JUDGED_ROUNDS);
        }
    for (size_t i = 0; i < COUNT_OF(capture); i++) {
        const struct bench_row *row = &got.capture[i];
        test_row(capture[i].name);
        CHECK_STR(row->name, capture[i].name);
        CHECK(nearly(row->ways[LANE_OFFSET].value, capture[i].offset));
        CHECK(nearly(row->ways[LANE_DUMP].value, capture[i].dump));
        CHECK(nearly(row->ratio, capture[i].ratio));
        CHECK_EQ(row->bytes, i == 3);
    }
    for (int cold = 0; cold < 2; cold++) { /* without costs of cases, the ratio is that of rounds */
        const struct bench_side *side = &got.sides[cold];
        CHECK_EQ(side->ratio_count, 1);
        CHECK(nearly(side->ratios[0].ratio.value, 3) && isnan(side->ratios[0].ratio.low) &&
              isnan(side->ratios[0].ratio.high));
        CHECK(nearly(side->noise, cold != 0 ? 0.3 : 0.1));
        CHECK_EQ(side->dump.change, CHANGE_SLOWER);
        CHECK(nearly(side->dump.effect, 2));
        CHECK_EQ(side->then[LANE_DUMP].change, CHANGE_TOO_FEW);
    }
    CHECK(!got.slower);
    store_tear_down(&f);
}

TEST(a_bench_is_compared_with_the_last_one)
{
    static const struct {
        const char *name;
        uint64_t before, now;
        bool cold;
        enum change change;
        double effect;
    } rows[] = {
        {"a first bench", 0, 3000, false, CHANGE_TOO_FEW, NAN},
        {"as before", 3000, 3000, false, CHANGE_NONE, 0},
        {"half as slow again", 2000, 3000, false, CHANGE_SLOWER, 0.5},
        {"also cold", 2000, 3000, true, CHANGE_SLOWER, 0.5},
        {"twice as fast", 6000, 3000, true, CHANGE_FASTER, -0.5},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct bench_findings got;
        struct store_fixture f;
        test_row(rows[i].name);
        store_set_up(&f);
        judge(&f, rows[i].before, rows[i].now, rows[i].cold, &got);
        CHECK_EQ(got.side_count, rows[i].cold ? 2 : 1);
        CHECK_EQ(got.slower, rows[i].change == CHANGE_SLOWER);
        for (uint32_t k = 0; k < got.side_count; k++) {
            CHECK_EQ(got.sides[k].then[LANE_DUMP].change, rows[i].change);
            CHECK(nearly(got.sides[k].then[LANE_DUMP].effect, rows[i].effect));
            /* of the cold side, whose control is 30 % off */
            CHECK_EQ(got.sides[k].then[LANE_OFFSET].change, rows[i].before == 0 ? CHANGE_TOO_FEW
                                                            : k == 1            ? CHANGE_TOO_NOISY
                                                                                : CHANGE_NONE);
        }
        store_tear_down(&f);
    }
}

/* Each member from what it is of; a time of 1 ns is a time. */
TEST(a_bench_is_written_whole)
{
    struct bench_findings got;
    struct bench_programs programs = {.case_count = 3};
    struct store_fixture f;
    struct json j;
    size_t bytes = 0;
    store_set_up(&f);
    judge(&f, 2000, 3000, false, &got);
    for (int i = 0; i < BENCH_PROGRAMS; i++) {
        programs.rows[i] = (struct bench_program){
            .name = "p", .version = "1", .process = measurement_none, .again = measurement_none};
        programs.rows[i].process = (struct measurement){3, 20, 10, 30, 5, 40, 50};
    }
    programs.rows[1].why_not = "it is not here";
    json_to_text(&j, false);
    bench_write_json(&j, &got, NULL);
    char *text = json_take(&j, &bytes);
    REQUIRE(text != NULL);
    CHECK_STR(
        arena_text(&f.keep, text, bytes),
        "{\"schema_version\":1,\"cases\":4,\"capture_arch\":\"x64\",\"capture\":{\"walk_ns\":{"
        "\"offset\":{\"samples\":3,\"median\":10,\"low\":1,\"high\":30},"
        "\"dump\":null},\"suspension_ns\":{\"offset\":{\"samples\":1,\"median\":40,\"low\":40,"
        "\"high\":40},"
        "\"dump\":{\"samples\":2,\"median\":100,\"low\":80,\"high\":120}},"
        "\"write_ns\":{\"offset\":{\"samples\":3,\"median\":7,\"low\":5,\"high\":9},"
        "\"dump\":{\"samples\":3,\"median\":70,\"low\":70,\"high\":70}},"
        "\"bytes\":{\"offset\":{\"samples\":3,\"median\":3,\"low\":3,\"high\":3},"
        "\"dump\":{\"samples\":2,\"median\":75,\"low\":60,\"high\":90}}},"
        "\"back_end\":[{\"cold\":false,\"samples\":8,\"noise\":0.10000000000000009,\"arch\":null,"
        "\"cases\":0,\"scenarios\":0,"
        "\"processes\":0,\"ratio\":3,\"ratio_low\":null,\"ratio_high\":null,\"ratios\":[{\"arch\":"
        "null,\"cases\":0,\"scenarios\":0,"
        "\"processes\":0,\"ratio\":3,\"ratio_low\":null,\"ratio_high\":null}],"
        "\"dump_against_offset\":{\"change\":\"slower\",\"effect\":2,\"threshold\":0."
        "10000000000000009,\"p\":0.00013758605716602916},"
        "\"offset_against_last\":{\"change\":\"same\",\"effect\":0,\"threshold\":0."
        "10000000000000009,\"p\":1},"
        "\"dump_against_last\":{\"change\":\"slower\",\"effect\":0.5,\"threshold\":0."
        "10000000000000009,\"p\":0.00013758605716602916},"
        "\"stages\":{\"parse\":{\"offset\":{\"samples\":8,\"median\":100,\"low\":100,\"high\":100},"
        "\"dump\":{\"samples\":8,\"median\":700,\"low\":700,\"high\":700}},"
        "\"unwind\":{\"offset\":null,\"dump\":{\"samples\":8,\"median\":800,\"low\":800,\"high\":"
        "800}},"
        "\"load\":{\"offset\":{\"samples\":8,\"median\":300,\"low\":300,\"high\":300},"
        "\"dump\":{\"samples\":8,\"median\":450,\"low\":450,\"high\":450}},"
        "\"resolve\":{\"offset\":{\"samples\":8,\"median\":1,\"low\":1,\"high\":1},"
        "\"dump\":{\"samples\":8,\"median\":2,\"low\":2,\"high\":2}},"
        "\"total\":{\"offset\":{\"samples\":8,\"median\":1000,\"low\":1000,\"high\":1000},"
        "\"dump\":{\"samples\":8,\"median\":3000,\"low\":3000,\"high\":3000}}}}]}");
    free(text);
    json_to_text(&j, false);
    bench_write_json(&j, &got, &programs);
    text = json_take(&j, &bytes);
    REQUIRE(text != NULL);
    CHECK_STR(
        strstr(arena_text(&f.keep, text, bytes), ",\"programs\":"),
        ",\"programs\":[{\"engine\":\"p\",\"version\":\"1\",\"why_not\":null,\"process_ns\":{"
        "\"count\":3,\"median\":20,\"least\":5,\"p90\":40,\"most\":50},"
        "\"again_ns\":{\"count\":0,\"median\":null,\"least\":null,\"p90\":null,\"most\":null}},"
        "{\"engine\":\"p\",\"version\":\"1\",\"why_not\":\"it is not "
        "here\",\"process_ns\":{\"count\":3,\"median\":20,\"least\":5,\"p90\":40,\"most\":50},"
        "\"again_ns\":{\"count\":0,\"median\":null,\"least\":null,\"p90\":null,\"most\":null}},"
        "{\"engine\":\"p\",\"version\":\"1\",\"why_not\":null,\"process_ns\":{\"count\":3,"
        "\"median\":20,\"least\":5,\"p90\":40,\"most\":50},"
        "\"again_ns\":{\"count\":0,\"median\":null,\"least\":null,\"p90\":null,\"most\":null}},"
        "{\"engine\":\"p\",\"version\":\"1\",\"why_not\":null,\"process_ns\":{\"count\":3,"
        "\"median\":20,\"least\":5,\"p90\":40,\"most\":50},"
        "\"again_ns\":{\"count\":0,\"median\":null,\"least\":null,\"p90\":null,\"most\":null}},"
        "{\"engine\":\"p\",\"version\":\"1\",\"why_not\":null,\"process_ns\":{\"count\":3,"
        "\"median\":20,\"least\":5,\"p90\":40,\"most\":50},"
        "\"again_ns\":{\"count\":0,\"median\":null,\"least\":null,\"p90\":null,\"most\":null}}]}");
    free(text);
    store_tear_down(&f);
}
