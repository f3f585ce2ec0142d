/* Which thread of the truth a stack is of, and what a case need not have. */
#include "compare/compare.h"
#include "make_case.h"
#include "test.h"

#define TRUTH "poke a.c:10\nmain a.c:30\n[thread_start]"
#define MAIN "app.exe+3005 own main /src/a.c:30\nntdll.dll+40 sys RtlUserThreadStart"
#define GOOD "app.exe+1005 own poke /src/a.c:10\n" MAIN

/* What a stack says of its thread goes before what the truth says; the crashed thread of a truth
 * without numbers is that of the stacks. */
TEST(a_thread_of_the_truth_is_found_by_its_number_or_as_the_crashed_one)
{
    static const struct {
        const char *name;
        enum thread_role role; /* of the stacks */
        bool truth, numbered;
        enum thread_role truth_role;
        bool joined;
        enum thread_role want;
    } threads[] = {
        {"both say it", THREAD_ROLE_SUSPECT, true, true, THREAD_ROLE_SUSPECT, true,
         THREAD_ROLE_SUSPECT},
        {"only the truth says it", THREAD_ROLE_NONE, true, true, THREAD_ROLE_SUSPECT, true,
         THREAD_ROLE_SUSPECT},
        {"the stacks say another", THREAD_ROLE_OTHER, true, true, THREAD_ROLE_SUSPECT, true,
         THREAD_ROLE_OTHER},
        {"a truth without a number", THREAD_ROLE_SUSPECT, true, false, THREAD_ROLE_SUSPECT, true,
         THREAD_ROLE_SUSPECT},
        {"the only thread of the truth", THREAD_ROLE_SUSPECT, true, false, THREAD_ROLE_NONE, true,
         THREAD_ROLE_SUSPECT},
        {"no truth, and no word", THREAD_ROLE_NONE, false, false, THREAD_ROLE_NONE, false,
         THREAD_ROLE_NONE},
    };
    for (size_t i = 0; i < COUNT_OF(threads); i++) {
        struct arena keep;
        struct case_result r;
        struct fault fault = FAULT_INIT;
        const struct crash_case crash = make_crash(CASE_KIND_CRASH);
        arena_init(&keep, 0);
        test_row(threads[i].name);
        struct engine_claim *claims = arena_array(&keep, 2, sizeof *claims);
        struct truth *truth = make_truth(&keep, TRUTH);
        claims[0] = make_claim(&keep, "offset:rtl", true, GOOD);
        claims[1] = make_claim(&keep, "dump", true, GOOD);
        claims[0].stacks[0].role = claims[1].stacks[0].role = threads[i].role;
        truth->threads[0].role = threads[i].truth_role;
        if (!threads[i].numbered)
            truth->threads[0].id = 0;
        struct compare_input in = {.crash = &crash,
                                   .claims = claims,
                                   .claim_count = 2,
                                   .truth = threads[i].truth ? truth : NULL};
        REQUIRE(compare_case(&in, &keep, &r, &fault) == ERR_NONE);
        REQUIRE(r.thread_count == (threads[i].truth ? 1 : 2)); /* no thread crashed: a first one */
        const struct thread_result *last = &r.threads[r.thread_count - 1];
        CHECK_EQ(last->truth != NULL, threads[i].joined);
        CHECK_EQ(last->role, threads[i].want);
        CHECK_EQ(last->thread_id, claims[0].stacks[0].thread_id);
        arena_free(&keep);
    }
}

/* An imported case has a dump or a stack, so what it was not given is no fault; in any other case,
 * and where there was something to walk, an engine under test must have a stack. */
TEST(what_an_imported_case_was_not_given_is_excused)
{
    static const struct {
        const char *name;
        bool imported;
        enum stack_state state;
        bool excused;
    } given[] = {
        {"imported, no dump", true, STACK_NOT_APPLICABLE, true},
        {"captured, no dump", false, STACK_NOT_APPLICABLE, false},
        {"imported, and the walk was blocked", true, STACK_BLOCKED, false},
    };
    for (size_t i = 0; i < COUNT_OF(given); i++) {
        struct arena keep;
        struct case_result r;
        struct fault fault = FAULT_INIT;
        struct crash_case crash = make_crash(CASE_KIND_CRASH);
        arena_init(&keep, 0);
        test_row(given[i].name);
        if (given[i].imported)
            crash.got.hooks = crash.expect.hooks = HOOK_BIT(CASE_HOOK_IMPORT);
        struct engine_claim *claims = arena_array(&keep, 2, sizeof *claims);
        claims[0] = make_claim(&keep, "offset:rtl", true, GOOD);
        claims[1] = make_claim(&keep, "dump", true, GOOD);
        claims[1].stacks[0].state = given[i].state;
        claims[1].stacks[0].frame_count = 0;
        struct compare_input in = {
            .crash = &crash, .claims = claims, .claim_count = 2, .truth = make_truth(&keep, TRUTH)};
        REQUIRE(compare_case(&in, &keep, &r, &fault) == ERR_NONE);
        CHECK_EQ(r.finding_count == 0, given[i].excused);
        CHECK_EQ(r.verdict == VERDICT_PASS, given[i].excused);
        arena_free(&keep);
    }
}

TEST(sampled_threads_compare_as_sets)
{
    struct arena keep;
    struct case_result r;
    const struct crash_case crash = make_crash(CASE_KIND_HANG);
    struct fault fault = FAULT_INIT;
    arena_init(&keep, 0);
    struct engine_claim claims[2] = {make_claim(&keep, "offset:rtl", true, GOOD),
                                     make_claim(&keep, "dump", true, GOOD)};
    struct stack samples[2] = {
        make_stack(&keep, "offset:rtl", "app.exe+1009 own poke /src/a.c:11\n" MAIN),
        make_stack(&keep, "offset:rtl", GOOD)};
    samples[1].sample = 1;
    claims[0].stacks = samples;
    claims[0].stack_count = 2;
    const struct compare_input in = {
        .crash = &crash, .claims = claims, .claim_count = 2, .truth = make_truth(&keep, TRUTH)};
    REQUIRE(compare_case(&in, &keep, &r, &fault) == ERR_NONE);
    CHECK_STR(verdict_name(r.verdict), "PASS");
    CHECK(r.threads[0].stacks[0] == &samples[1]);
    arena_free(&keep);
}
