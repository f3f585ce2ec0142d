/* See make_run.h. */
#include "make_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "compare/compare.h"
#include "make_case.h"

#define GOOD                                                                                       \
    "> app.exe+1005 own poke /src/a.c:10\napp.exe+1005 own middle /src/a.c:20\n"                   \
    "app.exe+3005 own main /src/a.c:30\nntdll.dll+40 sys RtlUserThreadStart"
#define HOSTILE                                                                                    \
    "app.exe+1005 own </script><b>&\"|`#|@evil /src/a.c:20\n"                                      \
    "app.exe+3005 own main /src/a.c:30\nntdll.dll+40 sys RtlUserThreadStart"
#define TRUTH "poke a.c:10\nmiddle a.c:20\nmain a.c:30\n[thread_start]"

static void judge(struct arena *keep, struct run_case *c, const char *truth, const char *offset,
                  const char *dump, const char *unsupported, const char *error)
{
    struct fault fault = FAULT_INIT;
    struct crash_case crash = make_crash(CASE_KIND_CRASH);
    struct compare_input in = {.crash = &crash, .unsupported = unsupported, .harness_error = error};
    c->arch = CPU_X64;
    c->kind = CASE_KIND_CRASH;
    c->expected_code = c->got_code = crash.got.code;
    c->wall_ms = 321;
    c->expected_hooks = c->got_hooks = HOOK_BIT(CASE_HOOK_UNHANDLED);
    if (offset != NULL) {
        c->claims = arena_array(keep, 3, sizeof *c->claims);
        c->claims[0] = make_claim(keep, "offset:rtl", true, offset);
        c->claims[1] = make_claim(keep, "dump", true, dump);
        c->claims[2] = make_claim(keep, "judge:dbghelp", false, NULL);
        c->claims[1].cost.total_ns = 9000000;
        c->claim_count = 3;
        c->truth = make_truth(keep, truth);
        c->timing.walk_ns = 5000;
        c->timing.record_write_ns = 90000;
        c->timing.dump_write_ns = 1200000000;
        c->timing.record_bytes = 4096;
        c->timing.dump_bytes = 60000;
    }
    in.truth = c->truth;
    in.claims = c->claims;
    in.claim_count = c->claim_count;
    if (compare_case(&in, keep, &c->result, &fault) != ERR_NONE)
        abort();
}

/* Adds what is stored next to a case: how its frames were found, and a file that other cases
 * share. */
static void add_beside(struct arena *keep, struct run_case *c)
{
    static const struct frame_evidence evidence[] = {
        {.index = 0,
         .sp_va = 0x21fe40,
         .where = "body",
         .function_begin_rva = 0x1000,
         .function_end_rva = 0x1040,
         .unwind_data_va = 0x140004000,
         .return_slot_va = 0x21fe68,
         .caller_sp_va = 0x21fe70,
         .steps = "+0x04 UWOP_ALLOC_SMALL 40 bytes\n-0x08 UWOP_PUSH_NONVOL rbx",
         .code_before = "4883ec28",
         .code_after = "c700",
         .code_aligned = true},
        {.index = 1, .sp_va = 0x21fe70},
    };
    static const char source[] = "int poke(void)\n{\n    return HERE(1);\n}\n";
    c->claims[1].stacks[0].evidence = evidence;
    c->claims[1].stacks[0].evidence_count = 2;
    c->artifacts = arena_array(keep, 2, sizeof *c->artifacts);
    c->artifacts[0] = (struct case_artifact){
        .role = ARTIFACT_SOURCE, .name = "a.c", .data = source, .bytes = sizeof source - 1};
    c->artifacts[1] = (struct case_artifact){
        .role = ARTIFACT_RECORD, .name = "record.rec", .data = "\0\1\2", .bytes = 3};
    for (c->artifact_count = 0; c->artifact_count < 2; c->artifact_count++) {
        struct case_artifact *a = &c->artifacts[c->artifact_count];
        text_sha256(a->data, a->bytes, a->sha256);
    }
}

void make_run(struct arena *keep, struct run_info *run, struct run_case cases[MADE_CASES])
{
    static struct named_version tools[] = {{"twinstack", "0.1.0"}, {"clang", "19.1.7"}};
    static const char *const names[] = {"null_write", "null_write",          "divide_by_zero",
                                        "fast_fail",  "illegal_instruction", "recursion"};
    char *deep = arena_alloc(keep, 40000), *truth = arena_alloc(keep, 20000);
    size_t at = 0, said = 0;
    memset(run, 0, sizeof *run);
    memset(cases, 0, MADE_CASES * sizeof *cases);
    run->state = RUN_COMPLETE;
    run->label = "run";
    run->started_ns = 1790000000123456789u;
    run->finished_ns = run->started_ns + 5000000000u;
    run->commit = "0123456789abcdef";
    run->branch = "main";
    run->platform = "linux x86-64, wine 8.0";
    run->compiler = "clang 19.1.7";
    run->tools = tools;
    run->tool_count = 2;
    run->environment = &tools[1];
    run->environment_count = 1;
    for (int i = 0; i < MADE_CASES; i++) {
        cases[i].scenario = names[i];
        cases[i].variant = i == 0 ? "ob0" : "ob2";
    }
    for (int i = 0; i < 300; i++) {
        at += (size_t)sprintf(deep + at, "app.exe+1005 own dive /src/a.c:10\n");
        said += (size_t)sprintf(truth + said, "dive a.c:10\n");
    }
    judge(keep, &cases[0], TRUTH, GOOD, GOOD, NULL, NULL);
    judge(keep, &cases[1], TRUTH, GOOD, GOOD, NULL, NULL);
    judge(keep, &cases[2], TRUTH, GOOD, HOSTILE, NULL, NULL);
    judge(keep, &cases[3], NULL, NULL, NULL, "Wine does not deliver it", NULL);
    judge(keep, &cases[4], NULL, NULL, NULL, NULL, "the victim did not start");
    judge(keep, &cases[5], truth, deep, deep, NULL, NULL);
    add_beside(keep, &cases[0]);
    add_beside(keep, &cases[2]);
    run->case_count = MADE_CASES;
    for (int i = 0; i < MADE_CASES; i++)
        run->verdicts[cases[i].result.verdict]++;
}

void made_case_write(struct json *j, const struct run_case *c)
{
    run_case_write_json(j, c);
    for (uint32_t i = 0; i < c->claim_count; i++)
        for (uint32_t k = 0; k < c->claims[i].stack_count; k++)
            stack_write_json(j, &c->claims[i].stacks[k]);
}
