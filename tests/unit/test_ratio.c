/* The one ratio of dump to offsets: its words, and which bench counts for which run. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "study/ratio.h"
#include "test.h"

TEST(the_one_ratio_says_how_sure_it_is)
{
    static const struct {
        const char *name;
        struct dump_ratio ratio;
        const char *text, *about;
    } rows[] = {
        {"of a bench",
         {RATIO_OF_BENCH, 9, CPU_X64, SPEED_INDEX, 13, 12, {7.04, 8.71, 9.36}, 0.141},
         "8.7× [7.0, 9.4], noise 14 %, 13 cases",
         "x64, index on disk; bench, run 9"},
        {"of a bench that measured no new process",
         {RATIO_OF_BENCH, 9, CPU_X86, SPEED_WARM, 700, 90, {99.6, 101.4, 120}, 0.004},
         "101× [100, 120], noise 0 %, 700 cases",
         "x86, symbols loaded; bench, run 9"},
        {"of one case",
         {RATIO_OF_BENCH, 9, CPU_X64, SPEED_WARM, 1, 1, {NAN, 3, NAN}, 0.02},
         "3.0×, no interval, noise 2 %, 1 case",
         "x64, symbols loaded; bench, run 9"},
        {"of an older bench",
         {RATIO_OF_BENCH, 9, CPU_UNKNOWN, SPEED_WARM, 0, 0, {NAN, 13, NAN}, 0.02},
         "13.0×, no interval, noise 2 %",
         "all processors at once, symbols loaded; bench, run 9"},
        {"of a run, near 1",
         {RATIO_OF_RUN, 7, CPU_X64, SPEED_INDEX, 506, 60, {0.981, 1.049, 1.12}, NAN},
         "1.05× [0.98, 1.12], 506 cases, no control",
         "x64, index on disk; of this run"},
        {"of few cases",
         {RATIO_NOT_MEASURED, 7, CPU_X64, SPEED_INDEX, 3, 3, {NAN, NAN, NAN}, NAN},
         "too few (3)",
         "neither by this run nor by a bench of its commit"},
        {"of few scenarios",
         {RATIO_NOT_MEASURED, 7, CPU_X64, SPEED_INDEX, 40, 11, {NAN, NAN, NAN}, NAN},
         "few scenarios (11)",
         "neither by this run nor by a bench of its commit"},
        {"of none",
         {RATIO_NOT_MEASURED, 0, CPU_UNKNOWN, SPEED_INDEX, 0, 0, {NAN, NAN, NAN}, NAN},
         "not measured",
         "neither by this run nor by a bench of its commit"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char text[RATIO_TEXT];
        test_row(rows[i].name);
        CHECK_STR(ratio_text(&rows[i].ratio, text), rows[i].text);
        CHECK_STR(ratio_about(&rows[i].ratio, text), rows[i].about);
    }
}

TEST(a_bench_counts_for_runs_of_its_commit_machine_and_victims)
{
    static const struct run_info run = {.id = 3,
                                        .label = "run",
                                        .state = RUN_COMPLETE,
                                        .commit = "c",
                                        .platform = "p",
                                        .cpu = "u",
                                        .compiler = "l",
                                        .flags = "f"};
    static const struct {
        const char *name;
        size_t field; /* of the bench, which is another one; 0: none */
        const char *value;
        enum run_state state;
        bool is_beside;
    } rows[] = {
        {"the same", 0, NULL, RUN_COMPLETE, true},
        {"one that is not complete", 0, NULL, RUN_INTERRUPTED, false},
        {"another commit", offsetof(struct run_info, commit), "d", RUN_COMPLETE, false},
        {"an unknown commit", offsetof(struct run_info, commit), NULL, RUN_COMPLETE, false},
        {"another system", offsetof(struct run_info, platform), "q", RUN_COMPLETE, false},
        {"another processor", offsetof(struct run_info, cpu), "v", RUN_COMPLETE, false},
        {"another compiler", offsetof(struct run_info, compiler), "m", RUN_COMPLETE, false},
        {"other flags", offsetof(struct run_info, flags), "g", RUN_COMPLETE, false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct run_info bench = run, unknown = run;
        test_row(rows[i].name);
        bench.id = 9;
        bench.label = "bench";
        bench.state = rows[i].state;
        if (rows[i].field != 0)
            memcpy((char *)&bench + rows[i].field, &rows[i].value, sizeof rows[i].value);
        CHECK_EQ(ratio_bench_of(&run, &bench, 1) == &bench, rows[i].is_beside);
        CHECK(ratio_bench_of(&bench, NULL, 0) == &bench); /* its own */
        unknown.commit = bench.commit = NULL;
        CHECK(ratio_bench_of(&unknown, &bench, 1) == NULL);
    }
}
