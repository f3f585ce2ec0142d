/* study/figures: one pass over the cases of a run, wherever they are. */
#include <string.h>

#include "store_fixture.h"
#include "study/accuracy.h"
#include "study/figures.h"
#include "study/hooks.h"
#include "study/summary.h"

/* The worked example at the head of figures_read.c, in the order in which the verdicts were known.
 */
static const struct row {
    const char *name, *scenario, *variant;
    uint32_t repeat;
    enum verdict verdict;
    bool has_stack, exact, captured, stays;
} rows[] = {
    {"a repeat is no build", "a", "ob0", 1, VERDICT_PASS, true, true, true, false},
    {"it was not run", "b", "ob2", 0, VERDICT_UNSUPPORTED, false, false, false, true},
    {"it fails", "a", "ob2", 0, VERDICT_FAIL, true, false, false, true},
    {"it passes", "a", "ob0", 0, VERDICT_PASS, true, true, true, false},
    {"it deviates", "c", "ob2", 0, VERDICT_XFAIL, true, false, true, true},
};
enum { ROWS = COUNT_OF(rows), STAY = 3 };

struct world {
    struct store_fixture f;
    struct run_info run;
    struct run_case cases[ROWS];
    struct engine_claim claims[ROWS];
    struct engine_score scores[ROWS];
    struct finding findings[ROWS];
};

static void set_up(struct world *w)
{
    memset(w, 0, sizeof *w);
    store_set_up(&w->f);
    w->run = (struct run_info){.label = "run", .branch = "main", .started_ns = 1};
    REQUIRE(store_begin_run(w->f.store, &w->run, &w->f.keep, &w->f.fault) == ERR_NONE);
    for (uint32_t i = 0; i < ROWS; i++) {
        const struct row *row = &rows[i];
        w->claims[i] = (struct engine_claim){.engine = "dump", .subject = true};
        w->scores[i] = (struct engine_score){.engine = "dump",
                                             .kind = ENGINE_KIND_DUMP,
                                             .subject = true,
                                             .state = STACK_OK,
                                             .judged = true,
                                             .exact = row->exact,
                                             .frames = 3};
        w->findings[i] = (struct finding){
            .cause = CAUSE_LINE_TABLE, .engine = "dump", .against = FINDING_TRUTH, .fails = true};
        w->cases[i] =
            (struct run_case){.scenario = row->scenario,
                              .variant = row->variant,
                              .repeat = row->repeat,
                              .kind = CASE_KIND_CRASH,
                              .expected_hooks = HOOK_BIT(CASE_HOOK_UNHANDLED),
                              .got_hooks = row->captured ? HOOK_BIT(CASE_HOOK_UNHANDLED) : 0,
                              .timing = {.record_bytes = row->captured ? 9 : 0},
                              .claims = &w->claims[i],
                              .claim_count = row->has_stack,
                              .result = {.verdict = row->verdict,
                                         .reason = row->name,
                                         .right = "",
                                         .scores = &w->scores[i],
                                         .score_count = row->has_stack,
                                         .findings = &w->findings[i],
                                         .finding_count = row->verdict == VERDICT_FAIL}};
        REQUIRE(store_put_case(w->f.store, w->run.id, &w->cases[i], &w->f.fault) == ERR_NONE);
    }
    REQUIRE(store_finish_run(w->f.store, w->run.id, RUN_COMPLETE, 2, &w->f.fault) == ERR_NONE);
    w->run.state = RUN_COMPLETE;
}

static void check_figures(const struct run_figures *figures)
{
    CHECK_EQ(figures->total_cases, 5);
    CHECK_EQ(figures->verdicts[VERDICT_PASS], 2);
    REQUIRE(figures->engine_count == 1);
    CHECK_EQ(figures->engines[0].judged, 4);
    CHECK_EQ(figures->engines[0].exact, 2);
    CHECK_EQ(figures->captured, 3);
    CHECK_EQ(figures->captures_expected, 4);
    REQUIRE(figures->build_count == 3);
    CHECK_STR(figures->builds[0].scenario, "a");
    CHECK_EQ(figures->builds[0].builds, 2);
    CHECK_EQ(figures->builds[0].cases, 3);
    CHECK_EQ(figures->problem_count, 0);
    CHECK_EQ(figures->sums->findings, 1);
    CHECK_STR(figures->sums->causes[CAUSE_LINE_TABLE].where->variant, "ob2");
    CHECK_EQ(figures->hooks->row_count, 2);
    CHECK_EQ(figures->accuracy->scenarios, 0); /* no case has stacks of both ways */
    CHECK(figures->headline != NULL && figures->speed != NULL && figures->costs != NULL);
    CHECK(figures->timings != NULL);
}

TEST(a_run_has_the_same_figures_from_memory_and_from_the_database)
{
    struct world w;
    struct run_info info;
    struct run_figures figures;
    set_up(&w);
    test_row("memory");
    REQUIRE(figures_prepare(&w.run, w.cases, ROWS, &w.f.keep, &figures, &w.f.fault) == ERR_NONE);
    check_figures(&figures);
    CHECK_EQ(figures.case_count, ROWS);
    test_row("database");
    REQUIRE(figures_read(w.f.store, "latest", NULL, &w.f.keep, &info, &figures, &w.f.fault) ==
            ERR_NONE);
    check_figures(&figures);
    REQUIRE(figures.case_count == STAY);
    static const enum verdict stay[STAY] = {VERDICT_FAIL, VERDICT_UNSUPPORTED, VERDICT_XFAIL};
    for (uint32_t i = 0; i < STAY; i++) {
        const struct run_case *c = &figures.cases[i];
        test_row(c->result.reason);
        CHECK_EQ(c->result.verdict, stay[i]);
        CHECK_EQ(c->result.score_count, stay[i] != VERDICT_UNSUPPORTED);
        CHECK_EQ(c->result.finding_count, stay[i] == VERDICT_FAIL);
    }
    store_tear_down(&w.f);
}

TEST(a_head_has_engines_and_problems_and_no_figures)
{
    struct world w;
    struct run_info info;
    struct run_figures figures;
    set_up(&w);
    REQUIRE(figures_read_head(w.f.store, "latest", &w.f.keep, &info, &figures, &w.f.fault) ==
            ERR_NONE);
    CHECK_EQ(figures.engines[0].exact, 2);
    CHECK_EQ(figures.problem_count, 0);
    CHECK_EQ(figures.case_count, 0);
    CHECK(figures.headline == NULL && figures.hooks == NULL);
    store_tear_down(&w.f);
}

struct seen {
    char names[64];
};

static enum status look(void *context, const struct run_case *c, struct fault *fault)
{
    struct seen *seen = context;
    const size_t used = strlen(seen->names);
    (void)fault;
    (void)snprintf(seen->names + used, sizeof seen->names - used, "%s.%s ", c->scenario,
                   c->variant);
    return ERR_NONE;
}

/* In the order of cpu_order, but for what the cases have; a processor without anything is none. */
TEST(the_first_processor_is_the_one_that_both_ways_can_be_compared_on)
{
    enum { PAIR = 1, DUMP = 2, OFFSETS = 3, FILES = 4, NOTHING = 5 };
    static const struct {
        const char *name;
        int has[CPU_COUNT]; /* by enum cpu; 0: no case */
        uint32_t count;
        enum cpu of[CPU_COUNT];
    } mixes[] = {
        {"no case", {0}, 0, {CPU_UNKNOWN}},
        {"all alike",
         {[CPU_X86] = PAIR, [CPU_X64] = PAIR, [CPU_ARM64] = PAIR, [CPU_ARM] = PAIR},
         4,
         {CPU_X64, CPU_X86, CPU_ARM64, CPU_ARM}},
        {"x86 has dumps alone",
         {[CPU_X86] = DUMP, [CPU_X64] = PAIR, [CPU_ARM64] = PAIR},
         3,
         {CPU_X64, CPU_ARM64, CPU_X86}},
        {"no x64", {[CPU_X86] = DUMP, [CPU_ARM64] = PAIR}, 2, {CPU_ARM64, CPU_X86}},
        {"x64 without a stack that counts",
         {[CPU_X86] = DUMP, [CPU_X64] = OFFSETS},
         2,
         {CPU_X86, CPU_X64}},
        {"files alone", {[CPU_X64] = NOTHING, [CPU_ARM] = FILES}, 1, {CPU_ARM}},
    };
    for (size_t i = 0; i < COUNT_OF(mixes); i++) {
        struct processors got = {0};
        test_row(mixes[i].name);
        for (int arch = 0; arch < CPU_COUNT; arch++) {
            const int has = mixes[i].has[arch];
            struct figure_sample sample = {.unit = 0};
            struct run_case c = {.arch = (enum cpu)arch};
            sample.ways[WAY_DUMP].frames = has == PAIR || has == DUMP;
            sample.ways[WAY_OFFSET].frames = has == PAIR;
            c.timing.record_bytes = has != 0 && has != NOTHING;
            if (has == 0)
                continue;
            processors_add(&got, &c, &sample);
            c.timing.record_bytes = 0; /* one that has less changes nothing */
            processors_add(&got, &c, &(struct figure_sample){.unit = 0});
        }
        processors_end(&got);
        CHECK_EQ(got.count, mixes[i].count);
        for (int at = 0; at < CPU_COUNT; at++)
            CHECK_EQ(got.of[at], mixes[i].of[at]);
    }
}

TEST(who_watches_sees_each_case_in_the_order_of_the_run)
{
    struct world w;
    struct run_info info;
    struct run_figures figures;
    struct seen seen = {""};
    const struct figures_watch watch = {0, look, &seen};
    set_up(&w);
    REQUIRE(figures_read(w.f.store, "latest", &watch, &w.f.keep, &info, &figures, &w.f.fault) ==
            ERR_NONE);
    CHECK_STR(seen.names, "a.ob0 a.ob2 b.ob2 c.ob2 a.ob0 ");
    store_tear_down(&w.f);
}

/* Cases that are asked for in their order are read in batches: 1, 2 and the last 2. */
TEST(a_window_has_each_case_in_whatever_order_it_is_asked_for)
{
    static const char *const names[ROWS] = {"a.ob0", "a.ob2", "b.ob2", "c.ob2", "a.ob0"};
    static const struct {
        const char *name;
        unsigned parts;
        uint32_t order[ROWS];
    } asked[] = {
        {"in order", CASE_SCORES, {0, 1, 2, 3, 4}},
        {"backwards", CASE_SCORES | CASE_FINDINGS, {4, 3, 2, 1, 0}},
        {"every other", CASE_SCORES, {0, 2, 4, 1, 3}},
        {"in pairs", CASE_FINDINGS, {3, 4, 1, 2, 0}},
        {"each twice", CASE_SCORES, {2, 2, 3, 3, 2}},
        {"whole", CASE_STACKS, {0, 1, 2, 3, 4}},
    };
    struct world w;
    set_up(&w);
    const struct run_figures figures = {.run = &w.run, .store = w.f.store};
    for (size_t i = 0; i < COUNT_OF(asked); i++) {
        struct case_window window;
        test_row(asked[i].name);
        case_window_open(&window, &figures, asked[i].parts, &w.f.fault);
        REQUIRE(window.count == ROWS);
        for (uint32_t k = 0; k < ROWS; k++) {
            char name[16];
            const uint32_t at = asked[i].order[k];
            const struct run_case *c = case_window_get(&window, at, &w.f.fault);
            REQUIRE(c != NULL);
            (void)snprintf(name, sizeof name, "%s.%s", c->scenario, c->variant);
            CHECK_STR(name, names[at]);
            CHECK_EQ(c->repeat, at == 4);
            CHECK_EQ(c->result.score_count,
                     (asked[i].parts & CASE_FINDINGS) == asked[i].parts ? 0 : at != 2);
            CHECK_EQ(c->result.finding_count,
                     (asked[i].parts & CASE_SCORES) == asked[i].parts ? 0 : at == 1);
        }
        case_window_close(&window);
    }
    store_tear_down(&w.f);
}

struct apart_marks {
    uint32_t exact, apart;
};

static bool count_apart(void *context, const struct grid_rows *part)
{
    struct apart_marks *marks = context;
    for (uint32_t i = 0; i < part->count; i++)
        for (uint32_t k = 0; k < part->rows[i].cases[0]->result.score_count; k++) {
            const struct engine_score *s = &part->rows[i].cases[0]->result.scores[k];
            marks->exact += s->exact;
            marks->apart += s->exact && case_is_apart(part->rows[i].cases[0], s->engine);
        }
    return true;
}

/* Two findings against the truth decide the case; the third one alone says that the exact stack of
 * `dump` contradicts the other one where the truth is silent. */
TEST(a_case_is_apart_by_findings_that_decide_nothing)
{
    struct store_fixture f;
    struct run_info info;
    struct run_figures figures;
    struct grid_rows deviating;
    struct apart_marks kept = {0, 0}, all = {0, 0};
    struct run_info run = {.label = "run", .branch = "main", .started_ns = 1};
    struct engine_claim claims[] = {{.engine = "offset:rtl", .subject = true},
                                    {.engine = "dump", .subject = true}};
    struct engine_score scores[COUNT_OF(claims)] = {
        {.engine = "offset:rtl", .subject = true, .state = STACK_OK, .judged = true, .frames = 3},
        {.engine = "dump",
         .subject = true,
         .state = STACK_OK,
         .judged = true,
         .exact = true,
         .frames = 3}};
    struct finding findings[] = {
        {.cause = CAUSE_WRONG_STEP,
         .engine = "offset:rtl",
         .blame = BLAME_WALK,
         .blame_engine = "offset:rtl",
         .row = 1},
        {.cause = CAUSE_LINE_TABLE,
         .engine = "offset:rtl",
         .level = LEVEL_LINE,
         .blame = BLAME_SYMBOLS_SHARED,
         .row = 2},
        {.cause = CAUSE_UNEXPLAINED, .engine = "dump", .against = "offset:rtl", .row = 3}};
    for (size_t i = 0; i < COUNT_OF(findings); i++) {
        findings[i].fails = true;
        findings[i].against_truth = findings[i].against == NULL;
        findings[i].against = findings[i].against_truth ? FINDING_TRUTH : findings[i].against;
    }
    struct run_case c = {.scenario = "a",
                         .variant = "ob0",
                         .kind = CASE_KIND_CRASH,
                         .claims = claims,
                         .claim_count = COUNT_OF(claims),
                         .result = {.verdict = VERDICT_FAIL,
                                    .scores = scores,
                                    .score_count = COUNT_OF(scores),
                                    .findings = findings,
                                    .finding_count = COUNT_OF(findings)}};
    store_set_up(&f);
    REQUIRE(store_begin_run(f.store, &run, &f.keep, &f.fault) == ERR_NONE);
    REQUIRE(store_put_case(f.store, run.id, &c, &f.fault) == ERR_NONE);
    REQUIRE(store_finish_run(f.store, run.id, RUN_COMPLETE, 2, &f.fault) == ERR_NONE);
    REQUIRE(figures_read(f.store, "latest", NULL, &f.keep, &info, &figures, &f.fault) == ERR_NONE);
    REQUIRE(figures.case_count == 1);
    CHECK_EQ(figures.cases[0].result.finding_count, 2);
    REQUIRE(summary_rows(&figures, false, &f.keep, &deviating, &f.fault) == ERR_NONE);
    CHECK(count_apart(&kept, &deviating));
    REQUIRE(summary_each_rows(&figures, count_apart, &all, &f.fault) == ERR_NONE);
    CHECK_EQ(all.exact, 1);
    CHECK_EQ(all.apart, 1);
    CHECK_EQ(kept.exact, 1);
    CHECK_EQ(kept.apart, 1);
    CHECK(!case_is_apart(&figures.cases[0], "judge:x"));
    store_tear_down(&f);
}

/* Those that differ first, then by the hooks that saw them, then by name; no hook at last. */
TEST(rows_of_hooks_have_one_order)
{
    enum { V = HOOK_BIT(CASE_HOOK_VECTORED), U = HOOK_BIT(CASE_HOOK_UNHANDLED) };
    static const struct run_case met[] = {
        {.scenario = "unseen", .variant = "ob2", .kind = CASE_KIND_CRASH},
        {.scenario = "last", .variant = "ob2", .expected_hooks = U, .got_hooks = U},
        {.scenario = "lost", .variant = "ob2", .expected_hooks = V},
        {.scenario = "first", .variant = "ob2", .expected_hooks = V, .got_hooks = V},
        {.scenario = "lose", .variant = "ob2", .expected_hooks = V},
        {.scenario = "both", .variant = "ob2", .expected_hooks = V | U, .got_hooks = V | U},
        {.scenario = "more", .variant = "ob2", .got_hooks = V},
    };
    static const struct {
        const char *scenario;
        uint8_t marks[2];
    } want[] = {
        {"more", {HOOK_EXTRA, HOOK_NONE}},  {"lose", {HOOK_MISSED, HOOK_NONE}},
        {"lost", {HOOK_MISSED, HOOK_NONE}}, {"both", {HOOK_KEPT, HOOK_KEPT}},
        {"first", {HOOK_KEPT, HOOK_NONE}},  {"last", {HOOK_NONE, HOOK_KEPT}},
        {"unseen", {HOOK_NONE, HOOK_NONE}},
    };
    struct fault fault = FAULT_INIT;
    struct hook_count count;
    struct hook_matrix m;
    struct arena keep;
    arena_init(&keep, 0);
    hook_count_begin(&count, false, &keep, &m);
    for (size_t i = 0; i < COUNT_OF(met); i++)
        REQUIRE(hook_count_add(&count, &met[i], &fault) == ERR_NONE);
    hook_count_end(&count);
    REQUIRE(m.hook_count == 2 && m.row_count == COUNT_OF(want));
    CHECK(m.hooks[0].expected == 4 && m.hooks[0].seen == 3);
    CHECK(m.hooks[1].expected == 2 && m.hooks[1].seen == 2);
    for (size_t i = 0; i < COUNT_OF(want); i++) {
        test_row(want[i].scenario);
        CHECK_STR(m.rows[i].first->scenario, want[i].scenario);
        CHECK_MEM(m.rows[i].marks, want[i].marks, 2);
        CHECK_EQ(m.rows[i].differs, i < 3);
    }
    arena_free(&keep);
}
