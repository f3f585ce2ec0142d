/* Two runs compared. */
#include <string.h>

#include "compare/run_diff.h"
#include "make_run.h"
#include "test.h"

TEST(two_runs_environment_first)
{
    struct arena keep;
    struct run_info a, b;
    struct run_case x[MADE_CASES + 2], y[MADE_CASES + 1];
    struct run_diff diff;
    struct fault fault = FAULT_INIT;
    arena_init(&keep, 0);
    make_run(&keep, &a, x);
    make_run(&keep, &b, y);
    b.compiler = "clang 20.0.0";
    y[0].result.verdict = VERDICT_FAIL; /* new   */
    y[2].result.verdict = VERDICT_PASS; /* fixed */
    y[5].scenario = "renamed";          /* gone and added */
    x[6] = x[1];                        /* a repeat that the other run lacks is neither */
    x[6].repeat = 1;
    x[7] = x[6]; /* an accepted failure is not fixed */
    x[7].scenario = "accepted";
    x[7].result.verdict = VERDICT_FAIL;
    y[6] = x[7];
    y[6].result.verdict = VERDICT_XFAIL;
    y[1].result.scores[0].state = STACK_BLOCKED; /* the time of a failed stack is not compared */
    struct diff_side before, now;
    REQUIRE(diff_side_of(&a, x, MADE_CASES + 2, &keep, &before, &fault) == ERR_NONE);
    REQUIRE(diff_side_of(&b, y, MADE_CASES + 1, &keep, &now, &fault) == ERR_NONE);
    REQUIRE(run_diff_make(&before, &now, NULL, &keep, &diff, &fault) == ERR_NONE);
    CHECK_EQ(diff.counts[DIFF_ACCEPTED], 1);
    CHECK_EQ(diff.fact_count, 1);
    CHECK_STR(diff.facts[0].name, "compiler");
    CHECK_STR(diff.facts[0].b, "clang 20.0.0");
    CHECK_EQ(diff.counts[DIFF_NEW], 1);
    CHECK_EQ(diff.counts[DIFF_FIXED], 1);
    CHECK_EQ(diff.counts[DIFF_GONE], 1);
    CHECK_EQ(diff.counts[DIFF_ADDED], 1);
    CHECK_EQ(diff.counts[DIFF_STILL], 1); /* the case with ERROR */
    CHECK_EQ(diff.counts[DIFF_SAME], 2);
    REQUIRE(diff.time_count > 0);
    CHECK_EQ(diff.times[0].cases, 3); /* only stacks that both runs have */
    CHECK_NEAR(diff.times[0].ratio, 1, 1e-9);
    CHECK_STR(change_name(diff.times[0].change.change), "too_few");
    arena_free(&keep);
}

/* A case that runs more often than before is new only if none of its repeats failed. */
TEST(more_repeats_of_a_failing_case_are_not_new)
{
    static const struct {
        const char *name, *before, *now; /* a verdict for each repeat: passes, fails */
        uint32_t is_new, still;
    } rows[] = {
        {"it failed", "f", "fff", 0, 1},
        {"one of its repeats failed", "pf", "pff", 0, 1},
        {"it passed", "p", "pff", 1, 0},
        {"it was not there", "", "ff", 1, 0},
    };
    enum { REPEATS = 4 };
    for (size_t r = 0; r < COUNT_OF(rows); r++) {
        const struct run_info run = {.platform = "x"};
        struct diff_case cases[2][REPEATS];
        struct diff_side sides[2];
        struct run_diff diff;
        struct arena keep;
        struct fault fault = FAULT_INIT;
        const char *const verdicts[2] = {rows[r].before, rows[r].now};
        arena_init(&keep, 0);
        for (int k = 0; k < 2; k++) {
            sides[k] = (struct diff_side){
                .run = &run, .cases = cases[k], .count = (uint32_t)strlen(verdicts[k])};
            for (uint32_t i = 0; i < sides[k].count; i++)
                cases[k][i] = (struct diff_case){.scenario = "a",
                                                 .variant = "ob2",
                                                 .verdict = verdicts[k][i] == 'f' ? VERDICT_FAIL
                                                                                  : VERDICT_PASS,
                                                 .repeat = i};
        }
        REQUIRE(run_diff_make(&sides[0], &sides[1], NULL, &keep, &diff, &fault) == ERR_NONE);
        if (diff.counts[DIFF_NEW] != rows[r].is_new || diff.counts[DIFF_STILL] != rows[r].still)
            FAIL("%s: %u new, %u still", rows[r].name, diff.counts[DIFF_NEW],
                 diff.counts[DIFF_STILL]);
        arena_free(&keep);
    }
}

/* What a run says of its surroundings is a fact where it differs. Of the writers of dumps only
 * those of processors that both runs have are compared. */
TEST(a_fact_differs_where_both_runs_say_something_else)
{
    static const char x64[] = "dbgcore.amd64,1", newer[] = "dbgcore.amd64,2",
                      both[] = "dbgcore.amd64,1 and dbgcore.i386,1",
                      newer_x86[] = "dbgcore.amd64,1 and dbgcore.i386,2", x86[] = "dbgcore.i386,1",
                      two[] = "dbgcore.amd64,1 and dbgcore.amd64,2";
    static const struct {
        const char *name, *fact, *a, *b; /* NULL: it has none */
        bool differs;
    } rows[] = {
        {"the same writer", DIFF_FACT_WRITER, x64, x64, false},
        {"another version", DIFF_FACT_WRITER, x64, newer, true},
        {"a processor more", DIFF_FACT_WRITER, x64, both, false},
        {"a processor less", DIFF_FACT_WRITER, both, x64, false},
        {"two processors twice", DIFF_FACT_WRITER, both, both, false},
        {"another version of the second", DIFF_FACT_WRITER, both, newer_x86, true},
        {"a second version of its processor", DIFF_FACT_WRITER, x64, two, true},
        {"one of two versions", DIFF_FACT_WRITER, two, x64, true},
        {"no processor of both", DIFF_FACT_WRITER, x64, x86, false},
        {"a writer before", DIFF_FACT_WRITER, x64, NULL, true},
        {"a writer now", DIFF_FACT_WRITER, NULL, x64, true},
        {"another fact with such a text", "wine", x64, both, true},
        {"another fact, the other way", "wine", both, x64, true},
        {"another fact before", "wine", x64, NULL, true},
        {"another fact that is the same", "wine", both, both, false},
    };
    for (size_t i = 0; i < COUNT_OF(rows) * 2; i++) {
        const size_t row = i / 2;
        struct named_version of_a = {rows[row].fact, rows[row].a};
        struct named_version of_b = {rows[row].fact, rows[row].b};
        struct run_case x[MADE_CASES], y[MADE_CASES];
        struct diff_side before, now;
        struct run_info a, b;
        struct run_diff diff;
        struct fault fault = FAULT_INIT;
        struct arena keep;
        arena_init(&keep, 0);
        test_row(rows[row].name);
        make_run(&keep, &a, x);
        make_run(&keep, &b, y);
        a.tool_count = b.tool_count = a.environment_count = b.environment_count = 0;
        if (i % 2 == 0) {
            a.tools = &of_a;
            b.tools = &of_b;
            a.tool_count = rows[row].a != NULL;
            b.tool_count = rows[row].b != NULL;
        } else {
            a.environment = &of_a;
            b.environment = &of_b;
            a.environment_count = rows[row].a != NULL;
            b.environment_count = rows[row].b != NULL;
        }
        REQUIRE(diff_side_of(&a, x, MADE_CASES, &keep, &before, &fault) == ERR_NONE);
        REQUIRE(diff_side_of(&b, y, MADE_CASES, &keep, &now, &fault) == ERR_NONE);
        REQUIRE(run_diff_make(&before, &now, NULL, &keep, &diff, &fault) == ERR_NONE);
        if (CHECK_EQ(diff.fact_count, rows[row].differs) && rows[row].differs) {
            CHECK_STR(diff.facts[0].name, rows[row].fact);
            CHECK_STR(diff.facts[0].a, rows[row].a);
            CHECK_STR(diff.facts[0].b, rows[row].b);
        }
        arena_free(&keep);
    }
}
