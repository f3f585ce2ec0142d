/* The headline's arithmetic and its text form, with invented times. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "report/report.h"
#include "study/headline.h"
#include "test.h"

enum { CASES = 4 };

struct world {
    struct arena keep;
    struct run_info run;
    struct run_case cases[CASES];
    struct engine_claim claims[CASES][3];
    struct engine_score scores[CASES][3];
    struct run_figures figures;
    struct headline headline;
    struct fault fault;
};

/* Case K takes K + 1 times as long as the first. The last is an outlier that ran crowded. */
static void make_world(struct world *w)
{
    static const char *const names[3] = {"offset:rtl", "dump", "judge:dbghelp"};
    static const char *const builds[CASES] = {"ob0", "ob1", "ob2", "ob3"};
    static const struct engine_cost costs[3] = {
        {.open_ns = 1000, .load_ns = 2000, .resolve_ns = 4000, .total_ns = 10000, .cold_ns = 50000},
        {.open_ns = 10000,
         .unwind_ns = 20000,
         .load_ns = 30000,
         .resolve_ns = 25000,
         .total_ns = 90000,
         .cold_ns = 300000},
        {.total_ns = 4000000, .cold_ns = 4000000}, /* restarted for each case, so never warm */
    };
    memset(w, 0, sizeof *w);
    w->fault.offset = FAULT_NO_OFFSET;
    arena_init(&w->keep, 0);
    w->run.state = RUN_COMPLETE;
    w->run.platform = "linux x86-64, wine 8.0";
    for (uint64_t i = 0; i < CASES; i++) {
        struct run_case *c = &w->cases[i];
        const uint64_t times = i == CASES - 1 ? 1000 : i + 1;
        c->scenario = "null_write";
        c->variant = builds[i];
        c->arch = CPU_X64;
        c->kind = CASE_KIND_CRASH;
        c->timing = (struct case_timing){.walk_ns = 5000 * times,
                                         .record_write_ns = 95000 * times,
                                         .dump_write_ns = 1000000000 * times,
                                         .record_bytes = 4096,
                                         .dump_bytes = 60000 * times,
                                         .record_gzip_bytes = 2000,
                                         .dump_gzip_bytes = 30000,
                                         .crowded = i == CASES - 1};
        c->claims = w->claims[i];
        c->result.scores = w->scores[i];
        c->claim_count = c->result.score_count = 3;
        for (int e = 0; e < 3; e++) {
            struct engine_cost *cost = &c->claims[e].cost;
            c->claims[e].engine = c->result.scores[e].engine = names[e];
            c->result.scores[e].state = STACK_OK;
            c->result.scores[e].subject = c->claims[e].subject = e < 2;
            c->result.scores[e].frames = 4;
            *cost = costs[e];
            cost->open_ns *= times;
            cost->unwind_ns *= times;
            cost->load_ns *= times;
            cost->resolve_ns *= times;
            cost->total_ns *= times;
            cost->cold_ns *= times;
        }
    }
}

static void compute_of(struct world *w, struct run_case *cases, uint32_t count)
{
    REQUIRE(figures_prepare(&w->run, cases, count, &w->keep, &w->figures, &w->fault) == ERR_NONE);
    w->headline = *w->figures.headline;
}

static void compute(struct world *w, uint32_t cases)
{
    compute_of(w, w->cases, cases);
}

static const struct headline_cell *cell_of(const struct world *w, enum headline_group group,
                                           const char *key, enum case_way way)
{
    for (int r = 0; r < HEADLINE_ROWS; r++)
        if (w->headline.rows[r].group == group && strcmp(w->headline.rows[r].key, key) == 0)
            return &w->headline.rows[r].cells[way];
    FAIL("no row %s", key);
    return NULL;
}

static bool is_near(double a, double b)
{
    return fabs(a - b) < 1e-6;
}

TEST(medians_leave_out_what_ran_crowded)
{
    static const struct {
        const char *name;
        enum headline_group group;
        const char *key;
        enum case_way way;
        enum headline_state state;
        size_t count;
        double median, least, most;
    } rows[] = {
        {"walk", HEADLINE_DYING, "walk", WAY_OFFSET, HEADLINE_MEASURED, 3, 10000, 5000, 15000},
        {"a dump needs no walk", HEADLINE_DYING, "walk", WAY_DUMP, HEADLINE_NOT_DONE, 0, 0, 0, 0},
        {"stopped", HEADLINE_DYING, "stopped", WAY_OFFSET, HEADLINE_NOT_MEASURED, 0, 0, 0, 0},
        {"write", HEADLINE_DYING, "write", WAY_DUMP, HEADLINE_MEASURED, 3, 2e9, 1e9, 3e9},
        {"the same dump", HEADLINE_DYING, "write", WAY_FOREIGN, HEADLINE_MEASURED, 3, 2e9, 1e9,
         3e9},
        {"no tuned dump", HEADLINE_DYING, "write", WAY_TUNED, HEADLINE_NOT_MEASURED, 0, 0, 0, 0},
        {"bytes are no time", HEADLINE_DYING, "bytes", WAY_DUMP, HEADLINE_MEASURED, 4, 150000,
         60000, 6e7},
        {"cold", HEADLINE_COLD, "cold", WAY_DUMP, HEADLINE_MEASURED, 3, 600000, 300000, 900000},
        {"cold, foreign", HEADLINE_COLD, "cold", WAY_FOREIGN, HEADLINE_MEASURED, 3, 8e6, 4e6, 12e6},
        {"never warm", HEADLINE_WARM, "warm", WAY_FOREIGN, HEADLINE_NOT_MEASURED, 0, 0, 0, 0},
        {"warm", HEADLINE_WARM, "warm", WAY_OFFSET, HEADLINE_MEASURED, 3, 20000, 10000, 30000},
    };
    struct world w;
    make_world(&w);
    compute(&w, CASES);
    CHECK_EQ(w.headline.cases, 3);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        const struct headline_cell *cell = cell_of(&w, rows[i].group, rows[i].key, rows[i].way);
        CHECK_EQ(cell->state, rows[i].state);
        CHECK_EQ(cell->measured.n, rows[i].count);
        if (rows[i].state != HEADLINE_MEASURED) {
            CHECK(isnan(cell->measured.value));
            continue;
        }
        CHECK(is_near(cell->measured.value, rows[i].median));
        CHECK(is_near(cell->measured.least, rows[i].least));
        CHECK(is_near(cell->measured.most, rows[i].most));
    }
    arena_free(&w.keep);
}

TEST(parts_add_up_to_the_whole)
{
    static const struct {
        const char *name;
        uint32_t cases;
        enum case_way way;
        double whole, left_over;
    } rows[] = {
        {"one case", 1, WAY_DUMP, 90000, 5000},
        {"two cases", 2, WAY_DUMP, 135000, 7500},
        {"three cases", 3, WAY_DUMP, 180000, 10000},
        {"offsets", 3, WAY_OFFSET, 20000, 6000},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct world w;
        double sum = 0;
        test_row(rows[i].name);
        make_world(&w);
        compute(&w, rows[i].cases);
        for (int r = 0; r < HEADLINE_ROWS; r++) {
            const struct headline_cell *cell = &w.headline.rows[r].cells[rows[i].way];
            if (w.headline.rows[r].part && cell->state == HEADLINE_MEASURED)
                sum += cell->measured.value;
        }
        CHECK(is_near(cell_of(&w, HEADLINE_WARM, "warm", rows[i].way)->measured.value,
                      rows[i].whole));
        CHECK(is_near(sum, rows[i].whole));
        CHECK(is_near(cell_of(&w, HEADLINE_WARM, "left_over", rows[i].way)->measured.value,
                      rows[i].left_over));
        arena_free(&w.keep);
    }
}

TEST(a_whole_without_parts_has_nothing_left_over)
{
    struct world w;
    make_world(&w);
    for (int i = 0; i < CASES; i++)
        w.claims[i][0].cost = (struct engine_cost){.total_ns = 10000};
    compute(&w, CASES);
    CHECK_EQ(cell_of(&w, HEADLINE_WARM, "warm", WAY_OFFSET)->state, HEADLINE_MEASURED);
    CHECK_EQ(cell_of(&w, HEADLINE_WARM, "left_over", WAY_OFFSET)->state, HEADLINE_NOT_MEASURED);
    CHECK_EQ(cell_of(&w, HEADLINE_COLD, "cold", WAY_OFFSET)->state, HEADLINE_NOT_MEASURED);
    arena_free(&w.keep);
}

TEST(one_sentence_names_what_dominates)
{
    static const struct {
        const char *name;
        uint64_t dump_write_ns, record_write_ns;
        const char *says, *platform;
        uint32_t fewer;
    } rows[] = {
        {"write", 1000000000, 95000,
         "Writing the dump is 99.9 % of its cost: 10000 times walk and record of offsets.",
         "Windows 11 24H2", 0},
        {"write, by Wine", 1000000000, 95000,
         "Writing the dump (by Wine) is 99.9 % of its cost: 10000 times walk and record of "
         "offsets.",
         NULL, 0},
        {"no record written", 1000000000, 0, "Writing the dump (by Wine) is 99.9 % of its cost.",
         NULL, 0},
        {"back end", 100000, 95000, "The back end is 75.0 % of the cost of a dump.", NULL, 0},
        {"no dump written", 0, 95000, NULL, NULL, 0},
        {"too few", 1000000000, 95000, NULL, NULL, 1},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct world w;
        struct run_case cases[MEASUREMENT_LEAST];
        test_row(rows[i].name);
        make_world(&w);
        if (rows[i].platform != NULL)
            w.run.platform = rows[i].platform;
        w.cases[0].timing.dump_write_ns = rows[i].dump_write_ns;
        w.cases[0].timing.record_write_ns = rows[i].record_write_ns;
        for (uint32_t k = 0; k < MEASUREMENT_LEAST; k++) {
            cases[k] = w.cases[0];
            cases[k].repeat = k;
        }
        compute_of(&w, cases, MEASUREMENT_LEAST - rows[i].fewer);
        CHECK((w.headline.dominates == NULL) == (rows[i].says == NULL));
        if (rows[i].says != NULL && w.headline.dominates != NULL)
            CHECK_STR(w.headline.dominates, rows[i].says);
        arena_free(&w.keep);
    }
}

/* Way W of case K costs (K + 1) * (W + 1) units; the parts leave 4 of 64 units over. */
static void add_ways(struct world *w, struct way_cost ways[CASES][WAY_COUNT])
{
    for (uint64_t i = 0; i < CASES; i++) {
        for (uint64_t way = 0; way < WAY_COUNT; way++) {
            const uint64_t unit = (i + 1) * (way + 1) * 1000;
            const struct way_parts warm = {64 * unit, 10 * unit, 20 * unit, 10 * unit,
                                           20 * unit, 32 * unit, 64 * unit, 65 * unit};
            struct way_parts cold = warm;
            cold.whole_ns = 128 * unit;
            cold.load_ns = 74 * unit;
            cold.own_ns = 96 * unit;
            ways[i][way] = (struct way_cost){.cold = cold, .warm = warm, .frames = 4, .same = 1};
        }
        w->cases[i].ways = ways[i];
        w->cases[i].timing.dump_tuned_ns = 1000 * (i + 1);
        w->cases[i].timing.stop_tuned_ns = 2000 * (i + 1);
        w->cases[i].timing.dump_tuned_bytes = i > 0 ? 30000 : 0;
    }
}

TEST(every_way_has_its_times_with_and_without_system_modules)
{
    static const struct {
        const char *name;
        enum headline_group group;
        const char *key;
        enum case_way way;
        size_t count;
        double median;
    } rows[] = {
        {"tuned, cold", HEADLINE_COLD, "cold", WAY_TUNED, 3, 128000 * 2 * 3},
        {"tuned, no system", HEADLINE_COLD, "cold_own", WAY_TUNED, 3, 96000 * 2 * 3},
        {"tuned, stopped", HEADLINE_DYING, "stopped", WAY_TUNED, 3, 4000},
        {"tuned, written", HEADLINE_DYING, "write", WAY_TUNED, 3, 2000},
        {"not every case has a tuned dump", HEADLINE_DYING, "bytes", WAY_TUNED, 3, 30000},
        {"offsets, warm", HEADLINE_WARM, "warm", WAY_OFFSET, 3, 64000 * 2 * 4},
        {"offsets, no system", HEADLINE_WARM, "warm_own", WAY_OFFSET, 3, 32000 * 2 * 4},
        {"foreign: one has other frames", HEADLINE_COLD, "cold", WAY_FOREIGN, 2, 128000 * 2},
        {"a cold part", HEADLINE_COLD, "cold_load", WAY_DUMP, 3, 74000 * 2 * 2},
        {"cold left over", HEADLINE_COLD, "cold_left_over", WAY_DUMP, 3, 4000 * 2 * 2},
        {"warm left over", HEADLINE_WARM, "left_over", WAY_DUMP, 3, 4000 * 2 * 2},
    };
    struct way_cost ways[CASES][WAY_COUNT];
    struct world w;
    make_world(&w);
    add_ways(&w, ways);
    ways[1][WAY_FOREIGN].same = 0;
    compute(&w, CASES);
    CHECK_EQ(w.headline.cases, 3);
    CHECK_STR(w.headline.counts, "2 cold, 2 warm; tuned (no system data): 3 of 4");
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        const struct headline_cell *cell = cell_of(&w, rows[i].group, rows[i].key, rows[i].way);
        CHECK_EQ(cell->state, HEADLINE_MEASURED);
        CHECK_EQ(cell->measured.n, rows[i].count);
        CHECK(is_near(cell->measured.value, rows[i].median));
    }
    arena_free(&w.keep);
}

TEST(a_case_counts_only_where_both_engines_have_the_same_frames)
{
    struct way_cost ways[CASES][WAY_COUNT];
    struct world w;
    make_world(&w);
    add_ways(&w, ways);
    ways[0][WAY_DUMP].same = 0;
    ways[1][WAY_OFFSET].same = 0;
    compute(&w, CASES);
    CHECK_EQ(w.headline.cases, 1);
    CHECK_EQ(cell_of(&w, HEADLINE_COLD, "cold", WAY_TUNED)->measured.n, 1);
    CHECK_EQ(cell_of(&w, HEADLINE_COLD, "cold", WAY_FOREIGN)->measured.n, 1);
    arena_free(&w.keep);
}

TEST(the_numbers_of_large_runs_leave_memory_and_stay_the_same)
{
    enum { COUNT = 3 * SAMPLE_CHUNK + 17 };
    static uint64_t column[COUNT];
    struct sample_set set;
    struct fault fault = FAULT_INIT;
    sample_set_init(&set, SAMPLE_WORDS);
    for (uint32_t i = 0; i < COUNT; i++) {
        struct figure_sample sample = {.timing.walk_ns = i + 1};
        sample.ways[WAY_OFFSET].same = 7 * (uint64_t)i;
        sample.timing.dump_bytes = i / SAMPLE_CHUNK == 1 ? i : 0; /* of one chunk alone */
        REQUIRE(sample_set_add(&set, &sample, &fault) == ERR_NONE);
    }
    CHECK_EQ(set.count, COUNT);
    CHECK(set.row_count <= SAMPLE_CHUNK);
    const int last =
        (int)(offsetof(struct figure_sample, ways) + (WAY_OFFSET * sizeof(struct way_cost)) +
              offsetof(struct way_cost, same));
    REQUIRE(sample_set_column(&set, SAMPLE_TIMING(walk_ns), column, &fault) == ERR_NONE);
    for (uint32_t i = 0; i < COUNT; i++)
        CHECK_EQ(column[i], i + 1);
    REQUIRE(sample_set_column(&set, SAMPLE_TIMING(dump_bytes), column, &fault) == ERR_NONE);
    for (uint32_t i = 0; i < COUNT; i++)
        CHECK_EQ(column[i], i / SAMPLE_CHUNK == 1 ? i : 0);
    REQUIRE(sample_set_column(&set, SAMPLE_TIMING(record_bytes), column, &fault) == ERR_NONE);
    for (uint32_t i = 0; i < COUNT; i++)
        CHECK_EQ(column[i], 0);
    for (uint32_t i = 0; i < COUNT; i += 1021) {
        uint64_t number = 0;
        REQUIRE(sample_set_number(&set, i, last, &number, &fault) == ERR_NONE);
        CHECK_EQ(number, 7 * (uint64_t)i);
    }
    sample_set_free(&set);
}

/* Units and scenarios are hashes, of which one may be 0. */
TEST(different_numbers_are_counted_in_any_order)
{
    enum { MOST = 5000 };
    static const struct {
        const char *name;
        uint64_t first, step, turn; /* first + step * (i % turn) */
        size_t count, want;
    } rows[] = {
        {"none", 1, 1, 1, 0, 0},
        {"one", 9, 1, 1, 1, 1},
        {"the same", UINT64_MAX, 0, 1, MOST, 1},
        {"0 alone", 0, 0, 1, 3, 1},
        {"0 among others", 0, 1, 3, 7, 3},
        {"all different", 5, 1, MOST, MOST, MOST},
        {"alike in their low bits", 1, UINT64_C(1) << 40, 1000, MOST, 1000},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        uint64_t numbers[MOST];
        test_row(rows[i].name);
        for (size_t k = 0; k < rows[i].count; k++)
            numbers[k] = rows[i].first + rows[i].step * (k % rows[i].turn);
        CHECK_EQ(sample_distinct(numbers, rows[i].count), rows[i].want);
    }
}

/* The made cases but the last one 8 times, and the last one, of SCENARIOS in turn; only the first 5
 * times have a foreign library. */
static uint32_t make_many(struct world *w, struct run_case *many, uint32_t scenarios)
{
    uint32_t count = 0;
    for (int n = 0; n < 8; n++)
        for (int i = 0; i < CASES - 1; i++) {
            many[count] = w->cases[i];
            many[count].variant = arena_printf(&w->keep, "ob%d%d", n, i);
            many[count].scenario = arena_printf(&w->keep, "s%u", count % scenarios);
            many[count].claim_count -= n >= 5;
            many[count++].result.score_count -= n >= 5;
        }
    many[count++] = w->cases[CASES - 1];
    return count;
}

static const char many_text[] =
    "SPEED: dumps by Wine, not Windows; foreign: dbghelp (linux x86-64, wine 8.0)\n"
    "medians (cases)        dump, dbghelp    dump, ours   dump, tuned       offsets\n"
    "stack walk (24)                    –             –             –       10.0 µs\n"
    "process stopped (0)     not measured  not measured  not measured  not measured\n"
    "file written (24)             2.00 s        2.00 s  not measured        190 µs\n"
    "size of the file (25)         120 KB        120 KB  not measured       4.10 KB\n"
    "back end, cold (24)     8.00 ms (15)        600 µs  not measured        100 µs\n"
    "back end, warm (24)     not measured        180 µs  not measured       20.0 µs\n"
    "Writing the dump (by Wine) is 99.9 % of its cost: 10000 times walk and record of offsets.\n"
    "In the back end offsets are faster, a dump takes 6.0 to 6.0 times as long (95 %, no control)\n"
    "dump : offsets 6.0× [6.0, 6.0], 24 cases, no control (x64, index on disk; of this run)\n"
    "no control: no bench of this commit says how much of it is noise; `twinstack bench` measures "
    "it\n"
    "ratio [95 %] (cases)                  no index     index, new process                warm\n"
    "x64 offsets, time                 not measured            100 µs (24)        20.0 µs (24)\n"
    "x64 plain dump : offsets          not measured    6.0 [6.0, 6.0] (24) 9.0 [9.0, 9.0] (24)\n"
    "x64 plain dump, dbghelp : offsets not measured 80.0 [80.0, 80.0] (15)        not measured\n";

static const char time_line_text[] =
    "back end, warm (24)      128 µs (15)        256 µs        384 µs        512 µs\n"
    "one crash, 20 Mbit/s stack walk written  upload opening walking loading  naming    rest all "
    "of "
    "it\n"
    "plain dump                    –  2.00 s 12.0 ms 40.0 µs 80.0 µs  296 µs 80.0 µs 16.0 µs    "
    "2.01 s\n"
    "offsets                 10.0 µs  190 µs  800 µs 80.0 µs  160 µs  592 µs  160 µs 32.0 µs   "
    "2.02 "
    "ms\n"
    "! the same way in other rounds took another time: no ratio to rely on\n"
    "dump : offsets 0.50× [0.50, 0.50] !, 24 cases, no control (x64, index on disk; of this run)\n"
    "no control: no bench of this commit says how much of it is noise; `twinstack bench` measures "
    "it\n"
    "ratio [95";

static const char few_text[] =
    "SPEED: dumps by Wine, not Windows; foreign: dbghelp (linux x86-64, wine 8.0)\n"
    "medians (cases)        dump, dbghelp    dump, ours   dump, tuned       offsets\n"
    "stack walk (3)                     –             –             –   too few (3)\n"
    "process stopped (0)     not measured  not measured  not measured  not measured\n"
    "file written (3)         too few (3)   too few (3)  not measured   too few (3)\n"
    "size of the file (4)     too few (4)   too few (4)  not measured   too few (4)\n"
    "back end, cold (3)       too few (3)   too few (3)  not measured   too few (3)\n"
    "back end, warm (3)      not measured   too few (3)  not measured   too few (3)\n"
    "no ratios of x64: too few (3)\n";

static const char alone_text[] = "\nSPEED: dumps by Wine, not Windows\nmedians (cases) ";
static const char tuned_text[] =
    "\nSPEED: dumps by Wine, not Windows; tuned: no system data\nmedians (cases) ";

static const char builds_text[] = "\nno ratios of x64: few scenarios (11)\n";

static void check_table(struct world *w, const char *wanted)
{
    char text[16384];
    const struct report_style style = {.columns = 100, .details = false};
    FILE *out = tmpfile();
    REQUIRE(out != NULL);
    REQUIRE(report_text(&w->figures, &style, &w->keep, out, &w->fault) == ERR_NONE);
    rewind(out);
    text[fread(text, 1, sizeof text - 1, out)] = 0;
    (void)fclose(out);
    CHECK_HAS(text, wanted);
}

TEST(the_terminal_shows_the_table_and_no_figure_of_too_few_cases)
{
    struct run_case many[8 * CASES];
    struct way_cost ways[CASES][WAY_COUNT];
    struct world w;
    make_world(&w);
    compute(&w, CASES);
    test_row("too few");
    check_table(&w, few_text);
    for (int i = 0; i < CASES; i++)
        w.cases[i].claim_count = w.cases[i].result.score_count = 2;
    compute(&w, CASES);
    test_row("no foreign library, no tuned dump: no note about them");
    check_table(&w, alone_text);
    w.cases[0].timing.dump_tuned_bytes = 4096;
    compute(&w, CASES);
    test_row("one tuned dump");
    check_table(&w, tuned_text);
    arena_free(&w.keep);
    make_world(&w);
    test_row("a lane that was measured in fewer cases than the row");
    uint32_t count = make_many(&w, many, 24);
    REQUIRE(figures_prepare(&w.run, many, count, &w.keep, &w.figures, &w.fault) == ERR_NONE);
    check_table(&w, many_text);
    test_row("every step of both ways");
    add_ways(&w, ways);
    count = make_many(&w, many, 24);
    REQUIRE(figures_prepare(&w.run, many, count, &w.keep, &w.figures, &w.fault) == ERR_NONE);
    check_table(&w, time_line_text);
    test_row("many builds of few scenarios");
    count = make_many(&w, many, 11);
    REQUIRE(figures_prepare(&w.run, many, count, &w.keep, &w.figures, &w.fault) == ERR_NONE);
    check_table(&w, builds_text);
    arena_free(&w.keep);
}
