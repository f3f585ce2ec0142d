/* How a run ends that cannot store what it has judged: conduct/run_pipeline.c. */
#include "conduct/run_session.h"
#include "made_wine.h"
#include "store_fixture.h"

struct ends {
    struct run_session *run;
    bool first, last;
};

/* After the first victim the run is one that the database does not know. */
static void note_end(void *context, const struct collected *done, uint32_t taken, uint32_t to_take)
{
    struct ends *ends = context;
    (void)taken;
    (void)to_take;
    if (done->scenario->name[0] == 'a') {
        ends->first = true;
        ends->run->info.id = 99;
    } else {
        ends->last = true;
    }
}

/* With two turns there is a second judge, which waits for victims while the first one fails. The
 * last victim ends only when this test has seen the fault, or after half a minute. */
TEST(a_judge_that_fails_ends_the_other_one_at_once)
{
    struct store_fixture f;
    store_set_up(&f);
    const char *script =
        arena_printf(kept(),
                     "#!/bin/sh\n"
                     "case \"$*\" in */a.ob2*) sleep 0.3; exit 3 ;; esac\n"
                     "n=0\n"
                     "while [ ! -e '%s' ] && [ $n -lt 300 ]; do sleep 0.1; n=$((n + 1)); done\n"
                     "exit 3\n",
                     below("go"));
    const char *const launcher[] = {put_program("launch", script), NULL};
    (void)put("victims/twinstack-launch.exe", "MZ");
    const char *program = put("victims/victims-ob2.exe", "MZ");
    const struct scenario base = {
        .variant = "ob2", .kind = CASE_KIND_CRASH, .program = program, .limit_ms = 500};
    struct scenario list[2] = {base, base};
    struct run_case cases[3];
    const struct run_request request = {.repeat = 1, .no_judges = true, .cache = "none"};
    struct run_session s = {.request = &request,
                            .keep = &f.keep,
                            .store = f.store,
                            .scenarios = list,
                            .scenario_count = COUNT_OF(list),
                            .cases = cases,
                            .info = {.label = RUN_LABEL_RUN, .started_ns = 1},
                            .fault = FAULT_INIT};
    struct ends ends = {.run = &s};
    list[0].name = "a";
    list[1].name = "b";
    s.progress.context = &ends;
    s.progress.captured = note_end;
    s.collect.victims_folder = below("victims");
    s.collect.out_folder = below("out");
    s.collect.launcher = launcher;
    s.collect.jobs = 2;
    REQUIRE(store_begin_run(f.store, &s.info, &f.keep, &f.fault) == ERR_NONE);
    CHECK(run_take_and_judge(&s) != ERR_NONE);
    CHECK(s.database_failed);
    CHECK_EQ(s.case_count, 0);
    CHECK(ends.first);
    CHECK(!ends.last);
    (void)put("go", "");
    run_end_programs(&s);
    CHECK(ends.last);
    arena_free(&s.beside);
    store_tear_down(&f);
}
