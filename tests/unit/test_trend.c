/* study/trend: figures over runs, their levels, and the sentence about them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "store_fixture.h"
#include "study/figures.h"
#include "study/trend.h"

struct made {
    const char *branch, *platform, *label;
    uint64_t day; /* days since 1970 */
    uint32_t cases;
    uint64_t dump_write_ns, cold_ns;
    bool crowded;
    uint64_t control_ns; /* of a bench with 1,000 in its offset lane; 0: no bench */
};

static uint64_t put_run(struct store_fixture *f, const struct made *m)
{
    struct run_info run = {.label = m->label != NULL ? m->label : "run",
                           .branch = m->branch != NULL ? m->branch : "main",
                           .platform = m->platform != NULL ? m->platform : "linux",
                           .commit = arena_printf(&f->keep, "c%llu", (unsigned long long)m->day),
                           .started_ns = m->day * 86400 * 1000000000u};
    REQUIRE(store_begin_run(f->store, &run, &f->keep, &f->fault) == ERR_NONE);
    for (uint32_t i = 0; i < m->cases; i++) {
        struct engine_claim claim = {.engine = "offset:rtl",
                                     .subject = true,
                                     .cost = {.total_ns = 500, .cold_ns = m->cold_ns + i}};
        struct engine_score score = {.engine = "offset:rtl",
                                     .subject = true,
                                     .state = STACK_OK,
                                     .judged = true,
                                     .exact = i != 0,
                                     .frames = 3};
        struct run_case c = {.scenario = "null_write",
                             .variant = arena_printf(&f->keep, "v%u", (unsigned)i),
                             .kind = CASE_KIND_CRASH,
                             .timing = {.dump_write_ns = m->dump_write_ns + i,
                                        .dump_bytes = 70,
                                        .crowded = m->crowded},
                             .claims = &claim,
                             .claim_count = 1,
                             .result = {.verdict = VERDICT_PASS,
                                        .reason = "",
                                        .right = "all",
                                        .scores = &score,
                                        .score_count = 1}};
        REQUIRE(store_put_case(f->store, run.id, &c, &f->fault) == ERR_NONE);
    }
    const struct bench_sample samples[] = {{LANE_OFFSET, STAGE_TOTAL, false, 0, 1000},
                                           {LANE_CONTROL, STAGE_TOTAL, false, 0, m->control_ns}};
    REQUIRE(m->control_ns == 0 ||
            store_put_samples(f->store, run.id, samples, 2, &f->fault) == ERR_NONE);
    REQUIRE(store_finish_run(f->store, run.id, RUN_COMPLETE, run.started_ns + 1, &f->fault) ==
            ERR_NONE);
    return run.id;
}

static struct trend_study make(struct store_fixture *f, struct trend_query query)
{
    struct trend_study out;
    query.limit = query.limit == 0 ? 100 : query.limit;
    REQUIRE(trend_make(f->store, &query, &f->keep, &out, &f->fault) == ERR_NONE);
    return out;
}

TEST(every_figure_can_be_read_of_runs_and_of_cases)
{
    struct store_fixture f;
    store_set_up(&f);
    (void)put_run(&f, &(struct made){.day = 1, .cases = 3, .dump_write_ns = 100, .cold_ns = 900});
    for (int i = 0; i < METRIC_COUNT; i++) {
        test_row(metric_name((enum metric)i));
        (void)make(&f, (struct trend_query){.metric = (enum metric)i});
        (void)make(&f, (struct trend_query){.metric = (enum metric)i, .scenario = "null_write"});
    }
    static const struct {
        enum metric metric;
        const char *variant;
        double value;
        uint64_t count;
    } rows[] = {{METRIC_DUMP_WRITE, NULL, 101, 3},  {METRIC_DUMP_WRITE, "v2", 102, 1},
                {METRIC_OFFSET_COLD, NULL, 901, 3}, {METRIC_OFFSET_COLD, "v0", 900, 1},
                {METRIC_EXACT, NULL, 2.0 / 3, 3},   {METRIC_EXACT, "v0", 0, 1},
                {METRIC_OFFSET, NULL, 500, 3},      {METRIC_OFFSET, "v1", 500, 1}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(metric_name(rows[i].metric));
        const struct trend_study s =
            make(&f, (struct trend_query){.metric = rows[i].metric, .variant = rows[i].variant});
        REQUIRE(s.trend.count == 1);
        CHECK_NEAR(s.trend.points[0].value, rows[i].value, 1e-9);
        CHECK_EQ(s.trend.points[0].count, rows[i].count);
        CHECK_EQ(s.trend.points[0].cases, 3);
        CHECK_STR(s.trend.points[0].commit, "c1");
    }
    store_tear_down(&f);
}

/* Tukey's fences: the quartiles of 100, 120, 140 and 200 are 115 and 155, so that the band is 60
 * wider on both sides. Fewer than four values have none. */
TEST(a_band_is_that_of_four_values_or_more)
{
    static const uint64_t values[] = {140, 100, 200, 120};
    struct store_fixture f;
    store_set_up(&f);
    for (int i = 0; i < 4; i++) {
        (void)put_run(
            &f, &(struct made){.day = 1 + (unsigned)i, .cases = 1, .dump_write_ns = values[i]});
        const struct trend_study s = make(&f, (struct trend_query){.metric = METRIC_DUMP_WRITE});
        REQUIRE(s.trend.count == (uint32_t)i + 1);
        CHECK_EQ(isnan(s.trend.low) && isnan(s.trend.high), i < 3);
        if (i < 3)
            continue;
        CHECK_NEAR(s.trend.low, 55, 1e-9);
        CHECK_NEAR(s.trend.high, 215, 1e-9);
    }
    store_tear_down(&f);
}

TEST(times_of_a_crowd_are_left_out)
{
    struct store_fixture f;
    store_set_up(&f);
    (void)put_run(&f, &(struct made){
                          .day = 1, .cases = 2, .crowded = true, .dump_write_ns = 9, .cold_ns = 8});
    static const struct {
        enum metric metric;
        double value;
    } rows[] = {{METRIC_DUMP_WRITE, (double)NAN},
                {METRIC_DUMP_BYTES, 70},
                {METRIC_OFFSET_COLD, (double)NAN}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(metric_name(rows[i].metric));
        const struct trend_study s = make(&f, (struct trend_query){.metric = rows[i].metric});
        REQUIRE(s.trend.count == 1);
        CHECK_EQ(isnan(s.trend.points[0].value) != 0, isnan(rows[i].value) != 0);
        if (!isnan(rows[i].value))
            CHECK_NEAR(s.trend.points[0].value, rows[i].value, 1e-9);
    }
    store_tear_down(&f);
}

/* A run of x86 is taken up again and gets a case of x64, of which not every figure was measured. */
TEST(what_a_run_was_before_it_went_on_is_gone)
{
    struct store_fixture f;
    struct run_info run = {.label = "run", .branch = "main", .started_ns = 1};
    struct run_case c = {.scenario = "s",
                         .variant = "x86-ob2",
                         .arch = CPU_X86,
                         .kind = CASE_KIND_CRASH,
                         .timing = {.dump_write_ns = 5, .dump_bytes = 70},
                         .result = {.verdict = VERDICT_PASS, .reason = "", .right = "all"}};
    store_set_up(&f);
    REQUIRE(store_begin_run(f.store, &run, &f.keep, &f.fault) == ERR_NONE);
    REQUIRE(store_put_case(f.store, run.id, &c, &f.fault) == ERR_NONE);
    REQUIRE(store_finish_run(f.store, run.id, RUN_INTERRUPTED, 2, &f.fault) == ERR_NONE);
    REQUIRE(store_resume_run(f.store, run.id, &f.fault) == ERR_NONE);
    c.variant = "ob2";
    c.arch = CPU_X64;
    c.timing.dump_write_ns = 0;
    c.timing.dump_bytes = 90;
    REQUIRE(store_put_case(f.store, run.id, &c, &f.fault) == ERR_NONE);
    REQUIRE(store_finish_run(f.store, run.id, RUN_COMPLETE, 3, &f.fault) == ERR_NONE);
    const struct trend_study bytes = make(&f, (struct trend_query){.metric = METRIC_DUMP_BYTES});
    REQUIRE(bytes.trend.count == 1);
    CHECK_NEAR(bytes.trend.points[0].value, 90, 1e-9);
    const struct trend_study ns = make(&f, (struct trend_query){.metric = METRIC_DUMP_WRITE});
    REQUIRE(ns.trend.count == 1);
    CHECK(isnan(ns.trend.points[0].value));
    store_tear_down(&f);
}

/* Which costs of ways a case has: of one nanosecond, so that one that counts shows. */
enum pair_ways { NO_WAYS, BOTH_WAYS, OTHER_FRAMES, DUMP_WAY_ONLY };

struct pair {
    enum cpu arch;
    uint64_t dump_ns, offset_ns;
    bool crowded;
    enum pair_ways ways;
};

static struct way_cost *ways_of(struct store_fixture *f, enum pair_ways ways)
{
    struct way_cost *out =
        ways != NO_WAYS ? ARENA_ARRAY(&f->keep, WAY_COUNT, struct way_cost) : NULL;
    if (out == NULL)
        return NULL;
    memset(out, 0, WAY_COUNT * sizeof *out);
    out[WAY_DUMP] =
        (struct way_cost){.cold.whole_ns = 8, .frames = 3, .same = ways != OTHER_FRAMES};
    if (ways != DUMP_WAY_ONLY)
        out[WAY_OFFSET] = (struct way_cost){.cold.whole_ns = 4, .frames = 3, .same = 1};
    return out;
}

static void put_pairs(struct store_fixture *f, const struct pair *pairs, uint32_t count)
{
    struct run_info run = {.label = "run", .branch = "main", .started_ns = 1};
    REQUIRE(store_begin_run(f->store, &run, &f->keep, &f->fault) == ERR_NONE);
    for (uint32_t i = 0; i < count; i++) {
        struct engine_claim claims[] = {{.engine = "dump",
                                         .subject = true,
                                         .cost = {.total_ns = 1, .cold_ns = pairs[i].dump_ns}},
                                        {.engine = "offset:rtl",
                                         .subject = true,
                                         .cost = {.total_ns = 1, .cold_ns = pairs[i].offset_ns}}};
        struct engine_score scores[] = {
            {.engine = "dump", .subject = true, .state = STACK_OK, .frames = 3},
            {.engine = "offset:rtl", .subject = true, .state = STACK_OK, .frames = 3}};
        struct run_case c = {.scenario = arena_printf(&f->keep, "s%u", (unsigned)i),
                             .variant = "ob2",
                             .kind = CASE_KIND_CRASH,
                             .arch = pairs[i].arch,
                             .timing = {.crowded = pairs[i].crowded},
                             .ways = ways_of(f, pairs[i].ways),
                             .claims = claims,
                             .claim_count = 2,
                             .result = {.verdict = VERDICT_PASS,
                                        .reason = "",
                                        .right = "all",
                                        .scores = scores,
                                        .score_count = 2}};
        REQUIRE(store_put_case(f->store, run.id, &c, &f->fault) == ERR_NONE);
    }
    REQUIRE(store_finish_run(f->store, run.id, RUN_COMPLETE, 2, &f->fault) == ERR_NONE);
}

/* A ratio of medians over the same cases of both ways, on one processor: what a badge shows. */
TEST(the_speed_of_a_run_is_one_figure_everywhere)
{
    static const struct {
        const char *name;
        uint32_t pairs, others;
        struct pair other;
        double value;
    } rows[] = {
        {"twelve pairs", 12, 0, {0}, 9},
        {"eleven are too few", 11, 0, {0}, (double)NAN},
        {"another processor's do not count", 12, 20, {CPU_X86, 900, 900, false, NO_WAYS}, 9},
        {"nor help where there are too few",
         11,
         20,
         {CPU_X86, 900, 900, false, NO_WAYS},
         (double)NAN},
        {"nor those without the other way", 12, 20, {CPU_X64, 900, 0, false, NO_WAYS}, 9},
        {"nor those of a crowd", 12, 20, {CPU_X64, 900, 900, true, NO_WAYS}, 9},
        {"but those of the same do", 12, 20, {CPU_X64, 900, 450, false, NO_WAYS}, 2},
        {"without the first processor the next", 0, 20, {CPU_X86, 900, 300, false, NO_WAYS}, 3},
        {"costs of ways count, not those of claims", 0, 20, {CPU_X64, 90, 10, false, BOTH_WAYS}, 2},
        {"of other frames not", 12, 20, {CPU_X64, 90, 45, false, OTHER_FRAMES}, 9},
        {"nor those of one way", 12, 20, {CPU_X64, 90, 45, false, DUMP_WAY_ONLY}, 9},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct store_fixture f;
        struct pair pairs[32];
        struct run_figures figures;
        struct run_info info;
        test_row(rows[i].name);
        store_set_up(&f);
        for (uint32_t k = 0; k < rows[i].pairs + rows[i].others; k++)
            pairs[k] =
                k < rows[i].pairs ? (struct pair){CPU_X64, 90, 10, false, NO_WAYS} : rows[i].other;
        put_pairs(&f, pairs, rows[i].pairs + rows[i].others);
        const struct trend_study s = make(&f, (struct trend_query){.metric = METRIC_SPEED_RATIO});
        REQUIRE(figures_read(f.store, "latest", NULL, &f.keep, &info, &figures, &f.fault) ==
                ERR_NONE);
        const double shown[] = {s.trend.points[0].value,
                                figures_metric(&figures, METRIC_SPEED_RATIO)};
        for (size_t k = 0; k < COUNT_OF(shown); k++) {
            CHECK_EQ(isnan(shown[k]) != 0, isnan(rows[i].value) != 0);
            if (!isnan(rows[i].value))
                CHECK_NEAR(shown[k], rows[i].value, 1e-9);
        }
        store_tear_down(&f);
    }
}

/* The capture rate of a report is that of the trend, of whole runs and of one case. */
TEST(which_cases_count_as_captured_is_one_rule_everywhere)
{
    static const struct {
        const char *name;
        enum verdict verdict;
        bool calm, hooks;
        uint64_t record_bytes, dump_bytes;
        uint32_t expected, captured;
    } rows[] = {
        {"a record and a dump", VERDICT_PASS, false, true, 9, 9, 1, 1},
        {"a record", VERDICT_FAIL, false, true, 9, 0, 1, 1},
        {"a dump", VERDICT_FAIL, false, false, 0, 9, 1, 1},
        {"a hook alone is no capture", VERDICT_FAIL, false, true, 0, 0, 1, 0},
        {"nothing", VERDICT_FAIL, false, false, 0, 0, 1, 0},
        {"accepted", VERDICT_XFAIL, false, false, 0, 0, 1, 0},
        {"flaky", VERDICT_FLAKY, false, false, 9, 9, 1, 1},
        {"passes though accepted", VERDICT_XPASS, false, true, 9, 9, 1, 1},
        {"a calm program", VERDICT_PASS, true, false, 9, 9, 0, 0},
        {"could not be run", VERDICT_ERROR, false, false, 9, 9, 0, 0},
        {"not on this machine", VERDICT_UNSUPPORTED, false, false, 0, 0, 0, 0},
        {"none was promised", VERDICT_NOT_CAPTURED_AS_EXPECTED, false, false, 0, 0, 0, 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct store_fixture f;
        struct run_figures figures;
        struct run_info info, run = {.label = "run", .branch = "main", .started_ns = 1};
        struct run_case c = {
            .scenario = "null_write",
            .variant = "ob2",
            .kind = rows[i].calm ? CASE_KIND_CALM : CASE_KIND_CRASH,
            .got_hooks = rows[i].hooks ? HOOK_BIT(CASE_HOOK_UNHANDLED) : 0,
            .timing = {.record_bytes = rows[i].record_bytes, .dump_bytes = rows[i].dump_bytes},
            .result = {.verdict = rows[i].verdict, .reason = "", .right = "all"}};
        test_row(rows[i].name);
        store_set_up(&f);
        REQUIRE(store_begin_run(f.store, &run, &f.keep, &f.fault) == ERR_NONE);
        REQUIRE(store_put_case(f.store, run.id, &c, &f.fault) == ERR_NONE);
        REQUIRE(store_finish_run(f.store, run.id, RUN_COMPLETE, 2, &f.fault) == ERR_NONE);
        REQUIRE(figures_read(f.store, "latest", NULL, &f.keep, &info, &figures, &f.fault) ==
                ERR_NONE);
        CHECK_EQ(figures.captures_expected, rows[i].expected);
        CHECK_EQ(figures.captured, rows[i].captured);
        static const char *const scenarios[] = {NULL, "null_write"};
        for (size_t k = 0; k < COUNT_OF(scenarios); k++) {
            const struct trend_study s = make(
                &f, (struct trend_query){.metric = METRIC_CAPTURE_RATE, .scenario = scenarios[k]});
            CHECK_EQ(s.trend.count > 0 ? s.trend.points[0].count : 0, rows[i].expected);
            if (rows[i].expected > 0)
                CHECK_NEAR(s.trend.points[0].value, rows[i].captured, 0);
        }
        store_tear_down(&f);
    }
}

TEST(runs_are_chosen_by_branch_platform_and_number_and_sorted_by_date)
{
    struct store_fixture f;
    store_set_up(&f);
    const struct made runs[] = {{.day = 5, .cases = 1, .dump_write_ns = 5},
                                {.day = 2, .cases = 1, .dump_write_ns = 2}, /* imported later */
                                {.day = 6, .cases = 1, .dump_write_ns = 6, .branch = "topic"},
                                {.day = 7, .cases = 1, .dump_write_ns = 7, .platform = "windows"}};
    for (size_t i = 0; i < COUNT_OF(runs); i++)
        (void)put_run(&f, &runs[i]);
    static const struct {
        const char *name, *branch, *platform;
        uint64_t until;
        uint32_t limit, count;
        double first, last;
    } rows[] = {{"all", NULL, NULL, 0, 0, 4, 2, 7},
                {"a branch", "topic", NULL, 0, 0, 1, 6, 6},
                {"a platform", NULL, "linux", 0, 0, 3, 2, 6},
                {"up to a run", NULL, NULL, 2, 0, 2, 2, 5},
                {"the newest two", NULL, NULL, 0, 2, 2, 6, 7},
                {"none", "gone", NULL, 0, 0, 0, 0, 0}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        const struct trend_study s = make(&f, (struct trend_query){.metric = METRIC_DUMP_WRITE,
                                                                   .branch = rows[i].branch,
                                                                   .platform = rows[i].platform,
                                                                   .until = rows[i].until,
                                                                   .limit = rows[i].limit});
        REQUIRE(s.trend.count == rows[i].count);
        if (s.trend.count > 0) {
            CHECK_NEAR(s.trend.points[0].value, rows[i].first, 0);
            CHECK_NEAR(s.trend.points[s.trend.count - 1].value, rows[i].last, 0);
        }
        CHECK_EQ(s.branch_count, 2);
        CHECK_EQ(s.platform_count, 2);
    }
    store_tear_down(&f);
}

TEST(a_level_changes_above_the_noise_only)
{
    static const struct {
        const char *name;
        uint64_t now, control; /* from day 13 on; the bench's, against 1,000 */
        uint32_t small_from;   /* runs have one case from this day on; 0: never */
        uint32_t levels;
        bool worse;
        const char *sentence;
    } rows[] = {
        {"steady", 1000, 0, 0, 1, false,
         "No change beyond chance and noise: 1 µs in the median of 24 runs."},
        {"above the 3 % that count", 1100, 0, 0, 2, true,
         "Worse since run 13 of 1970-01-14 (commit c13): 1.1 µs, before it 1 µs."},
        {"below them", 1020, 0, 0, 1, false,
         "No change beyond chance and noise: 1.01 µs in the median of 24 runs."},
        {"below what A/A measured", 1100, 1200, 0, 1, false, NULL},
        {"better", 900, 0, 0, 2, false,
         "Better since run 13 of 1970-01-14 (commit c13): 901 ns, before it 1 µs."},
        {"runs of a few cases do not count", 1100, 0, 13, 1, false,
         "No change beyond chance and noise: 1 µs in the median of 12 runs."},
        {"too few that count", 1100, 0, 6, 1, false,
         "Not enough runs to say whether it changed: 5 here, 8 are needed."},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct store_fixture f;
        store_set_up(&f);
        test_row(rows[i].name);
        for (uint32_t day = 1; day <= 24; day++)
            (void)put_run(&f,
                          &(struct made){
                              .day = day,
                              .cases = rows[i].small_from != 0 && day >= rows[i].small_from ? 1 : 3,
                              .dump_write_ns = day >= 13 ? rows[i].now : 1000});
        if (rows[i].control != 0)
            (void)put_run(
                &f, &(struct made){.day = 25, .label = "bench", .control_ns = rows[i].control});
        const struct trend_study s = make(&f, (struct trend_query){.metric = METRIC_DUMP_WRITE});
        CHECK_EQ(s.level_count, rows[i].levels);
        /* what a sparkline shows */
        struct trend points;
        const struct trend_query query = {.metric = METRIC_DUMP_WRITE};
        uint32_t counted = 0;
        REQUIRE(study_read_trend(f.store, &query, &f.keep, &points, &f.fault) == ERR_NONE);
        for (uint32_t k = 0; k < points.count; k++)
            counted += points.counts[k];
        CHECK_EQ(counted, rows[i].small_from != 0 ? rows[i].small_from - 1 : 24);
        if (rows[i].sentence != NULL)
            CHECK_STR(s.sentence, rows[i].sentence);
        if (s.level_count == 2) {
            CHECK_EQ(s.levels[1].worse, rows[i].worse);
            CHECK_EQ(s.trend.points[s.levels[1].first].run_id, 13);
            CHECK_NEAR(s.levels[1].high / s.levels[1].median, 1.03, 1e-9);
            CHECK_NEAR(s.levels[1].low / s.levels[1].median, 0.97, 1e-9);
            CHECK_EQ(s.levels[0].runs, 12);
            CHECK_EQ(s.levels[1].runs, 12);
            CHECK_EQ(s.trend.points[s.levels[0].first].run_id, 1);
            CHECK_EQ(s.trend.points[s.levels[0].last].run_id, 12);
            CHECK_EQ(s.trend.points[s.levels[1].last].run_id, 24);
            CHECK(isnan(s.levels[0].before) && isnan(s.levels[0].effect));
            CHECK_NEAR(s.levels[1].before, s.levels[0].median, 0);
            CHECK_NEAR(s.levels[1].effect, (double)rows[i].now / 1000 - 1, 0.002);
            CHECK(s.levels[1].p < 0.001);
        }
        if (rows[i].control != 0)
            CHECK_NEAR(s.noise, 0.2, 1e-9);
        store_tear_down(&f);
    }
}

/* The medians of three cases are 1 ns above the first's time. */
TEST(levels_are_written_with_what_was_before_them)
{
    static const struct {
        const char *name;
        uint64_t now;
        const char *change;
    } rows[] = {
        {"worse", 1100, "\"median\":1101,\"low\":1067.97"},
        {"worse, what was before", 1100,
         "\"change\":\"worse\",\"last_run_before\":12,\"before\":1001,\"effect\":0.0999000"},
        {"better", 900,
         "\"change\":\"better\",\"last_run_before\":12,\"before\":1001,\"effect\":-0.0999000"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct store_fixture f;
        struct json j;
        size_t bytes = 0;
        store_set_up(&f);
        test_row(rows[i].name);
        for (uint32_t day = 1; day <= 24; day++)
            (void)put_run(&f, &(struct made){.day = day,
                                             .cases = 3,
                                             .dump_write_ns = day >= 13 ? rows[i].now : 1000});
        const struct trend_study s =
            make(&f, (struct trend_query){
                         .metric = METRIC_DUMP_WRITE, .branch = "main", .platform = "linux"});
        json_to_text(&j, false);
        trend_write_json(&j, &s);
        char *text = json_take(&j, &bytes);
        REQUIRE(text != NULL);
        const char *all = arena_text(&f.keep, text, bytes);
        free(text);
        CHECK_HAS(all, "{\"metric\":\"dump_write_ns\",\"figure\":{\"name\":\"dump_write_ns\",");
        CHECK_HAS(all, ",\"unit\":\"ns\",\"better\":\"less\"},\"scenario\":null,\"variant\":null,"
                       "\"branch\":\"main\",\"platform\":\"linux\",\"sentence\":\"");
        CHECK_HAS(all, "\"noise\":{\"share\":null,\"bench\":null,\"threshold\":0.03},\"levels\":[{"
                       "\"from_run\":1,\"to_run\":12,\"from_ns\":86400000000000,"
                       "\"to_ns\":1036800000000000,\"commit\":\"c1\",\"runs\":12,\"median\":1001,");
        CHECK_HAS(all, "\"change\":null,\"last_run_before\":null,\"before\":null,\"effect\":null,"
                       "\"p\":null},{\"from_run\":13,\"to_run\":24,\"from_ns\":1123200000000000,"
                       "\"to_ns\":2073600000000000,\"commit\":\"c13\",\"runs\":12,");
        CHECK_HAS(all, rows[i].change);
        CHECK_HAS(all, "\"branches\":[\"main\"],\"platforms\":[\"linux\"]}");
        store_tear_down(&f);
    }
}

TEST(a_thousand_runs_take_no_time)
{
    struct store_fixture f;
    store_set_up(&f);
    for (uint32_t day = 1; day <= 1000; day++)
        (void)put_run(&f, &(struct made){.day = day,
                                         .cases = 1,
                                         .dump_write_ns = 1000 + (day / 100) * 200 + day % 7});
    const struct trend_study s =
        make(&f, (struct trend_query){.metric = METRIC_DUMP_WRITE, .limit = 1000});
    CHECK_EQ(s.trend.count, 1000);
    CHECK_EQ(s.level_count, 10); /* 99 runs, then nine times 100; the last run alone is no level */
    for (uint32_t i = 1; i < s.level_count; i++) {
        CHECK_EQ(s.trend.points[s.levels[i].first].run_id, i * 100);
        CHECK(s.levels[i].worse);
    }
    store_tear_down(&f);
}
