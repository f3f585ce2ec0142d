/* What each way costs in a run: study/timings.h. Numbers of a few values; medians, least and most
 * of them are counted by hand. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "study/timings.h"
#include "test.h"

enum { CASES = 3 };

/* Every number of a case is N times that of its row: 1 for the first field, 2 for the second. */
static struct case_timing timing_of(uint64_t n)
{
    return (struct case_timing){.walk_ns = 1 * n,
                                .stop_copy_ns = 2 * n,
                                .stop_walk_ns = 3 * n,
                                .stop_dump_ns = 4 * n,
                                .record_write_ns = 5 * n,
                                .dump_write_ns = 6 * n,
                                .dump_tuned_ns = 7 * n,
                                .record_bytes = 8 * n,
                                .dump_bytes = 9 * n,
                                .capture_now_ns = 10 * n,
                                .hang_late_ns = 11 * n,
                                .dump_tuned_bytes = 12 * n};
}

static struct engine_cost cost_of(uint64_t n)
{
    return (struct engine_cost){.open_ns = 1 * n,
                                .unwind_ns = 2 * n,
                                .load_ns = 3 * n,
                                .resolve_ns = 4 * n,
                                .cold_ns = 5 * n,
                                .peak_bytes = 6 * n,
                                .total_ns = 7 * n};
}

struct made {
    struct run_case c;
    struct engine_claim claims[2];
    struct engine_score scores[2];
    struct stack stacks[2];
    char name[16];
};

/* A case of "dump", which is under test, and "judge", which is not: each has a stack of N frames.
 */
static struct run_case *make(struct made *m, uint64_t id, uint64_t n)
{
    static const char *const engines[] = {"dump", "judge"};
    memset(m, 0, sizeof *m);
    (void)snprintf(m->name, sizeof m->name, "case%u", (unsigned)id);
    for (size_t i = 0; i < COUNT_OF(engines); i++) {
        m->stacks[i] = (struct stack){.engine = engines[i], .state = STACK_OK};
        m->claims[i] = (struct engine_claim){.engine = engines[i],
                                             .subject = i == 0,
                                             .stacks = &m->stacks[i],
                                             .stack_count = 1,
                                             .cost = cost_of(n * (i + 1))};
        m->scores[i] = (struct engine_score){
            .engine = engines[i], .subject = i == 0, .state = STACK_OK, .frames = (uint32_t)n};
    }
    m->c = (struct run_case){.id = id,
                             .scenario = m->name,
                             .variant = "ob2",
                             .arch = CPU_X64,
                             .claims = m->claims,
                             .claim_count = COUNT_OF(engines),
                             .timing = timing_of(n)};
    m->c.result.scores = m->scores;
    m->c.result.score_count = COUNT_OF(engines);
    return &m->c;
}

static const struct engine_total engines[] = {{.engine = "dump", .subject = true},
                                              {.engine = "judge", .kind = ENGINE_KIND_JUDGE}};

/* The second processor has cases where a test makes some. */
static const struct run_figures figures = {.processors = {2, {CPU_X64, CPU_X86}, {0}},
                                           .engines = engines,
                                           .engine_count = COUNT_OF(engines)};

static void check_row(const struct timings_row *row, const char *key, uint64_t factor, bool bytes)
{
    CHECK_STR(row->key, key);
    CHECK(row->name != NULL && row->name[0] != '\0');
    CHECK_EQ(row->bytes, bytes);
    CHECK_EQ(row->measured.n, CASES);
    CHECK_NEAR(row->measured.least, (double)(10 * factor), 0);
    CHECK_NEAR(row->measured.value, (double)(20 * factor), 0);
    CHECK_NEAR(row->measured.most, (double)(60 * factor), 0);
}

TEST(each_row_has_the_median_of_its_own_numbers)
{
    static const uint64_t numbers[CASES] = {60, 10, 20};
    static const struct {
        const char *key;
        bool bytes;
    } capture[TIMINGS_CAPTURE] = {
        {"walk_ns", false},        {"stop_copy_ns", false},    {"stop_walk_ns", false},
        {"stop_dump_ns", false},   {"record_write_ns", false}, {"dump_write_ns", false},
        {"dump_tuned_ns", false},  {"record_bytes", true},     {"dump_bytes", true},
        {"capture_now_ns", false}, {"hang_late_ns", false},    {"dump_tuned_bytes", true}};
    static const char *const parts[TIMINGS_PARTS] = {"open_ns",    "unwind_ns", "load_ns",
                                                     "resolve_ns", "cold_ns",   "peak_bytes"};
    struct timings_count count;
    struct timings out;
    struct made made;
    struct arena keep;
    struct fault fault = FAULT_INIT;
    arena_init(&keep, 0);
    timings_begin(&count, engines, COUNT_OF(engines), &keep, &out);
    for (uint64_t i = 0; i < 2 * CASES; i++) { /* those of x86 take a thousand times as long */
        const bool x86 = i >= CASES;
        make(&made, i + 1, numbers[i % CASES] * (x86 ? 1000 : 1));
        made.c.arch = x86 ? CPU_X86 : CPU_X64;
        REQUIRE(timings_add(&count, &made.c, &fault) == ERR_NONE);
    }
    make(&made, 9, 5); /* it has none of these numbers, and counts in none of these rows */
    made.c = (struct run_case){.id = 9, .scenario = "none", .variant = "ob2"};
    REQUIRE(timings_add(&count, &made.c, &fault) == ERR_NONE);
    REQUIRE(timings_end(&count, &figures, &fault) == ERR_NONE);
    REQUIRE(out.set_count == 2 && out.engine_count == COUNT_OF(engines));
    for (size_t s = 0; s < 2; s++) {
        const struct timings_set *set = &out.sets[s];
        const uint64_t times = s == 0 ? 1 : 1000;
        CHECK_EQ(set->arch, figures.processors.of[s]);
        for (size_t i = 0; i < TIMINGS_CAPTURE; i++) {
            test_row(capture[i].key);
            check_row(&set->capture[i], capture[i].key, times * (i + 1), capture[i].bytes);
        }
        for (size_t e = 0; e < COUNT_OF(engines); e++) {
            const struct timings_engine *engine = &set->engines[e];
            test_row(engines[e].engine);
            CHECK_STR(engine->engine, engines[e].engine);
            CHECK_EQ(engine->subject, engines[e].subject);
            CHECK_EQ(engine->kind, engines[e].kind);
            CHECK_EQ(engine->total.n, CASES);
            CHECK_NEAR(engine->total.value, (double)(times * 20 * 7 * (e + 1)), 0);
            for (size_t i = 0; i < TIMINGS_PARTS; i++)
                check_row(&engine->parts[i], parts[i], times * (i + 1) * (e + 1), i == 5);
        }
    }
    test_row(NULL);
    REQUIRE(out.case_count == 2 * CASES);
    CHECK_EQ(out.case_ids[0], 1);
    CHECK_EQ(out.case_ids[2 * CASES - 1], 2 * CASES);
    CHECK_EQ(out.stacks, 2 * 2 * CASES);
    arena_free(&keep);
}

TEST(times_of_crowded_cases_count_nowhere_and_sizes_do)
{
    struct timings_count count;
    struct timings out;
    struct made made;
    struct arena keep;
    struct fault fault = FAULT_INIT;
    arena_init(&keep, 0);
    timings_begin(&count, engines, COUNT_OF(engines), &keep, &out);
    make(&made, 1, 10);
    made.c.timing.crowded = true;
    REQUIRE(timings_add(&count, &made.c, &fault) == ERR_NONE);
    REQUIRE(timings_end(&count, &figures, &fault) == ERR_NONE);
    for (size_t i = 0; i < TIMINGS_CAPTURE; i++) {
        test_row(out.sets[0].capture[i].key);
        CHECK_EQ(out.sets[0].capture[i].measured.n, out.sets[0].capture[i].bytes);
    }
    arena_free(&keep);
}

/* Eleven cases, two of them equal: the first of these stays, and the fastest goes. */
TEST(the_ten_slowest_stacks_of_engines_under_test_are_in_order)
{
    static const uint64_t numbers[] = {5, 90, 10, 80, 20, 70, 30, 60, 40, 50, 60};
    static const uint64_t order[TIMINGS_SLOWEST] = {2, 4, 6, 8, 11, 10, 9, 7, 5, 3};
    struct timings_count count;
    struct timings out;
    struct made made;
    struct arena keep;
    struct fault fault = FAULT_INIT;
    arena_init(&keep, 0);
    timings_begin(&count, engines, COUNT_OF(engines), &keep, &out);
    for (uint64_t i = 0; i < COUNT_OF(numbers); i++)
        REQUIRE(timings_add(&count, make(&made, i + 1, numbers[i]), &fault) == ERR_NONE);
    REQUIRE(timings_end(&count, &figures, &fault) == ERR_NONE);
    REQUIRE(out.slow_count == TIMINGS_SLOWEST);
    for (size_t i = 0; i < TIMINGS_SLOWEST; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "case%u", (unsigned)order[i]);
        test_row(name);
        CHECK_STR(out.slowest[i].c->scenario, name);
        CHECK_STR(out.slowest[i].c->variant, "ob2");
        CHECK_STR(out.slowest[i].engine, "dump");
        CHECK_EQ(out.slowest[i].ns, 7 * numbers[order[i] - 1]);
        CHECK_EQ(out.slowest[i].frames, numbers[order[i] - 1]);
    }
    arena_free(&keep);
}

TEST(engines_come_in_the_order_that_is_asked_for)
{
    static const struct engine_total turned[] = {{.engine = "judge"}, {.engine = "dump"}};
    struct timings_count count;
    struct timings out;
    struct made made;
    struct arena keep;
    struct fault fault = FAULT_INIT;
    arena_init(&keep, 0);
    timings_begin(&count, engines, COUNT_OF(engines), &keep, &out);
    REQUIRE(timings_add(&count, make(&made, 1, 10), &fault) == ERR_NONE);
    struct run_figures other = figures;
    other.engines = turned;
    REQUIRE(timings_end(&count, &other, &fault) == ERR_NONE);
    CHECK_STR(out.sets[0].engines[0].engine, "judge");
    CHECK_NEAR(out.sets[0].engines[0].total.value, 140, 0);
    CHECK_STR(out.sets[0].engines[1].engine, "dump");
    CHECK_NEAR(out.sets[0].engines[1].total.value, 70, 0);
    arena_free(&keep);
}

/* In the order of the first sample of each; the numbers are worked out by hand. */
TEST(samples_that_belong_together_are_one_row)
{
    struct bench_sample samples[] = {
        {LANE_DUMP, STAGE_TOTAL, false, 0, 30},    {LANE_OFFSET, STAGE_TOTAL, false, 0, 7},
        {LANE_DUMP, STAGE_TOTAL, false, 1, 10},    {LANE_DUMP, STAGE_TOTAL, true, 0, 90},
        {LANE_CONTROL, STAGE_UNWIND, false, 0, 5}, {LANE_DUMP, STAGE_TOTAL, false, 2, 20},
        {LANE_OTHER, STAGE_OTHER, true, 0, 1}};
    struct arena keep;
    struct fault fault = FAULT_INIT;
    struct json j;
    size_t bytes = 0;
    arena_init(&keep, 0);
    json_to_text(&j, false);
    REQUIRE(timings_write_groups(&j, samples, COUNT_OF(samples), &keep, &fault) == ERR_NONE);
    char *text = json_take(&j, &bytes);
    REQUIRE(text != NULL);
    CHECK_STR(arena_text(&keep, text, bytes),
              "[{\"subject\":\"dump\",\"kind\":\"dump\",\"stage\":\"total\",\"cold\":false,"
              "\"count\":3,\"median\":20,\"least\":10,\"p90\":28,\"most\":30},"
              "{\"subject\":\"offset\",\"kind\":\"offset\",\"stage\":\"total\",\"cold\":false,"
              "\"count\":1,\"median\":7,\"least\":7,\"p90\":7,\"most\":7},"
              "{\"subject\":\"dump\",\"kind\":\"dump\",\"stage\":\"total\",\"cold\":true,"
              "\"count\":1,\"median\":90,\"least\":90,\"p90\":90,\"most\":90},"
              "{\"subject\":\"offset-control\",\"kind\":\"offset\",\"stage\":\"unwind\","
              "\"cold\":false,"
              "\"count\":1,\"median\":5,\"least\":5,\"p90\":5,\"most\":5},"
              "{\"subject\":\"other\",\"kind\":\"other\",\"stage\":\"other\",\"cold\":true,"
              "\"count\":1,\"median\":1,\"least\":1,\"p90\":1,\"most\":1}]");
    free(text);
    arena_free(&keep);
}
