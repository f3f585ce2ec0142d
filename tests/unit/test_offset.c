/* What offset:rtl says about the threads of an x86 record, which has no unwind tables: every
 * thread that another walker walked gets the reason, or the comparison would miss a stack. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "engine/offset.h"
#include "record_draft.h"
#include "symbol/symbol_store.h"
#include "test.h"

enum { SUSPECT = 7, OTHER = 8, THIRD = 9, MACHINE_X86 = 0x14c, MACHINE_X64 = 0x8664 };

/* A stack of one frame in no module. */
static void put_stack(struct draft *d, uint32_t walker, uint32_t state, uint32_t thread_id)
{
    const size_t at = section(d, RECORD_SECTION_STACK, 1);
    const size_t fields = d->count;
    put(d, 0, (RECORD_STACK_BYTES - RECORD_SECTION_HEADER_BYTES) / 4);
    d->words[fields] = walker;
    d->words[fields + 1] = state;
    d->words[fields + 2] = thread_id;
    put(d, RECORD_NO_MODULE, 1);
    put(d, 0, 1);
    put(d, 0x401000, 2);
    end(d, at);
}

struct recorded {
    uint32_t walker, state, thread_id;
};

static void write_record(const char *path, uint32_t machine, const struct recorded *stacks)
{
    static struct draft d;
    draft_begin(&d, SUSPECT);
    d.words[RECORD_H_MACHINE / 4] = machine;
    d.words[RECORD_H_KIND / 4] = RECORD_KIND_HANG;
    d.words[RECORD_H_POINTER_BYTES / 4] = machine == MACHINE_X86 ? 4 : 8;
    for (size_t i = 0; stacks[i].walker != 0; i++)
        put_stack(&d, stacks[i].walker, stacks[i].state, stacks[i].thread_id);
    const size_t bytes = draft_end(&d);
    test_write(path, d.words, bytes);
}

enum { RTL = RECORD_WALKER_RTL, POINTER = RECORD_WALKER_FRAME_POINTER, ENGINE_STACKS_MAX = 4 };

static const struct {
    const char *name;
    uint32_t machine;
    struct recorded stacks[5];
    uint32_t ids[ENGINE_STACKS_MAX]; /* of the stacks without frames, in order; 0: the end */
} rows[] = {
    {"x86, two threads that only others walked",
     MACHINE_X86,
     {{POINTER, 0, SUSPECT}, {POINTER, 0, OTHER}},
     {SUSPECT, OTHER}},
    {"x86, the walker said it of the suspect",
     MACHINE_X86,
     {{RTL, RECORD_STATE_NOT_APPLICABLE, SUSPECT}, {POINTER, 0, OTHER}},
     {SUSPECT, OTHER}},
    {"x86, the suspect comes first",
     MACHINE_X86,
     {{POINTER, 0, OTHER}, {POINTER, 0, THIRD}, {POINTER, 0, SUSPECT}, {POINTER, 0, OTHER}},
     {SUSPECT, OTHER, THIRD}},
    {"x86, nothing was walked", MACHINE_X86, {{0, 0, 0}}, {SUSPECT}},
    {"x64, a thread without a stack is no excuse",
     MACHINE_X64,
     {{POINTER, 0, SUSPECT}, {POINTER, 0, OTHER}},
     {SUSPECT}},
};

TEST(each_thread_of_an_x86_record_has_the_reason)
{
    const char *folder = test_scratch();
    char path[512];
    (void)snprintf(path, sizeof path, "%s/case.rec", folder);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena keep;
        struct fault fault = FAULT_INIT;
        struct engine_result out;
        struct symbol_store_options options;
        struct engine_input in;
        struct opened_case opened;
        const bool x86 = rows[i].machine == MACHINE_X86;
        struct case_file file = {.role = ROLE_RECORD, .path = "case.rec"};
        struct crash_case crash = {.folder = folder,
                                   .kind = CASE_KIND_HANG,
                                   .arch = x86 ? CPU_X86 : CPU_X64,
                                   .files = &file,
                                   .file_count = 1};

        arena_init(&keep, 0);
        test_row(rows[i].name);
        write_record(path, rows[i].machine, rows[i].stacks);
        memset(&options, 0, sizeof options);
        memset(&in, 0, sizeof in);
        REQUIRE(symbol_store_open(&options, &in.symbols, &fault) == ERR_NONE);
        REQUIRE(opened_case_open(&crash, in.symbols, &keep, &opened, &fault) == ERR_NONE);
        in.opened = &opened;
        const struct engine *rtl = &engine_offset[RECORD_WALKER_RTL];
        REQUIRE(rtl->run(rtl, &in, &keep, &out, &fault) == ERR_NONE);
        uint32_t count = 0;
        while (count < ENGINE_STACKS_MAX && rows[i].ids[count] != 0)
            count++;
        if (CHECK_EQ(out.stack_count, count))
            for (uint32_t s = 0; s < count; s++) {
                CHECK_EQ(out.stacks[s].thread_id, rows[i].ids[s]);
                CHECK_EQ(out.stacks[s].role == THREAD_ROLE_SUSPECT, s == 0);
                CHECK_EQ(out.stacks[s].state, STACK_NOT_APPLICABLE);
                CHECK_EQ(out.stacks[s].stop, x86 ? STOP_NO_TABLES : STOP_NOT_WALKED);
                CHECK_STR(out.stacks[s].engine, "offset:rtl");
            }
        opened_case_close(&opened);
        symbol_store_close(in.symbols);
        arena_free(&keep);
    }
}

/* A record that is missing is a stack that says so; one that cannot be read is a fault. */
TEST(a_case_without_a_record_says_so)
{
    static const char cut[] = "TWINSTACK";
    static const struct {
        const char *name;
        bool damaged;
        enum cpu arch;
        enum status want;
        enum stop_reason stop;
        const char *detail;
    } cases[] = {
        {"x64, no record", false, CPU_X64, ERR_NONE, STOP_NO_RECORD, NULL},
        {"x86, no record", false, CPU_X86, ERR_NONE, STOP_NO_TABLES, "the case has no record"},
        {"a damaged record", true, CPU_X64, ERR_MALFORMED, STOP_NONE, NULL},
    };
    const char *folder = test_scratch();
    char path[512];
    (void)snprintf(path, sizeof path, "%s/case.rec", folder);
    test_write(path, cut, sizeof cut);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena keep;
        struct fault fault = FAULT_INIT;
        struct engine_result out;
        const struct symbol_store_options options = {.root_count = 0};
        struct engine_input in = {.symbols = NULL};
        struct opened_case opened;
        struct case_file file = {.role = ROLE_RECORD, .path = "case.rec"};
        struct crash_case crash = {.folder = folder,
                                   .arch = cases[i].arch,
                                   .files = &file,
                                   .file_count = cases[i].damaged};
        arena_init(&keep, 0);
        test_row(cases[i].name);
        REQUIRE(symbol_store_open(&options, &in.symbols, &fault) == ERR_NONE);
        REQUIRE(opened_case_open(&crash, in.symbols, &keep, &opened, &fault) == ERR_NONE);
        in.opened = &opened;
        const struct engine *rtl = &engine_offset[RECORD_WALKER_RTL];
        CHECK_EQ(rtl->run(rtl, &in, &keep, &out, &fault), cases[i].want);
        CHECK_EQ(out.stack_count, cases[i].want == ERR_NONE);
        if (out.stack_count == 1) {
            CHECK_EQ(out.stacks[0].state, STACK_NOT_APPLICABLE);
            CHECK_EQ(out.stacks[0].role, THREAD_ROLE_SUSPECT);
            CHECK_EQ(out.stacks[0].stop, cases[i].stop);
            CHECK_STR(out.stacks[0].stop_detail, cases[i].detail);
        }
        opened_case_close(&opened);
        symbol_store_close(in.symbols);
        arena_free(&keep);
    }
}

/* Of x64: the suspect's stack comes first, whatever the order in the record. */
TEST(the_suspects_stack_comes_first)
{
    static const struct recorded stacks[] = {
        {RTL, 0, OTHER}, {POINTER, 0, SUSPECT}, {RTL, 0, SUSPECT}, {RTL, 0, THIRD}, {0, 0, 0}};
    static const uint32_t ids[] = {SUSPECT, OTHER, THIRD};
    char path[512];
    struct arena keep;
    struct fault fault = FAULT_INIT;
    struct engine_result out;
    struct stack first;
    const struct symbol_store_options options = {.root_count = 0};
    struct engine_input in = {.symbols = NULL};
    struct opened_case opened;
    struct case_file file = {.role = ROLE_RECORD, .path = "case.rec"};
    struct crash_case crash = {
        .folder = test_scratch(), .arch = CPU_X64, .files = &file, .file_count = 1};
    (void)snprintf(path, sizeof path, "%s/case.rec", test_scratch());
    arena_init(&keep, 0);
    write_record(path, MACHINE_X64, stacks);
    REQUIRE(symbol_store_open(&options, &in.symbols, &fault) == ERR_NONE);
    REQUIRE(opened_case_open(&crash, in.symbols, &keep, &opened, &fault) == ERR_NONE);
    in.opened = &opened;
    const struct engine *rtl = &engine_offset[RECORD_WALKER_RTL];
    REQUIRE(rtl->run(rtl, &in, &keep, &out, &fault) == ERR_NONE);
    REQUIRE(out.stack_count == COUNT_OF(ids));
    for (size_t i = 0; i < COUNT_OF(ids); i++) {
        CHECK_EQ(out.stacks[i].thread_id, ids[i]);
        CHECK_EQ(out.stacks[i].frame_count, 1);
    }
    CHECK_EQ(offset_suspect_stack(&in, opened.record, false, &keep, &first, &fault), ERR_NONE);
    CHECK_EQ(first.thread_id, SUSPECT);
    CHECK_EQ(first.frame_count, 1);
    opened_case_close(&opened);
    symbol_store_close(in.symbols);
    arena_free(&keep);
}
