/* Causes of differences in managed code, and the evidence that each gives. */
#include <stdio.h>
#include <string.h>

#include "compare/compare.h"
#include "make_case.h"
#include "test.h"

#define TRUTH "poke a.c:10\nmiddle a.c:20\nmain a.c:30\n[thread_start]"
#define BASE "kernel32.dll+20 sys BaseThreadInitThunk\nntdll.dll+40 sys RtlUserThreadStart"
#define POKE "app.exe+5 own poke /src/a.c:10 token=6000001\n"
#define MIDDLE "app.exe+7 own middle /src/a.c:20 token=6000002\n"
#define MAIN "app.exe+9 own main /src/a.c:30 token=6000003\n"
#define GOOD POKE MIDDLE MAIN BASE
#define JITTED POKE MAIN BASE /* middle is in main's code */
#define HIJACKED "! hijacked: a collection redirected the return address"
#define STUB "coreclr.dll+50 sys -\n"
#define REFUSED "!! snapshot refused: UNSAFE (0x80131360)"

static const struct row {
    const char *name, *truth, *offset, *dump, *exhibit;
    enum verdict verdict;
    enum cause cause; /* of the first finding; CAUSE_NONE: there is none */
    const char *engine, *wrong, *evidence;
} rows[] = {
    {"all agree", TRUTH, GOOD, GOOD, GOOD, VERDICT_PASS, CAUSE_NONE, NULL, NULL, NULL},
    {"inlined by the JIT", TRUTH, JITTED, JITTED, NULL, VERDICT_FAIL, CAUSE_INLINED_BY_JIT,
     "offset:rtl", "offset:rtl",
     "offset:rtl and dump agree on the frames around it: the JIT put it into main "
     "(app.exe!0x6000003+0x9)"},
    {"inlined, says the runtime's own walk as well", TRUTH, JITTED, JITTED, JITTED, VERDICT_FAIL,
     CAUSE_INLINED_BY_JIT, "offset:rtl", "offset:rtl", NULL},
    {"inlined, as the truth says", "poke a.c:10\nmiddle a.c:20 tail\nmain a.c:30\n[thread_start]",
     JITTED, JITTED, NULL, VERDICT_PASS, CAUSE_INLINED_BY_JIT, "offset:rtl", NULL,
     "offset:rtl and dump agree on the frames around it: the JIT put it into main "
     "(app.exe!0x6000003+0x9)"},
    {"left by a jump from native code, as the truth says",
     "poke a.c:10\nmiddle a.c:20 tail\nmain a.c:30\n[thread_start]",
     "app.exe+5 own poke /src/a.c:10\napp.exe+9 own main /src/a.c:30\n" BASE,
     "app.exe+5 own poke /src/a.c:10\napp.exe+9 own main /src/a.c:30\n" BASE, NULL, VERDICT_PASS,
     CAUSE_NONE, NULL, NULL, NULL},
    {"the innermost method is inlined", TRUTH, MIDDLE MAIN BASE, MIDDLE MAIN BASE, NULL,
     VERDICT_FAIL, CAUSE_INLINED_BY_JIT, "offset:rtl", "offset:rtl", NULL},
    {"another engine has the frame", TRUTH, JITTED, JITTED, GOOD, VERDICT_FAIL, CAUSE_UNEXPLAINED,
     "offset:rtl", "offset:rtl", NULL},
    {"native code around it was inlined by a compiler", TRUTH,
     POKE "app.exe+3005 own main /src/a.c:30\n" BASE,
     POKE "app.exe+3005 own main /src/a.c:30\n" BASE, NULL, VERDICT_FAIL, CAUSE_INLINE_ONLY,
     "offset:rtl", "offset:rtl", NULL},
    {"hijacked", TRUTH, POKE MIDDLE HIJACKED, GOOD, NULL, VERDICT_FAIL, CAUSE_HIJACKED,
     "offset:rtl", "offset:rtl",
     "offset:rtl stopped after 2 frames at app.exe!0x6000002+0x7: hijacked: a collection "
     "redirected "
     "the return address"},
    {"hijacked, as the truth says",
     "poke a.c:10 tail\nmiddle a.c:20 tail\nmain a.c:30 tail\n[thread_start]", STUB HIJACKED,
     STUB HIJACKED, NULL, VERDICT_PASS, CAUSE_HIJACKED, "offset:rtl", NULL,
     "offset:rtl stopped after 1 frames at coreclr.dll!0x50: hijacked: a collection redirected "
     "the return address; and 2 more frames"},
    {"hijacked, but the truth says that the frames are there", TRUTH, STUB HIJACKED, STUB HIJACKED,
     NULL, VERDICT_FAIL, CAUSE_HIJACKED, "offset:rtl", "offset:rtl", NULL},
    {"a frame that a hijacked stack cannot have",
     "poke a.c:10 tail\nmiddle a.c:20 tail\nmain a.c:30 tail\n[thread_start]", STUB MIDDLE HIJACKED,
     STUB HIJACKED, NULL, VERDICT_FAIL, CAUSE_UNEXPLAINED, "offset:rtl", "offset:rtl",
     "middle has a frame at app.exe!0x6000002+0x7 in offset:rtl and, according to truth, none is "
     "left"},
    {"a hijacked stack without frames", TRUTH, GOOD, GOOD, HIJACKED, VERDICT_PASS, CAUSE_NONE, NULL,
     NULL, NULL},
    {"a walk that ended otherwise", TRUTH, POKE MIDDLE "! memory could not be read", GOOD, NULL,
     VERDICT_FAIL, CAUSE_TRUNCATED, "offset:rtl", "offset:rtl", NULL},
    {"a frame without a token", TRUTH, GOOD, "?+7ff01234 generated -\n" MIDDLE MAIN BASE, NULL,
     VERDICT_FAIL, CAUSE_NO_TOKEN, "dump", "dump",
     "dump at ?!0x7ff01234: generated code without a token, in a process that runs "
     "methods as app.exe!0x6000001+0x5"},
    {"lookup address: one byte of code, and some of IL", TRUTH,
     "app.exe+5 own poke /src/a.c:10 token=6000001 pc=7ff01234\n" MIDDLE MAIN BASE,
     "app.exe+2 own poke /src/a.c:10 token=6000001 pc=7ff01234 return\n" MIDDLE MAIN BASE, NULL,
     VERDICT_FAIL, CAUSE_LOOKUP_ADDRESS, "dump", "dump",
     "dump reports app.exe!0x6000001+0x2 (return), offset:rtl reports app.exe!0x6000001+0x5 "
     "(interrupted)"},
    {"another place in the method", TRUTH, GOOD,
     "app.exe+2 own poke /src/a.c:10 token=6000001 return\n" MIDDLE MAIN BASE, NULL, VERDICT_FAIL,
     CAUSE_UNEXPLAINED, "dump", NULL, NULL},
    {"registered code has a name and needs no token", TRUTH, GOOD,
     "?+7ff01234 generated jitted jit\n" MIDDLE MAIN BASE, NULL, VERDICT_FAIL, CAUSE_GENERATED_CODE,
     "dump", "dump", NULL},
    {"generated code in a process without managed code", "poke a.c:10",
     "app.exe+1005 own poke /src/a.c:10\n" BASE, "?+7ff01234 generated -\n" BASE, NULL,
     VERDICT_FAIL, CAUSE_GENERATED_CODE, "dump", "dump", NULL},
    {"a snapshot that the runtime refused", TRUTH, GOOD, GOOD, REFUSED, VERDICT_PASS,
     CAUSE_SNAPSHOT_REFUSED, "offset:snapshot", NULL, "snapshot refused: UNSAFE (0x80131360)"},
    {"an exhibit that failed otherwise is no finding", TRUTH, GOOD, GOOD, "!! it crashed",
     VERDICT_PASS, CAUSE_NONE, NULL, NULL, NULL},
};

static void judge(const struct row *row, struct arena *keep, struct case_result *out)
{
    const struct crash_case crash = make_crash(CASE_KIND_CRASH);
    struct engine_claim claims[3];
    struct compare_input in = {.crash = &crash, .claims = claims, .claim_count = 2};
    struct fault fault = FAULT_INIT;
    claims[0] = make_claim(keep, "offset:rtl", true, row->offset);
    claims[1] = make_claim(keep, "dump", true, row->dump);
    if (row->exhibit != NULL)
        claims[in.claim_count++] = make_claim(keep, "offset:snapshot", false, row->exhibit);
    in.truth = make_truth(keep, row->truth);
    REQUIRE(compare_case(&in, keep, out, &fault) == ERR_NONE);
}

TEST(differences_in_managed_code_have_their_cause)
{
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct row *row = &rows[i];
        struct case_result r;
        struct arena keep;
        arena_init(&keep, 0);
        test_row(row->name);
        judge(row, &keep, &r);
        bool ok = CHECK_STR(verdict_name(r.verdict), verdict_name(row->verdict));
        ok = CHECK_EQ(r.finding_count > 0, row->cause != CAUSE_NONE) && ok;
        if (ok && r.finding_count > 0) {
            const struct finding *f = &r.findings[0];
            ok = CHECK_STR(cause_name(f->cause), cause_name(row->cause));
            ok = CHECK_STR(f->engine, row->engine) && ok;
            ok = CHECK_STR(f->wrong ? f->wrong : "", row->wrong ? row->wrong : "") && ok;
            ok = (row->evidence == NULL || CHECK_STR(f->evidence, row->evidence)) && ok;
        }
        for (uint32_t k = 0; k < r.finding_count && !ok; k++)
            (void)printf("  %s %s wrong=%s: %s\n", cause_name(r.findings[k].cause),
                         r.findings[k].engine, r.findings[k].wrong ? r.findings[k].wrong : "?",
                         r.findings[k].evidence);
        arena_free(&keep);
    }
}

/* The words of the reason keep the HRESULT, from the record's reason to the stored text. */
TEST(a_refusal_is_a_reason_with_details)
{
    static const struct {
        const char *text;
        enum stop_reason stop;
        const char *detail;
    } texts[] = {
        {"snapshot refused: UNSAFE (0x80131360)", STOP_SNAPSHOT_REFUSED,
         "snapshot refused: UNSAFE (0x80131360)"},
        {"snapshot refused", STOP_SNAPSHOT_REFUSED, NULL},
        {"snapshot", STOP_OTHER, "snapshot"},
    };
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct stack stack = {.state = STACK_FAILED};
        test_row(texts[i].text);
        stack_set_stop_text(&stack, texts[i].text);
        CHECK_EQ(stack.stop, texts[i].stop);
        CHECK_STR(stack.stop_detail ? stack.stop_detail : "",
                  texts[i].detail ? texts[i].detail : "");
        CHECK_STR(stack_stop_text(&stack), texts[i].text);
    }
}

/* After generated code such a walk finds only what it guesses. */
TEST(a_walk_without_the_code_map_says_so_of_native_frames_that_it_lost)
{
    const struct crash_case crash = make_crash(CASE_KIND_CRASH);
    static const char native[] = "app.exe+1009 own main /src/a.c:30\n" BASE;
    struct engine_claim claims[3];
    struct compare_input in = {.crash = &crash, .claims = claims, .claim_count = 3};
    struct case_result r;
    struct fault fault = FAULT_INIT;
    struct arena keep;
    char whole[512];
    arena_init(&keep, 0);
    (void)snprintf(whole, sizeof whole, "%s" POKE MIDDLE "%s%s", STUB, STUB, native);
    claims[0] = make_claim(&keep, "offset:rtl", true, whole);
    claims[1] = make_claim(&keep, "dump", true, whole);
    claims[2] = make_claim(&keep, "dump-plain", false, STUB "?+7ff01234 generated -\n" STUB);
    claims[2].parts = ENGINE_SHARES_SYMBOLS | ENGINE_SHARES_DUMP_WALK;
    in.truth = make_truth(&keep, TRUTH);
    REQUIRE(compare_case(&in, &keep, &r, &fault) == ERR_NONE);
    bool is_said = false;
    for (uint32_t i = 0; i < r.finding_count; i++) {
        const struct finding *f = &r.findings[i];
        test_row(f->evidence);
        CHECK(f->cause != CAUSE_UNEXPLAINED);
        is_said = is_said || (f->cause == CAUSE_NO_TOKEN && strstr(f->evidence, "cannot leave"));
    }
    CHECK(is_said);
    arena_free(&keep);
}

/* Every sample has the dump's frames; the first was in a helper of the runtime as well. */
TEST(a_dump_meets_the_sample_that_has_no_frame_more)
{
    const struct crash_case crash = make_crash(CASE_KIND_HANG);
    struct case_result r;
    struct fault fault = FAULT_INIT;
    struct arena keep;
    arena_init(&keep, 0);
    struct engine_claim claims[2] = {make_claim(&keep, "offset:rtl", true, GOOD),
                                     make_claim(&keep, "dump", true, GOOD)};
    struct stack samples[2] = {make_stack(&keep, "offset:rtl", STUB GOOD),
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
