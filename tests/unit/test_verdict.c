/* The verdict of a case and its reason, from how the program ended and what was captured. */
#include <stdio.h>
#include <string.h>

#include "compare/compare.h"
#include "compare/mismatch.h"
#include "make_case.h"
#include "test.h"

#define TRUTH "poke a.c:10\n[thread_start]"
#define GOOD                                                                                       \
    "app.exe+1005 own poke /src/a.c:10\nkernel32.dll+20 sys BaseThreadInitThunk\n"                 \
    "ntdll.dll+40 sys RtlUserThreadStart"
#define BAD                                                                                        \
    "app.exe+1005 own other /src/a.c:90\nkernel32.dll+20 sys BaseThreadInitThunk\n"                \
    "ntdll.dll+40 sys RtlUserThreadStart"

static void tell(const struct case_result *r)
{
    (void)printf("  verdict %s: %s\n", verdict_name(r->verdict), r->reason);
    for (uint32_t i = 0; i < r->finding_count; i++)
        (void)printf("  %s %s vs %s wrong=%s: %s\n", cause_name(r->findings[i].cause),
                     r->findings[i].engine, r->findings[i].against,
                     r->findings[i].wrong ? r->findings[i].wrong : "?", r->findings[i].evidence);
}

TEST(verdicts_before_any_stack)
{
    static const struct {
        const char *name;
        enum case_kind kind;
        const char *harness, *unsupported;
        uint32_t files, expect_hooks;
        uint64_t got_code;
        enum verdict verdict;
        bool odd_record;
    } cases[] = {
        {"harness error", CASE_KIND_CRASH, "did not start", "and unsupported", 2, 1, 0xC0000005,
         VERDICT_ERROR, false},
        {"unsupported", CASE_KIND_CRASH, NULL, "Wine cannot", 0, 1, 0, VERDICT_UNSUPPORTED, false},
        {"calm and quiet", CASE_KIND_CALM, NULL, NULL, 0, 0, 0, VERDICT_PASS, false},
        {"calm, but taken", CASE_KIND_CALM, NULL, NULL, 2, 0, 0, VERDICT_FAIL, false},
        {"calm, but a hook saw a crash", CASE_KIND_CALM, NULL, NULL, 1, 0, 0, VERDICT_FAIL, false},
        {"no hook, as expected", CASE_KIND_CRASH, NULL, NULL, 0, 0, 0,
         VERDICT_NOT_CAPTURED_AS_EXPECTED, false},
        {"not captured", CASE_KIND_CRASH, NULL, NULL, 0, 1, 0, VERDICT_FAIL, false},
        {"another code", CASE_KIND_CRASH, NULL, NULL, 2, 1, 0xC0000094, VERDICT_FAIL, false},
        {"as expected", CASE_KIND_CRASH, NULL, NULL, 2, 1, 0xC0000005, VERDICT_PASS, false},
        {"a record that contradicts itself", CASE_KIND_CRASH, NULL, NULL, 2, 1, 0xC0000005,
         VERDICT_FAIL, true},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena keep;
        struct case_result r;
        struct fault fault = FAULT_INIT;
        arena_init(&keep, 0);
        test_row(cases[i].name);
        struct crash_case crash = make_crash(cases[i].kind);
        crash.file_count = cases[i].files;
        crash.expect.hooks = cases[i].expect_hooks > 0 ? HOOK_BIT(CASE_HOOK_UNHANDLED) : 0;
        crash.got.code = cases[i].got_code;
        struct engine_claim claims[2] = {make_claim(&keep, "offset:rtl", true, GOOD),
                                         make_claim(&keep, "dump", true, GOOD)};
        const struct compare_input in = {.crash = &crash,
                                         .claims = claims,
                                         .claim_count = cases[i].files > 0 ? 2 : 0,
                                         .truth = make_truth(&keep, TRUTH),
                                         .harness_error = cases[i].harness,
                                         .unsupported = cases[i].unsupported,
                                         .record_fault = cases[i].odd_record ? "odd" : NULL};
        REQUIRE(compare_case(&in, &keep, &r, &fault) == ERR_NONE);
        if (!CHECK_STR(verdict_name(r.verdict), verdict_name(cases[i].verdict)))
            tell(&r);
        if (cases[i].odd_record)
            CHECK_STR(r.reason, "odd");
        arena_free(&keep);
    }
}

TEST(a_reason_says_how_the_program_ended)
{
    static const struct {
        const char *name;
        uint32_t files;
        enum case_ending ended_by;
        uint64_t exit_code;
        const char *reason;
    } cases[] = {
        {"survived", 0, CASE_ENDING_EXIT, 77,
         "neither record nor dump was captured: the program survived its fault (exit code 77)"},
        {"crashed", 0, CASE_ENDING_EXIT, 0xC0000005,
         "neither record nor dump was captured: the program ended with exit code 0xC0000005"},
        {"time limit", 0, CASE_ENDING_TIME_LIMIT, 1,
         "neither record nor dump was captured: the program did not end before its time limit, "
         "after 5.0 s"},
        {"imported", 0, CASE_ENDING_NONE, 0, "neither record nor dump was captured"},
        {"captured, survived", 2, CASE_ENDING_EXIT, 77,
         "exit code 0x0000004D, expected 0xC0000005: the program survived its fault"},
        {"captured, went on", 2, CASE_ENDING_EXIT, 0, "exit code 0x00000000, expected 0xC0000005"},
        {"captured, time limit", 2, CASE_ENDING_TIME_LIMIT, 1,
         "captured, but the program did not end before its time limit, after 5.0 s"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena keep;
        struct case_result r;
        struct fault fault = FAULT_INIT;
        arena_init(&keep, 0);
        test_row(cases[i].name);
        struct crash_case crash = make_crash(CASE_KIND_CRASH);
        crash.file_count = cases[i].files;
        crash.expect.exit_code = 0xC0000005;
        crash.expect.hooks = HOOK_BIT(CASE_HOOK_UNHANDLED);
        crash.got.ended_by = cases[i].ended_by;
        crash.got.exit_code = cases[i].exit_code;
        crash.got.wall_ms = 5012;
        struct engine_claim claims[2] = {make_claim(&keep, "offset:rtl", true, GOOD),
                                         make_claim(&keep, "dump", true, GOOD)};
        const struct compare_input in = {.crash = &crash,
                                         .claims = claims,
                                         .claim_count = cases[i].files > 0 ? 2 : 0,
                                         .truth = make_truth(&keep, TRUTH)};
        REQUIRE(compare_case(&in, &keep, &r, &fault) == ERR_NONE);
        CHECK_STR(verdict_name(r.verdict), "FAIL");
        CHECK_STR(r.reason, cases[i].reason);
        arena_free(&keep);
    }
}

/* A victim without a DLL that it loads says nothing about the capture, whatever its scenario
 * expects. */
TEST(a_victim_that_lacks_a_dll_is_an_error_that_names_it)
{
    static const struct {
        const char *name, *output;
        enum case_kind kind;
        uint32_t files, expect_hooks;
        enum case_ending ended_by;
        const char *verdict, *reason;
    } cases[] = {
        {"a crash", "about to die\r\nplugin-a.dll\r\n", CASE_KIND_CRASH, 0, 1, CASE_ENDING_EXIT,
         "ERROR", "plugin-a.dll is missing, which the victim loads: build the victims again"},
        {"one that no hook sees", "about to die\nother/plugin-a.dll\n", CASE_KIND_CRASH, 0, 0,
         CASE_ENDING_EXIT, "ERROR",
         "other/plugin-a.dll is missing, which the victim loads: build the victims again"},
        {"a calm program", "plugin-a.dll", CASE_KIND_CALM, 0, 0, CASE_ENDING_EXIT, "ERROR",
         "plugin-a.dll is missing, which the victim loads: build the victims again"},
        {"its output is lost", NULL, CASE_KIND_CRASH, 0, 1, CASE_ENDING_EXIT, "ERROR",
         "a DLL is missing, which the victim loads: build the victims again"},
        {"it printed nothing", "\r\n", CASE_KIND_CRASH, 0, 1, CASE_ENDING_EXIT, "ERROR",
         "a DLL is missing, which the victim loads: build the victims again"},
        {"imported", "plugin-a.dll", CASE_KIND_CRASH, 0, 1, CASE_ENDING_NONE, "FAIL",
         "neither record nor dump was captured"},
        {"captured even so", "plugin-a.dll", CASE_KIND_CRASH, 2, 1, CASE_ENDING_EXIT, "FAIL",
         "exit code 0x0000004E, expected 0xC0000005"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena keep;
        struct case_result r;
        struct fault fault = FAULT_INIT;
        arena_init(&keep, 0);
        test_row(cases[i].name);
        struct crash_case crash = make_crash(cases[i].kind);
        crash.file_count = cases[i].files;
        crash.expect.exit_code = 0xC0000005;
        crash.expect.hooks = cases[i].expect_hooks > 0 ? HOOK_BIT(CASE_HOOK_UNHANDLED) : 0;
        crash.got.ended_by = cases[i].ended_by;
        crash.got.exit_code = 78;
        struct engine_claim claims[2] = {make_claim(&keep, "offset:rtl", true, GOOD),
                                         make_claim(&keep, "dump", true, GOOD)};
        const struct compare_input in = {.crash = &crash,
                                         .claims = claims,
                                         .claim_count = cases[i].files > 0 ? 2 : 0,
                                         .truth = make_truth(&keep, TRUTH),
                                         .output = cases[i].output};
        REQUIRE(compare_case(&in, &keep, &r, &fault) == ERR_NONE);
        CHECK_STR(verdict_name(r.verdict), cases[i].verdict);
        CHECK_STR(r.reason, cases[i].reason);
        arena_free(&keep);
    }
}

/* An engine without a stack was not compared: it is not among those that are right. */
TEST(only_engines_that_were_compared_are_said_to_be_right)
{
    static const struct {
        const char *name, *offset, *dump, *right; /* NULL: no stack; nothing is said */
    } cases[] = {
        {"both", GOOD, GOOD, "all"},       {"no dump", GOOD, NULL, "offset:rtl"},
        {"no record", NULL, GOOD, "dump"}, {"a wrong dump", GOOD, BAD, "offset:rtl"},
        {"both wrong", BAD, BAD, "none"},  {"one wrong, one without", BAD, NULL, "none"},
        {"neither", NULL, NULL, NULL},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena keep;
        struct case_result r;
        struct fault fault = FAULT_INIT;
        arena_init(&keep, 0);
        test_row(cases[i].name);
        const struct crash_case crash = make_crash(CASE_KIND_CRASH);
        struct engine_claim claims[2] = {make_claim(&keep, "offset:rtl", true, cases[i].offset),
                                         make_claim(&keep, "dump", true, cases[i].dump)};
        const struct compare_input in = {.crash = &crash,
                                         .claims = claims,
                                         .claim_count = COUNT_OF(claims),
                                         .truth = make_truth(&keep, TRUTH)};
        REQUIRE(compare_case(&in, &keep, &r, &fault) == ERR_NONE);
        CHECK_STR(r.right, cases[i].right);
        arena_free(&keep);
    }
}

TEST(a_crash_is_seen_by_a_hook_that_was_expected)
{
    static const struct {
        const char *name;
        const char *expected, *got, *reason; /* NULL: it passes */
    } cases[] = {
        {"the same", "unhandled", "unhandled", NULL},
        {"one of two", "vectored,unhandled", "unhandled", NULL},
        {"one more", "unhandled", "vectored,unhandled", NULL},
        {"another", "unhandled", "watcher", "seen by hook watcher, expected unhandled"},
        {"unknown", "unhandled", NULL, NULL},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena keep;
        struct case_result r;
        struct fault fault = FAULT_INIT;
        arena_init(&keep, 0);
        test_row(cases[i].name);
        struct crash_case crash = make_crash(CASE_KIND_CRASH);
        crash.expect.hooks = hooks_parse(cases[i].expected);
        crash.got.hooks = hooks_parse(cases[i].got);
        struct engine_claim claims[2] = {make_claim(&keep, "offset:rtl", true, GOOD),
                                         make_claim(&keep, "dump", true, GOOD)};
        const struct compare_input in = {
            .crash = &crash, .claims = claims, .claim_count = 2, .truth = make_truth(&keep, TRUTH)};
        REQUIRE(compare_case(&in, &keep, &r, &fault) == ERR_NONE);
        CHECK_STR(verdict_name(r.verdict), cases[i].reason != NULL ? "FAIL" : "PASS");
        if (cases[i].reason != NULL)
            CHECK_STR(r.reason, cases[i].reason);
        arena_free(&keep);
    }
}

TEST(a_calm_program_ends_as_it_would_alone)
{
    static const struct {
        const char *name;
        enum case_ending ended_by;
        uint64_t exit_code, expected;
        struct case_file file;
        enum verdict verdict;
        const char *output; /* where one is expected */
    } cases[] = {
        {"as expected",
         CASE_ENDING_EXIT,
         0,
         0,
         {.role = ROLE_OTHER, .path = "a", .bytes = 9},
         VERDICT_PASS,
         NULL},
        {"its own error",
         CASE_ENDING_EXIT,
         5,
         5,
         {.role = ROLE_OTHER, .path = "a", .bytes = 9},
         VERDICT_PASS,
         NULL},
        {"its error is lost",
         CASE_ENDING_EXIT,
         0,
         5,
         {.role = ROLE_OTHER, .path = "a", .bytes = 9},
         VERDICT_FAIL,
         NULL},
        {"killed",
         CASE_ENDING_EXIT,
         0xC0000005,
         0,
         {.role = ROLE_OTHER, .path = "a", .bytes = 9},
         VERDICT_FAIL,
         NULL},
        {"never ended",
         CASE_ENDING_TIME_LIMIT,
         0,
         0,
         {.role = ROLE_OTHER, .path = "a", .bytes = 9},
         VERDICT_FAIL,
         NULL},
        {"a stack",
         CASE_ENDING_EXIT,
         0,
         0,
         {.role = ROLE_OTHER, .path = "stack.txt", .bytes = 9},
         VERDICT_FAIL,
         NULL},
        {"an empty stack",
         CASE_ENDING_EXIT,
         0,
         0,
         {.role = ROLE_OTHER, .path = "stack.txt", .bytes = 0},
         VERDICT_PASS,
         NULL},
        {"on demand",
         CASE_ENDING_EXIT,
         0,
         0,
         {.role = ROLE_RECORD, .path = "record.rec", .bytes = 9},
         VERDICT_PASS,
         NULL},
        {"imported",
         CASE_ENDING_NONE,
         0,
         5,
         {.role = ROLE_OTHER, .path = "a", .bytes = 9},
         VERDICT_PASS,
         NULL},
        {"a dump of its own name",
         CASE_ENDING_EXIT,
         0,
         0,
         {.role = ROLE_OTHER, .path = "x/crash.dmp", .bytes = 9},
         VERDICT_FAIL,
         NULL},
        {"prints what it should",
         CASE_ENDING_EXIT,
         0,
         0,
         {.role = ROLE_OTHER, .path = "a", .bytes = 9},
         VERDICT_PASS,
         "calm\nname\ndone\n"},
        {"line ends of Windows",
         CASE_ENDING_EXIT,
         0,
         0,
         {.role = ROLE_OTHER, .path = "a", .bytes = 9},
         VERDICT_PASS,
         "calm\r\nname\r\ndone\r\n"},
        {"stops before the end",
         CASE_ENDING_EXIT,
         0,
         0,
         {.role = ROLE_OTHER, .path = "a", .bytes = 9},
         VERDICT_FAIL,
         "calm\nname\n"},
        {"prints nothing",
         CASE_ENDING_EXIT,
         0,
         0,
         {.role = ROLE_OTHER, .path = "a", .bytes = 9},
         VERDICT_FAIL,
         ""},
        {"prints more",
         CASE_ENDING_EXIT,
         0,
         0,
         {.role = ROLE_OTHER, .path = "a", .bytes = 9},
         VERDICT_FAIL,
         "calm\nname\ndone\ncrashed\n"},
        {"prints something else",
         CASE_ENDING_EXIT,
         0,
         0,
         {.role = ROLE_OTHER, .path = "a", .bytes = 9},
         VERDICT_FAIL,
         "calm\noops\ndone\n"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena keep;
        struct case_result r;
        struct fault fault = FAULT_INIT;
        struct case_file file = cases[i].file;
        arena_init(&keep, 0);
        test_row(cases[i].name);
        struct crash_case crash = {.kind = CASE_KIND_CALM, .files = &file, .file_count = 1};
        crash.got.ended_by = cases[i].ended_by;
        crash.got.exit_code = cases[i].exit_code;
        crash.expect.exit_code = cases[i].expected;
        crash.expect.output = cases[i].output != NULL ? "calm\nname\ndone\n" : NULL;
        const struct compare_input in = {.crash = &crash, .output = cases[i].output};
        REQUIRE(compare_case(&in, &keep, &r, &fault) == ERR_NONE);
        if (!CHECK_STR(verdict_name(r.verdict), verdict_name(cases[i].verdict)))
            tell(&r);
        arena_free(&keep);
    }
}

/* Where the walk's own evidence shows how the last shared frame was left, that is the cause, and
 * between two engines it excuses none. */
TEST(a_lost_frame_names_the_unwind_code_where_the_walks_part)
{
    static const struct {
        const char *name, *steps, *dump; /* of poke's frame; the stack of the dump */
        enum cause cause;
        const char *evidence;
    } steps[] = {
        {"a frame of the truth", "+0x05 UWOP_PUSH_NONVOL rbx\n+0x02 UWOP_SET_FPREG rbp+0x20",
         "app.exe+1005 own poke /src/a.c:10\napp.exe+3005 own main /src/a.c:30\n", CAUSE_WRONG_STEP,
         "the walks part at poke (app.exe!0x1005), which dump leaves by UWOP_SET_FPREG, "
         "UWOP_PUSH_NONVOL: middle is "
         "in truth and not in dump"},
        {"a code that had not run", "-0x05 UWOP_SET_FPREG rbp\n+0x02 UWOP_PUSH_NONVOL rbx",
         "app.exe+1005 own poke /src/a.c:10\napp.exe+3005 own main /src/a.c:30\n", CAUSE_WRONG_STEP,
         "leaves by UWOP_PUSH_NONVOL"},
        {"no evidence", NULL,
         "app.exe+1005 own poke /src/a.c:10\napp.exe+3005 own main /src/a.c:30\n",
         CAUSE_UNEXPLAINED, "middle is in truth and not in dump"},
        {"a wrong line is not the walk's fault", "+0x02 UWOP_SET_FPREG rbp",
         "app.exe+1005 own poke /src/a.c:10\napp.exe+2005 own middle /src/a.c:21\n"
         "app.exe+3005 own main /src/a.c:30\n",
         CAUSE_UNEXPLAINED, "middle is at line 21 in dump and at line 20 in truth"},
        {"two wrong lines", NULL,
         "app.exe+1005 own poke /src/a.c:11\napp.exe+2005 own middle /src/a.c:20\n"
         "app.exe+3005 own main /src/a.c:31\n",
         CAUSE_UNEXPLAINED, "poke is at line 11 in dump and at line 10 in truth"},
    };
    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        struct arena keep;
        struct fault fault = FAULT_INIT;
        struct case_result result;
        const struct crash_case crash = make_crash(CASE_KIND_CRASH);
        const struct frame_evidence evidence = {.index = 0, .steps = steps[i].steps};
        arena_init(&keep, 0);
        test_row(steps[i].name);
        struct engine_claim claims[2] = {
            make_claim(&keep, "offset:rtl", true,
                       "app.exe+1005 own poke /src/a.c:10\napp.exe+2005 own middle /src/a.c:20\n"
                       "app.exe+3005 own main /src/a.c:30\n"),
            make_claim(&keep, "dump", true, steps[i].dump)};
        claims[1].stacks->evidence = &evidence;
        claims[1].stacks->evidence_count = 1;
        const struct compare_input in = {
            .crash = &crash,
            .truth = make_truth(&keep, "poke a.c:10\nmiddle a.c:20\nmain a.c:30"),
            .claims = claims,
            .claim_count = 2};
        REQUIRE(compare_case(&in, &keep, &result, &fault) == ERR_NONE);
        CHECK_STR(verdict_name(result.verdict), "FAIL");
        const struct finding *f = finding_deciding(result.findings, result.finding_count);
        REQUIRE(f != NULL);
        CHECK_STR(cause_name(f->cause), cause_name(steps[i].cause));
        CHECK_HAS(f->evidence, steps[i].evidence);
        for (uint32_t k = 0; k < result.finding_count; k++)
            CHECK(result.findings[k].fails);
        /* the same against the truth and against the other engine is one place */
        if (i + 1 == COUNT_OF(steps))
            CHECK_HAS(result.reason, " (2 places in all)");
        else
            CHECK(strstr(result.reason, " in all)") == NULL);
        arena_free(&keep);
    }
}

/* Two names of one function: code that the linker folded. Only a place that both measure from a
 * start, which is before it, says so. */
TEST(two_names_of_one_start_are_one_function)
{
    static const struct {
        const char *name, *offset, *dump; /* the words of the first frame */
        enum cause cause;
        const char *evidence;
    } rows[] = {
        {"the same start", "own poke a.c:1 start=5", "own twin a.c:1 start=5", CAUSE_FOLDED,
         "twin and poke start at the same address, 0x5 before app.exe!0x1005"},
        {"a start a byte later", "own poke a.c:1 start=5", "own twin a.c:1 start=4",
         CAUSE_UNEXPLAINED, NULL},
        {"no start is known", "own poke a.c:1", "own twin a.c:1", CAUSE_UNEXPLAINED, NULL},
        {"one start is known", "own poke a.c:1 start=5", "own twin a.c:1", CAUSE_UNEXPLAINED, NULL},
        {"an export before it", "own poke a.c:1 start=5", "none twin start=5 export",
         CAUSE_EXPORT_ONLY, NULL},
        {"no name", "own poke a.c:1 start=5", "none - start=5", CAUSE_SYMBOLS_MISSING, NULL},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena keep;
        struct fault fault = FAULT_INIT;
        struct case_result result;
        const struct crash_case crash = make_crash(CASE_KIND_CRASH);
        arena_init(&keep, 0);
        test_row(rows[i].name);
        struct engine_claim claims[2];
        const char *const words[2] = {rows[i].offset, rows[i].dump};
        for (int k = 0; k < 2; k++)
            claims[k] = make_claim(
                &keep, k == 0 ? "offset:rtl" : "dump", true,
                arena_printf(&keep, "app.exe+1005 %s\napp.exe+3005 own main a.c:30\n", words[k]));
        const struct compare_input in = {.crash = &crash, .claims = claims, .claim_count = 2};
        REQUIRE(compare_case(&in, &keep, &result, &fault) == ERR_NONE);
        REQUIRE(result.finding_count > 0);
        CHECK_STR(cause_name(result.findings[0].cause), cause_name(rows[i].cause));
        if (rows[i].evidence != NULL)
            CHECK_STR(result.findings[0].evidence, rows[i].evidence);
        arena_free(&keep);
    }
}

/* One byte before a return address, which may be the next function's first; mismatch.h. */
TEST(a_rule_asks_for_the_byte_before_a_return_address)
{
    static const struct {
        const char *name;
        struct frame frame;
        uint64_t want;
    } rows[] = {
        {"return", {.offset = 0x2005, .kind = PC_RETURN}, 0x2004},
        {"interrupted", {.offset = 0x2005, .kind = PC_INTERRUPTED}, 0x2005},
        {"return to the first byte", {.offset = 1, .kind = PC_RETURN}, 0},
        {"return to nothing", {.offset = 0, .kind = PC_RETURN}, 0},
        {"managed",
         {.offset = 5, .kind = PC_RETURN, .method_token = 0x06000001},
         UINT64_C(0x0600000100000005)},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        CHECK_EQ(rule_lookup_offset(&rows[i].frame), rows[i].want);
    }
}
