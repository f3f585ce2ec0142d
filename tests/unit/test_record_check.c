/* A record that contradicts itself, or the image that ran: conduct/record_check.h; and what a case
 * with such a record is judged. */
#include <string.h>

#include "base/array.h"
#include "conduct/analysis.h"
#include "conduct/record_check.h"
#include "engine/opened.h"
#include "format/record/record.h"
#include "make_case.h"
#include "test.h"

#define APP_VA ((uint64_t)0x140001000)
#define METHOD_VA ((uint64_t)0x20000000)

/* What each row states otherwise than a sound record of a crash. */
struct row {
    const char *name;
    uint32_t stages[2];           /* of timings, in their order; 0: none */
    uint64_t stop_rtl, stop_dump; /* ns */
    bool no_suspect, no_code, is_hang, is_text, is_broken, no_stack;
    uint64_t at_va; /* of the exception; 0: where the stack begins */
    const char *want;
};

TEST(a_record_that_contradicts_itself_says_how)
{
    enum { WRITE = RECORD_STAGE_RECORD_WRITE, DUMP = RECORD_STAGE_DUMP_WRITE };
    static const char late[] = "the record was written only after the dump",
                      stopped[] = "stopped as long for the walk as for the walk and the dump",
                      who[] = "does not say which thread crashed",
                      where[] = "exception address is not where its stack begins";
    static const struct row rows[] = {
        {.name = "sound"},
        {.name = "the record first", .stages = {WRITE, DUMP}},
        {.name = "the dump first", .stages = {DUMP, WRITE}, .want = late},
        {.name = "no dump", .stages = {WRITE}},
        {.name = "no record", .stages = {DUMP}},
        {.name = "stopped longer for the dump", .stop_rtl = 4, .stop_dump = 5},
        {.name = "stopped as long", .stop_rtl = 5, .stop_dump = 5, .want = stopped},
        {.name = "stopped shorter", .stop_rtl = 6, .stop_dump = 5, .want = stopped},
        {.name = "stopped for no dump", .stop_rtl = 5},
        {.name = "no thread", .no_suspect = true, .want = who},
        {.name = "no thread, and no exception", .no_suspect = true, .no_code = true},
        {.name = "no thread of a hang", .no_suspect = true, .is_hang = true},
        {.name = "another place", .at_va = APP_VA + 1, .want = where},
        {.name = "a frame further out", .at_va = APP_VA + 0x100, .want = where},
        {.name = "the same in managed code", .at_va = METHOD_VA + 8},
        {.name = "managed code that is not on the stack", .at_va = METHOD_VA + 9, .want = where},
        {.name = "another place of no exception", .at_va = 1, .no_code = true},
        {.name = "another place of a hang", .at_va = 1, .is_hang = true},
        {.name = "another place than a walker beside it", .at_va = 1, .is_text = true},
        {.name = "another place of a walk that failed", .at_va = 1, .is_broken = true},
        {.name = "no stack", .at_va = 1, .no_stack = true},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct row *row = &rows[i];
        struct frame frames[] = {
            {.pc_va = APP_VA}, {.pc_va = APP_VA + 0x100}, {.pc_va = METHOD_VA + 8}};
        struct record_method method = {.start_va = METHOD_VA, .code_bytes = 0x100};
        struct record_stack stack = {
            .walker = row->is_text ? RECORD_WALKER_FRAME_POINTER : RECORD_WALKER_RTL,
            .state = row->is_broken ? RECORD_STATE_OK + 1 : RECORD_STATE_OK,
            .frames = frames,
            .frame_count = COUNT_OF(frames)};
        struct record_timing timings[] = {{.stage = row->stages[0]}, {.stage = row->stages[1]}};
        struct record record = {.kind = row->is_hang ? RECORD_KIND_HANG : RECORD_KIND_CRASH,
                                .suspect_id = row->no_suspect ? 0 : 7,
                                .exception_code = row->no_code ? 0 : 0xc0000005,
                                .exception_va = row->at_va != 0 ? row->at_va : APP_VA,
                                .stop_rtl_ns = row->stop_rtl,
                                .stop_dump_ns = row->stop_dump,
                                .stacks = &stack,
                                .stack_count = !row->no_stack,
                                .timings = timings,
                                .timing_count = COUNT_OF(timings),
                                .methods = &method,
                                .method_count = 1};
        const struct crash_case crash = {.folder = "c"};
        const struct opened_case opened = {.crash = &crash, .record = &record};
        test_row(row->name);
        const char *said = record_contradiction(&opened);
        if (row->want != NULL && said != NULL)
            CHECK_HAS(said, row->want);
        else
            CHECK_STR(said, row->want);
    }
}

/* Folders of images are those of symbol servers: NAME/CODE ID/NAME. */
TEST(the_image_that_ran_has_the_identity_of_the_record)
{
    static const struct {
        const char *name, *paths[2], *module, *code_id;
        enum case_role role;
        bool contradicts;
    } rows[] = {
        {"the same", {"s/app.exe/4A5B1000/app.exe"}, "app.exe", "4A5B1000", ROLE_IMAGE, false},
        {"in other letters",
         {"s/APP.exe/4a5b1000/APP.exe"},
         "app.exe",
         "4A5B1000",
         ROLE_IMAGE,
         false},
        {"another", {"s/app.exe/4A5B1001/app.exe"}, "app.exe", "4A5B1000", ROLE_IMAGE, true},
        {"its last digit", {"s/app.exe/4A5B100/app.exe"}, "app.exe", "4A5B1000", ROLE_IMAGE, true},
        {"one of two",
         {"s/app.exe/1/app.exe", "s/app.exe/2/app.exe"},
         "app.exe",
         "2",
         ROLE_IMAGE,
         false},
        {"the first of two",
         {"s/app.exe/1/app.exe", "s/app.exe/2/app.exe"},
         "app.exe",
         "1",
         ROLE_IMAGE,
         false},
        {"none of two",
         {"s/app.exe/1/app.exe", "s/app.exe/2/app.exe"},
         "app.exe",
         "3",
         ROLE_IMAGE,
         true},
        {"no folder above it", {"app.exe/2/app.exe"}, "app.exe", "1", ROLE_IMAGE, true},
        {"of another name", {"s/b.exe/1/b.exe"}, "app.exe", "2", ROLE_IMAGE, false},
        {"a folder of another name", {"s/b.exe/1/app.exe"}, "app.exe", "2", ROLE_IMAGE, false},
        {"no such folder", {"s/app.exe"}, "app.exe", "2", ROLE_IMAGE, false},
        {"the name alone", {"app.exe"}, "app.exe", "2", ROLE_IMAGE, false},
        {"the record has no identity", {"s/app.exe/1/app.exe"}, "app.exe", "", ROLE_IMAGE, false},
        {"the record has no name", {"s/app.exe/1/app.exe"}, NULL, "2", ROLE_IMAGE, false},
        {"no image", {"s/app.exe/1/app.exe"}, "app.exe", "2", ROLE_PDB, false},
        {"too long for one",
         {"s/app.exe/123456789012345678901234/app.exe"},
         "app.exe",
         "2",
         ROLE_IMAGE,
         false},
        {"as long as one can be",
         {"s/app.exe/12345678901234567890123/app.exe"},
         "app.exe",
         "2",
         ROLE_IMAGE,
         true},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct case_file files[2] = {{.role = rows[i].role, .path = rows[i].paths[0]},
                                     {.role = rows[i].role, .path = rows[i].paths[1]}};
        struct module module = {.name = rows[i].module};
        (void)strcpy(module.code_id, rows[i].code_id);
        struct record record = {.kind = RECORD_KIND_HANG, .modules = &module, .module_count = 1};
        const struct crash_case crash = {
            .folder = "c", .files = files, .file_count = rows[i].paths[1] != NULL ? 2 : 1};
        const struct opened_case opened = {.crash = &crash, .record = &record};
        test_row(rows[i].name);
        const char *said = record_contradiction(&opened);
        if (rows[i].contradicts)
            CHECK_HAS(said, "another timestamp or size of an image");
        else
            CHECK_STR(said, NULL);
    }
}

TEST(a_case_whose_record_contradicts_itself_fails_and_the_record_is_blamed)
{
    static const char stack[] = "> app.exe+1005 own poke a.c:10\napp.exe+2005 own main a.c:20\n"
                                "ntdll.dll+4a sys RtlUserThreadStart";
    for (int wrong = 0; wrong < 2; wrong++) {
        struct arena keep;
        struct fault fault = FAULT_INIT;
        arena_init(&keep, 0);
        struct engine_claim claim = make_claim(&keep, ENGINE_NAME_OFFSET, true, stack);
        claim.kind = ENGINE_KIND_OFFSET;
        const struct crash_case crash = make_crash(CASE_KIND_CRASH);
        const struct analysis analysis = {.symbols = NULL};
        struct run_case out = {
            .claims = &claim, .claim_count = 1, .record_contradiction = wrong ? "it lies" : NULL};
        test_row(wrong ? "wrong" : "sound");
        REQUIRE(analysis_judge(&analysis, &crash,
                               make_truth(&keep, "poke a.c:10\nmain a.c:20\n[thread_start]"), &keep,
                               &out, &fault) == ERR_NONE);
        CHECK_EQ(out.result.verdict, wrong ? VERDICT_FAIL : VERDICT_PASS);
        REQUIRE(!wrong || out.result.finding_count > 0);
        if (wrong) {
            CHECK_EQ(out.result.findings[0].cause, CAUSE_RECORD_WRONG);
            CHECK_EQ(out.result.findings[0].blame, BLAME_RECORD);
            CHECK_STR(out.result.findings[0].evidence, "it lies");
        }
        arena_free(&keep);
    }
}
