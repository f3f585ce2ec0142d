/* What a million crashes cost, with invented amounts and known answers. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "compare/statistics.h"
#include "random.h"
#include "study/accuracy.h"
#include "study/cost.h"
#include "study/headline.h"
#include "test.h"

static double uniform(uint64_t *state)
{
    return (double)(next_random(state) >> 11) * 0x1p-53;
}

/* Values whose median is 2, far from symmetric; repeats of a unit are equal. Of 400 selections the
 * interval holds it in 95 of 100, and in no fewer where units were measured ten times. */
TEST(the_interval_of_a_median_holds_what_other_cases_would_give)
{
    static const struct {
        const char *name;
        size_t units, repeats;
    } rows[] = {{"12 cases", 12, 1}, {"60 cases", 60, 1}, {"12 cases, 10 times", 12, 10}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        enum { SELECTIONS = 400 };
        double values[120];
        uint64_t state = 88172645463325252u + i;
        int held = 0;
        test_row(rows[i].name);
        for (int s = 0; s < SELECTIONS; s++) {
            const size_t count = rows[i].units * rows[i].repeats;
            for (size_t u = 0; u < rows[i].units; u++)
                for (size_t r = 0; r < rows[i].repeats; r++)
                    values[u * rows[i].repeats + r] =
                        r == 0 ? 1 / uniform(&state) : values[u * rows[i].repeats];
            const struct interval got = statistics_median_interval(values, count, rows[i].units);
            held += got.low <= 2 && 2 <= got.high;
            CHECK(got.low <= got.value && got.value <= got.high);
        }
        CHECK(held >= SELECTIONS * 91 / 100 && held <= SELECTIONS * 99 / 100);
    }
    double one[] = {7};
    const struct interval alone = statistics_median_interval(one, 1, 1);
    CHECK(alone.low == 7 && alone.value == 7 && alone.high == 7);
    CHECK(isnan(statistics_median_interval(one, 0, 0).value));
}

/* ---- a run ---------------------------------------------------------------------------- */

enum { CASES = 40, X64 = 21, TUNED = 3 };

/* Case I of x64 has amounts that are I + 1 times those of the first, so that the median is 11 times
 * that. Ten more are its repeats; x86 comes before them and costs a thousand times as much. */
static struct figure_sample sample_of(uint32_t i)
{
    const bool x86 = i < 9;
    const uint64_t n = x86 ? 1000 : (i - 9) % X64 + 1;
    struct figure_sample s = {.unit = x86 ? 100 + i : n,
                              .scenario = x86 ? 100 + i : n,
                              .stratum = sample_stratum(x86 ? CPU_X86 : CPU_X64, 0, 0)};
    s.timing = (struct case_timing){.walk_ns = 10 * n,
                                    .record_write_ns = 90 * n,
                                    .dump_write_ns = 5000 * n,
                                    .record_bytes = 4000 * n,
                                    .record_gzip_bytes = 2000 * n,
                                    .record_zstd_bytes = 1000 * n,
                                    .dump_bytes = 300000 * n,
                                    .dump_gzip_bytes = 60000 * n,
                                    .dump_zstd_bytes = 50000 * n};
    s.ways[WAY_OFFSET].frames = s.ways[WAY_DUMP].frames = 9;
    s.ways[WAY_OFFSET].warm.whole_ns = 1000 * n;
    s.ways[WAY_OFFSET].cold.whole_ns = 3000 * n;
    s.ways[WAY_DUMP].warm.whole_ns = 4000 * n;
    s.ways[WAY_DUMP].cold.whole_ns = 6000 * n;
    if (!x86 && i - 9 < TUNED) {
        s.timing.dump_tuned_bytes = 30000;
        s.ways[WAY_TUNED].warm.whole_ns = 2000;
    }
    return s;
}

struct world {
    struct arena keep;
    struct run_info run;
    struct accuracy accuracy;
    struct run_figures figures;
    struct sample_set samples;
    struct costs costs;
};

static void set_up(struct world *w)
{
    memset(w, 0, sizeof *w);
    arena_init(&w->keep, 0);
    w->run.platform = "Windows 11";
    w->accuracy.by_cpu[CPU_X64] =
        (struct accuracy_usable){16, {[ACCURACY_OFFSET] = 4, [ACCURACY_DUMP] = 5}};
    w->accuracy.by_cpu[CPU_X86] =
        (struct accuracy_usable){9, {[ACCURACY_OFFSET] = 9, [ACCURACY_DUMP] = 0}};
    w->figures = (struct run_figures){.run = &w->run, .accuracy = &w->accuracy};
    sample_set_init(&w->samples, SAMPLE_WORDS);
}

static void add(struct world *w, const struct figure_sample *s)
{
    struct fault fault = FAULT_INIT;
    const struct run_case c = {.arch = sample_arch(s->stratum)};
    processors_add(&w->figures.processors, &c, s);
    REQUIRE(sample_set_add(&w->samples, s, &fault) == ERR_NONE);
}

static void make(struct world *w)
{
    processors_end(&w->figures.processors);
    cost_of_samples(&w->figures, &w->samples, &w->keep, &w->costs);
}

static void tear_down(struct world *w)
{
    sample_set_free(&w->samples);
    arena_free(&w->keep);
}

TEST(a_million_is_a_million_times_the_median_of_one_processor)
{
    static const struct {
        const char *name;
        enum cost_lane_index lane;
        enum cost_row row;
        size_t cases;
        double one;
    } rows[] = {
        {"offsets, warm", COST_OFFSET, COST_WARM, X64, 11000},
        {"offsets, index", COST_OFFSET, COST_INDEX, X64, 33000},
        {"offsets: walk and record", COST_OFFSET, COST_STOPPED, X64, 1100},
        {"offsets, raw", COST_OFFSET, COST_RAW, X64, 44000},
        {"offsets, gzip", COST_OFFSET, COST_GZIP, X64, 22000},
        {"offsets, zstd", COST_OFFSET, COST_ZSTD, X64, 11000},
        {"plain dump, warm", COST_PLAIN, COST_WARM, X64, 44000},
        {"plain dump, index", COST_PLAIN, COST_INDEX, X64, 66000},
        {"plain dump: written", COST_PLAIN, COST_STOPPED, X64, 55000},
        {"plain dump, raw", COST_PLAIN, COST_RAW, X64, 3300000},
        {"plain dump, gzip", COST_PLAIN, COST_GZIP, X64, 660000},
        {"plain dump, zstd", COST_PLAIN, COST_ZSTD, X64, 550000},
        {"too few tuned dumps", COST_TUNED, COST_WARM, TUNED, NAN},
        {"too few tuned dumps, raw", COST_TUNED, COST_RAW, TUNED, NAN},
        {"tuned dumps were not packed", COST_TUNED, COST_ZSTD, 0, NAN},
        {"no full dump", COST_FULL, COST_WARM, 0, NAN},
    };
    struct world w;
    set_up(&w);
    for (uint32_t i = 0; i < 9 + X64; i++) {
        const struct figure_sample s = sample_of(i);
        add(&w, &s);
    }
    make(&w);
    CHECK_EQ(w.costs.of[0].arch, CPU_X64);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct cost_amount *got = &w.costs.of[0].lanes[rows[i].lane].amounts[rows[i].row];
        test_row(rows[i].name);
        CHECK_EQ(got->cases, rows[i].cases);
        CHECK(isnan(rows[i].one) ? isnan(got->one.value) : got->one.value == rows[i].one);
        CHECK(isnan(rows[i].one) || (got->one.low < rows[i].one && rows[i].one < got->one.high));
        CHECK(isnan(rows[i].one) || cost_per_million(got) == rows[i].one / 1000);
    }
    test_row("no stack, or a wrong one");
    CHECK_EQ(w.costs.of[0].lanes[COST_OFFSET].unusable, 4);
    CHECK_EQ(w.costs.of[0].lanes[COST_PLAIN].unusable, 5);
    CHECK_EQ(w.costs.of[0].lanes[COST_PLAIN].judged, 16);
    CHECK(!w.costs.of[0].lanes[COST_TUNED].is_judged && !w.costs.of[0].lanes[COST_FULL].is_judged);
    tear_down(&w);
}

/* `rtl` walks no x86, so nothing is paired with its dumps. */
TEST(x86_has_a_table_of_its_own)
{
    static const struct {
        const char *name;
        uint32_t x64;
        size_t tables, x86_at;
    } rows[] = {{"after that of x64", X64, 2, 1}, {"x86 alone", 0, 1, 0}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct world w;
        set_up(&w);
        test_row(rows[i].name);
        for (uint32_t k = 0; k < rows[i].x64; k++) {
            const struct figure_sample s = sample_of(9 + k);
            add(&w, &s);
        }
        for (uint32_t k = 0; k < 15; k++) {
            struct figure_sample s = sample_of(0);
            s.unit = s.scenario = 200 + k;
            memset(&s.ways[WAY_OFFSET], 0, sizeof s.ways[WAY_OFFSET]);
            add(&w, &s);
        }
        make(&w);
        CHECK_EQ(w.costs.count, rows[i].tables);
        const struct cost *x86 = &w.costs.of[rows[i].x86_at];
        CHECK_EQ(x86->arch, CPU_X86);
        CHECK_EQ(x86->lanes[COST_PLAIN].amounts[COST_WARM].cases, 15);
        CHECK(x86->lanes[COST_PLAIN].amounts[COST_WARM].one.value == 4000000);
        CHECK(x86->lanes[COST_OFFSET].amounts[COST_RAW].one.value == 4000000);
        CHECK_EQ(x86->lanes[COST_OFFSET].amounts[COST_WARM].cases, 0);
        CHECK(isnan(x86->lanes[COST_OFFSET].amounts[COST_WARM].one.value));
        CHECK_EQ(x86->lanes[COST_OFFSET].unusable, 9);
        CHECK_EQ(x86->lanes[COST_PLAIN].unusable, 0);
        CHECK_EQ(x86->lanes[COST_PLAIN].judged, 9);
        tear_down(&w);
    }
}

TEST(what_does_not_count)
{
    static const struct {
        const char *name;
        size_t place; /* of a number of the first case of x64, which becomes 0 */
        enum cost_row row;
        size_t cases;
    } rows[] = {
        {"all is there", offsetof(struct figure_sample, timing.capture_now_ns), COST_STOPPED, X64},
        {"a walk without a record", offsetof(struct figure_sample, timing.record_write_ns),
         COST_STOPPED, X64 - 1},
        {"a record without a walk", offsetof(struct figure_sample, timing.walk_ns), COST_STOPPED,
         X64 - 1},
        {"a dump whose offsets gave no stack",
         offsetof(struct figure_sample, ways[WAY_OFFSET].warm.whole_ns), COST_WARM, X64 - 1},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct world w;
        set_up(&w);
        test_row(rows[i].name);
        for (uint32_t k = 9; k < 9 + X64; k++) {
            struct figure_sample s = sample_of(k);
            if (k == 9)
                memset((char *)&s + rows[i].place, 0, sizeof(uint64_t));
            add(&w, &s);
        }
        make(&w);
        const enum cost_lane_index lane = rows[i].row == COST_WARM ? COST_PLAIN : COST_OFFSET;
        CHECK_EQ(w.costs.of[0].lanes[lane].amounts[rows[i].row].cases, rows[i].cases);
        tear_down(&w);
    }
}

/* A hang goes on when it is walked; repeats are no cases of their own. */
TEST(hangs_and_repeats)
{
    struct world w;
    set_up(&w);
    for (uint32_t i = 9; i < CASES; i++) {
        struct figure_sample s = sample_of(i);
        s.timing.stop_walk_ns = 7;
        s.timing.stop_dump_ns = 700;
        add(&w, &s);
    }
    make(&w);
    const struct cost_amount *still = &w.costs.of[0].lanes[COST_OFFSET].amounts[COST_STOPPED];
    CHECK(still->one.value == 7 &&
          w.costs.of[0].lanes[COST_PLAIN].amounts[COST_STOPPED].one.value == 700);
    CHECK_EQ(still->cases, X64);
    tear_down(&w);
}

/* Eleven scenarios in two builds are more than 12 cases, and too few; twelve are not, and their
 * interval is that of twelve. */
TEST(builds_of_a_scenario_do_not_make_an_interval_narrower)
{
    static const struct {
        const char *name;
        uint32_t cases, scenarios;
        double low, high;
    } rows[] = {
        {"21 scenarios", 21, 21, 6.72, 15.28},
        {"eleven", 21, 11, NAN, NAN},
        {"twelve", 21, 12, 5.342, 16.658},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct world w;
        set_up(&w);
        test_row(rows[i].name);
        for (uint32_t k = 0; k < rows[i].cases; k++) {
            struct figure_sample s = sample_of(9 + k);
            s.scenario = k % rows[i].scenarios;
            add(&w, &s);
        }
        make(&w);
        const struct cost_amount *got = &w.costs.of[0].lanes[COST_OFFSET].amounts[COST_WARM];
        CHECK_EQ(got->cases, rows[i].cases);
        CHECK_EQ(got->scenarios, rows[i].scenarios);
        CHECK(isnan(rows[i].low) ? isnan(got->one.value)
                                 : fabs(got->one.low - rows[i].low * 1000) < 10 &&
                                       fabs(got->one.high - rows[i].high * 1000) < 10);
        tear_down(&w);
    }
}

TEST(prices_follow_from_the_terms)
{
    struct cost_terms terms = cost_terms_default;
    struct world w;
    set_up(&w);
    for (uint32_t i = 9; i < 9 + X64; i++) {
        const struct figure_sample s = sample_of(i);
        add(&w, &s);
    }
    make(&w);
    CHECK(cost_term_set(&terms, "mbit_s", "8") && cost_term_set(&terms, "hours_kept", "73") &&
          cost_term_set(&terms, "gb_month", "2") && cost_term_set(&terms, "core_hour", "3600"));
    const struct cost_lane *plain = &w.costs.of[0].lanes[COST_PLAIN];
    CHECK(fabs(cost_upload_s(plain, &terms) - 660000) < 1e-6);        /* 1 MB/s */
    CHECK(fabs(cost_price(plain, &terms) - (550 * 0.2 + 44)) < 1e-9); /* GB kept, core-seconds */
    CHECK(isnan(cost_price(&w.costs.of[0].lanes[COST_FULL], &terms)));

    test_row("full dumps of another run");
    struct headline headline;
    struct sample_set none;
    sample_set_init(&none, SAMPLE_WORDS);
    headline_of_samples(&w.figures, &none, &w.keep, &headline);
    struct run_figures full = {.costs = &w.costs, .headline = &headline};
    struct costs both;
    w.figures.headline = &headline;
    w.figures.costs = &w.costs;
    cost_make(&w.figures, &full, &both);
    CHECK_STR(both.of[0].lanes[COST_FULL].name, "full dump");
    CHECK(both.of[0].lanes[COST_FULL].amounts[COST_RAW].one.value == 3300000);

    test_row("steps of one crash");
    struct cost_lane *lane = &both.of[0].lanes[COST_PLAIN];
    CHECK(isnan(cost_total_ns(lane, &terms)));
    for (int step = 0; step < COST_STEPS; step++)
        lane->steps_ns[step] = step == COST_STEP_WALK ? (double)NAN : 1000;
    CHECK(fabs(cost_step_ns(lane, COST_STEP_SEND, &terms) - 660000e3) < 1); /* 0.66 s */
    CHECK(fabs(cost_total_ns(lane, &terms) - 660006e3) < 1);
    lane->steps_ns[COST_STEP_WRITE] = (double)NAN;
    CHECK(isnan(cost_total_ns(lane, &terms)));
    tear_down(&w);
}

TEST(a_term_is_a_name_and_a_number)
{
    static const struct {
        const char *name, *term, *value;
        bool good;
    } rows[] = {
        {"a number", "mbit_s", "100", true},
        {"a fraction", "gb_month", "0.005", true},
        {"nothing costs nothing", "core_hour", "0", true},
        {"no uplink", "mbit_s", "0", false},
        {"less than nothing", "gb_month", "-1", false},
        {"no number", "hours_kept", "x", false},
        {"more than a number", "hours_kept", "1h", false},
        {"nothing", "hours_kept", "", false},
        {"endless", "hours_kept", "inf", false},
        {"not a number", "gb_month", "nan", false},
        {"another name", "seconds", "1", false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct cost_terms terms = cost_terms_default;
        test_row(rows[i].name);
        CHECK_EQ(cost_term_set(&terms, rows[i].term, rows[i].value), rows[i].good);
        CHECK_EQ(memcmp(&terms, &cost_terms_default, sizeof terms) == 0, !rows[i].good);
    }
}
