/* Which way is faster: the interval of a ratio, and the table of lanes and states, with invented
 * times and known answers. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "compare/bootstrap.h"
#include "random.h"
#include "study/speed.h"
#include "test.h"

static double uniform(uint64_t *state)
{
    return (double)(next_random(state) >> 11) * 0x1p-53;
}

/* Normal, by the sum of twelve. */
static double normal(uint64_t *state)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += uniform(state);
    return sum;
}

enum { GROUPS_MOST = 60 };

/* Scenarios whose times of both ways are log-normal around 3 and 1, in REPEATS (or builds) that
 * differ little. */
static size_t draw_pairs(struct ratio_pair *pairs, size_t groups, size_t repeats, uint64_t *state)
{
    for (size_t u = 0; u < groups; u++) {
        const double a = 3 * exp(0.6 * normal(state)), b = exp(0.6 * normal(state));
        for (size_t r = 0; r < repeats; r++)
            pairs[u * repeats + r] = (struct ratio_pair){.a = a * exp(0.01 * normal(state)),
                                                         .b = b * exp(0.01 * normal(state)),
                                                         .stratum = u % 2,
                                                         .group = u};
    }
    return groups * repeats;
}

TEST(the_interval_of_a_ratio_has_known_answers)
{
    static const struct {
        const char *name;
        size_t count;
        struct ratio_pair pairs[4];
        size_t groups;
        double value, low, high;
    } rows[] = {
        {"nothing", 0, {{0, 0, 0, 0}}, 0, NAN, NAN, NAN},
        {"one case has no interval", 1, {{6, 2, 0, 1}}, 1, 3, NAN, NAN},
        {"builds of one scenario have none",
         3,
         {{6, 2, 0, 1}, {8, 2, 0, 1}, {9, 3, 0, 1}},
         1,
         4,
         NAN,
         NAN},
        {"the same in each", 3, {{6, 2, 0, 1}, {6, 2, 0, 2}, {6, 2, 0, 3}}, 3, 3, 3, 3},
        {"the median of an even number", 2, {{2, 1, 0, 1}, {4, 1, 0, 2}}, 2, 3, 2, 4},
        {"a kind with one case keeps it", 2, {{2, 1, 0, 1}, {4, 1, 1, 2}}, 2, 3, 3, 3},
        {"a group has one stratum", 2, {{2, 1, 0, 1}, {4, 1, 1, 1}}, 2, 3, 3, 3},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct ratio_pair pairs[4];
        memcpy(pairs, rows[i].pairs, sizeof pairs);
        test_row(rows[i].name);
        CHECK_EQ(ratio_pairs_sort(pairs, rows[i].count), rows[i].groups);
        const struct interval got = ratio_pairs_bootstrap(pairs, rows[i].count);
        const double want[] = {rows[i].value, rows[i].low, rows[i].high};
        const double have[] = {got.value, got.low, got.high};
        for (int k = 0; k < 3; k++)
            CHECK(isnan(want[k]) ? isnan(have[k]) : fabs(have[k] - want[k]) < 1e-12);
    }
}

/* Of 200 selections of cases, the interval holds the ratio of all cases (3), and the wider one the
 * ratio of another selection, in 95 of 100, and in no fewer if each has ten builds and repeats,
 * which are no cases of their own. */
TEST(the_interval_holds_what_other_cases_would_give)
{
    static const struct {
        const char *name;
        size_t groups, repeats;
    } rows[] = {{"12 cases", 12, 1}, {"60 cases", 60, 1}, {"12 cases, 10 times", 12, 10}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        enum { SELECTIONS = 200 };
        struct ratio_pair pairs[GROUPS_MOST * 2];
        uint64_t state = 88172645463325252u + i;
        struct interval before = {0, NAN, 0};
        int held = 0, held_another = 0;
        test_row(rows[i].name);
        for (int s = 0; s < SELECTIONS; s++) {
            const size_t count = draw_pairs(pairs, rows[i].groups, rows[i].repeats, &state);
            CHECK_EQ(ratio_pairs_sort(pairs, count), rows[i].groups);
            const struct interval got = ratio_pairs_bootstrap(pairs, count);
            held += got.low <= 3 && 3 <= got.high;
            held_another += before.low <= got.value && got.value <= before.high;
            before = ratio_of_another(got);
        }
        CHECK(held >= SELECTIONS * 90 / 100 && held <= SELECTIONS * 995 / 1000);
        CHECK(held_another >= SELECTIONS * 90 / 100 && held_another <= SELECTIONS * 995 / 1000);
    }
}

/* ---- the table ------------------------------------------------------------------------ */

enum { CASES = 60 };

struct world {
    struct arena keep;
    struct run_info run;
    struct run_case cases[CASES];
    struct engine_claim claims[CASES][2];
    struct engine_score scores[CASES][2];
    struct way_cost ways[CASES][WAY_COUNT];
    struct run_figures figures;
};

static struct way_parts parts_of(uint64_t ns, uint64_t odd_percent)
{
    return (struct way_parts){.whole_ns = ns, .even_ns = ns, .odd_ns = ns * odd_percent / 100};
}

/* Two of three cases; of x86 four in all. */
static struct way_first first_of(uint32_t i, uint64_t ns)
{
    const struct way_first none = {0};
    return i % 3 != 0 && i < CASES / 2 + 6 ? (struct way_first){ns, ns, ns} : none;
}

/* 30 cases of x64, of which ten are there again as repeats, and 30 of x86. A dump costs 2 times the
 * offsets on x64, 20 times on x86; warm 5 times. Three cases have a tuned dump. On x86, the dump's
 * odd rounds take a tenth more. */
static void make_world(struct world *w)
{
    static const char *const names[2] = {ENGINE_NAME_OFFSET, ENGINE_NAME_DUMP};
    memset(w, 0, sizeof *w);
    arena_init(&w->keep, 0);
    w->run = (struct run_info){.state = RUN_COMPLETE, .platform = "Windows 11", .cpu = "EPYC"};
    for (uint32_t i = 0; i < CASES; i++) {
        struct run_case *c = &w->cases[i];
        const bool x86 = i >= CASES / 2;
        const uint64_t ns = 1000 * (uint64_t)(i % 10 + 1);
        c->scenario = arena_printf(&w->keep, "s%u", i < 30 ? i % 20 : i);
        c->repeat = i >= 20 && i < 30;
        c->variant = x86 ? "x86-ob2" : "ob2";
        c->arch = x86 ? CPU_X86 : CPU_X64;
        c->kind = CASE_KIND_CRASH;
        c->timing = (struct case_timing){.record_bytes = 1, .dump_bytes = 1};
        c->claims = w->claims[i];
        c->result.scores = w->scores[i];
        c->ways = w->ways[i];
        c->claim_count = c->result.score_count = 2;
        for (int e = 0; e < 2; e++) {
            c->claims[e] = (struct engine_claim){
                .engine = names[e], .subject = true, .cost.total_ns = 1, .version = "dbghelp 10.0"};
            c->result.scores[e] = (struct engine_score){
                .engine = names[e], .subject = true, .state = STACK_OK, .frames = 4};
        }
        c->ways[WAY_OFFSET] = (struct way_cost){.cold = parts_of(ns, 100),
                                                .warm = parts_of(ns / 2, 100),
                                                .first = first_of(i, ns * 100),
                                                .frames = 4,
                                                .same = 1};
        c->ways[WAY_DUMP] =
            (struct way_cost){.cold = parts_of(ns * (x86 ? 20 : 2), x86 ? 110 : 100),
                              .warm = parts_of(ns / 2 * 5, 100),
                              .first = first_of(i, ns * 150),
                              .frames = 4,
                              .same = 1};
        if (i < 3)
            c->ways[WAY_TUNED] = c->ways[WAY_DUMP];
    }
}

static const struct speed_cell *find(const struct speed *s, enum cpu arch, enum speed_lane lane,
                                     enum speed_state state)
{
    for (uint32_t r = 0; r < s->row_count; r++)
        if (s->rows[r].arch == arch && s->rows[r].lane == lane)
            return &s->rows[r].cells[state];
    return NULL;
}

TEST(each_lane_and_state_has_its_cases_of_one_processor)
{
    static const struct {
        const char *name;
        enum cpu arch;
        enum speed_lane lane;
        enum speed_state state;
        size_t cases, pairs;
        double ratio, median_ns;
        bool drifts;
    } rows[] = {
        {"x64", CPU_X64, SPEED_PLAIN, SPEED_INDEX, 20, 30, 2, 11000, false},
        {"x64, warm", CPU_X64, SPEED_PLAIN, SPEED_WARM, 20, 30, 5, 13750, false},
        {"x64, the offsets", CPU_X64, SPEED_OFFSET, SPEED_INDEX, 20, 30, NAN, 5500, false},
        {"x86 is apart, and drifts", CPU_X86, SPEED_PLAIN, SPEED_INDEX, 30, 30, 20, 110000, true},
        {"x86, warm", CPU_X86, SPEED_PLAIN, SPEED_WARM, 30, 30, 5, 13750, false},
        {"three cases have no figure", CPU_X64, SPEED_TUNED, SPEED_INDEX, 3, 3, NAN, NAN, false},
        {"no index, in some cases", CPU_X64, SPEED_PLAIN, SPEED_FIRST, 17, 20, 1.5, 825000, false},
        {"no index, in few", CPU_X86, SPEED_PLAIN, SPEED_FIRST, 4, 4, NAN, NAN, false},
    };
    struct world w;
    struct speed s;
    struct fault fault = FAULT_INIT;
    make_world(&w);
    REQUIRE(figures_prepare(&w.run, w.cases, CASES, &w.keep, &w.figures, &fault) == ERR_NONE);
    s = *w.figures.speed;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        const struct speed_cell *cell = find(&s, rows[i].arch, rows[i].lane, rows[i].state);
        REQUIRE(cell != NULL);
        CHECK_EQ(cell->cases, rows[i].cases);
        CHECK_EQ(cell->pairs, rows[i].pairs);
        CHECK_EQ(cell->drifts, rows[i].drifts);
        CHECK(isnan(rows[i].ratio) ? isnan(cell->ratio.value) && isnan(cell->ratio.low)
                                   : fabs(cell->ratio.value - rows[i].ratio) < 1e-9);
        CHECK(isnan(rows[i].median_ns) ? isnan(cell->median_ns)
                                       : fabs(cell->median_ns - rows[i].median_ns) < 1e-9);
    }
    CHECK(find(&s, CPU_X86, SPEED_TUNED, SPEED_INDEX) == NULL);
    CHECK(find(&s, CPU_X64, SPEED_FOREIGN, SPEED_INDEX) == NULL);
    CHECK(find(&s, CPU_ARM64, SPEED_OFFSET, SPEED_INDEX) == NULL);
    CHECK_EQ(s.rows[0].arch, CPU_X64);
    CHECK_STR(s.where, "Windows 11 · EPYC · dumps by dbghelp 10.0");
    arena_free(&w.keep);
}

TEST(a_figure_names_system_processor_and_writer)
{
    static const struct {
        const char *name, *platform, *cpu, *writer, *want;
    } rows[] = {
        {"Microsoft's writer for two processors", "Linux, wine-8.0", "EPYC",
         "dbgcore.amd64,10.0.29507.1001 and dbgcore.i386,10.0.29507.1001",
         "Linux, wine-8.0 · EPYC · dumps by dbgcore.amd64,10.0.29507.1001 and "
         "dbgcore.i386,10.0.29507.1001"},
        {"Wine names nothing", "Linux, wine-8.0", "EPYC", NULL,
         "Linux, wine-8.0 · EPYC · dumps by Wine, not Windows"},
        {"Microsoft's writer under Wine", "Linux, wine-8.0", "EPYC", "dbghelp 10.0",
         "Linux, wine-8.0 · EPYC · dumps by dbghelp 10.0"},
        {"nothing is known", NULL, NULL, NULL,
         "system not known · processor not known · dumps by an unnamed writer"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct run_info run = {.platform = rows[i].platform, .cpu = rows[i].cpu};
        const struct engine_total dump = {.engine = ENGINE_NAME_DUMP, .version = rows[i].writer};
        const struct run_figures figures = {.run = &run, .engines = &dump, .engine_count = 1};
        struct arena keep;
        arena_init(&keep, 0);
        test_row(rows[i].name);
        CHECK_STR(speed_where(&figures, &keep), rows[i].want);
        arena_free(&keep);
    }
}
