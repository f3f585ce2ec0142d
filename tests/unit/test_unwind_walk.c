/* Whole walks over x64 stacks: what ends them, what they walk through, what they keep. */

#include <string.h>

#include "base/array.h"
#include "test.h"
#include "unwind_world.h"

enum { BEGIN = 0x1100, END = 0x1200, SP = 64 };

/* Puts a call before RVA, so that RVA is a valid return address. */
static uint64_t call_site(struct world *w, uint32_t rva)
{
    static const uint8_t call[] = {0xe8, 0, 0, 0, 0};
    world_put(w, rva - 5, call, sizeof(call));
    return WORLD_BASE_VA + rva;
}

static void walk_from(struct world *w, uint64_t pc, struct unwind_stack *out)
{
    struct fault fault = FAULT_INIT;
    struct registers regs = {.cpu = CPU_X64, .pc = pc, .sp = WORLD_STACK_VA + 8 * SP};
    CHECK_EQ(unwind_walk(&w->process, &regs, PC_INTERRUPTED, &w->arena, out, &fault), ERR_NONE);
}

TEST(leaves_and_jumps_into_nowhere_pop_one_return_address)
{
    static const uint8_t xdata[] = {HEAD(1, 0, 4, 1, 0, 0), 4, OP(2, 4)};
    static const struct {
        const char *name;
        uint64_t pc;
    } starts[] = {{"leaf without unwind data", WORLD_BASE_VA + 0x1300},
                  {"call of null", 0},
                  {"jump into freed code", 0x7ff812340000}};
    static struct world w;
    for (size_t i = 0; i < COUNT_OF(starts); i++) {
        struct unwind_stack stack;
        test_row(starts[i].name);
        world_init(&w, PE_MACHINE_X64);
        world_function(&w, BEGIN, END, world_xdata(&w, xdata, sizeof(xdata)));
        w.stack[SP] = call_site(&w, BEGIN + 0x50);
        w.stack[SP + 6] = 0;
        walk_from(&w, starts[i].pc, &stack);
        CHECK_EQ(stack.frame_count, 2);
        CHECK_HEX(stack.frames[0].pc_va, starts[i].pc);
        CHECK_EQ(stack.frames[0].kind, PC_INTERRUPTED);
        CHECK_HEX(stack.frames[1].pc_va, WORLD_BASE_VA + BEGIN + 0x50);
        CHECK_EQ(stack.frames[1].kind, PC_RETURN);
        CHECK_STR(found_by_name(stack.frames[1].found_by), "leaf");
        CHECK_EQ(stack.stop, STOP_END);
        world_free(&w);
    }
}

TEST(a_scan_is_the_last_resort_and_says_so)
{
    static const uint8_t xdata[] = {HEAD(1, 0, 4, 1, 0, 0), 4, OP(2, 4)};
    static struct world w;
    struct unwind_stack stack;
    world_init(&w, PE_MACHINE_X64);
    world_function(&w, BEGIN, END, world_xdata(&w, xdata, sizeof(xdata)));
    w.stack[SP] = 0x41414141;                 /* a smashed return address  */
    w.stack[SP + 3] = WORLD_BASE_VA + 0x1400; /* code, but not after a call */
    w.stack[SP + 5] = call_site(&w, BEGIN + 0x50);
    w.stack[SP + 11] = 0;
    walk_from(&w, WORLD_BASE_VA + 0x1300, &stack);
    CHECK_EQ(stack.frame_count, 2);
    CHECK_STR(found_by_name(stack.frames[1].found_by), "scan");
    world_free(&w);
}

TEST(a_deep_stack_keeps_head_and_tail)
{
    static const uint8_t xdata[] = {HEAD(1, 0, 1, 1, 0, 0), 1, OP(0, 3)};
    static struct world w;
    struct unwind_stack stack;
    world_init(&w, PE_MACHINE_X64);
    world_function(&w, BEGIN, END, world_xdata(&w, xdata, sizeof(xdata)));
    uint64_t site = call_site(&w, BEGIN + 0x50), frames = 0;
    for (uint32_t i = SP; i + 1 < WORLD_STACK_WORDS && frames < 900; i += 1, frames++)
        w.stack[i] = site; /* every word is a return address: pop takes one, ret one */
    uint32_t last = SP + 899;
    w.stack[last] = 0;
    walk_from(&w, site, &stack);
    CHECK_EQ(stack.left_out, 0);
    CHECK_EQ(stack.frame_count, 450);
    CHECK_EQ(stack.stop, STOP_END);
    world_free(&w);
    world_init(&w, PE_MACHINE_X64);
    static const uint8_t none[] = {HEAD(1, 0, 0, 0, 0, 0), 0, 0};
    world_function(&w, BEGIN, END, world_xdata(&w, none, sizeof(none)));
    site = call_site(&w, BEGIN + 0x50);
    for (uint32_t i = SP; i < SP + 1500; i++)
        w.stack[i] = site;
    w.stack[SP + 1500] = 0;
    walk_from(&w, site, &stack);
    CHECK_EQ(stack.frame_count, 1024);
    CHECK_EQ(stack.left_out, 1501 - 1024);
    CHECK_HEX(stack.frames[767].sp_va, WORLD_STACK_VA + 8 * (SP + 767));
    CHECK_HEX(stack.frames[768].sp_va, WORLD_STACK_VA + 8 * (SP + 1501 - 256));
    CHECK_HEX(stack.frames[1023].sp_va, WORLD_STACK_VA + 8 * (SP + 1500));
    world_free(&w);
}

/* A collection replaced the caller's return address by the first byte of a function. */
TEST(a_return_to_the_start_of_a_function_ends_as_hijacked)
{
    static const uint8_t xdata[] = {HEAD(1, 0, 4, 1, 0, 0), 4, OP(2, 4)};
    static const struct {
        const char *name;
        uint32_t rva; /* of the return address */
        uint8_t before;
        bool runs_managed;
        enum stop_reason stop;
        uint32_t frames;
    } rows[] = {
        {"replaced", END, 0xcc, true, STOP_HIJACKED, 1},
        {"in a process without managed code", END, 0xcc, false, STOP_END, 2},
        {"a call at the end of the function before", END, 0, true, STOP_END, 2},
        {"into the function", END + 0x50, 0xcc, true, STOP_END, 2},
    };
    static struct world w;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct unwind_stack stack;
        test_row(rows[i].name);
        world_init(&w, PE_MACHINE_X64);
        const uint32_t data = world_xdata(&w, xdata, sizeof xdata);
        world_function(&w, BEGIN, END, data);
        world_function(&w, END, END + 0x100, data);
        w.stack[SP + 5] = call_site(&w, rows[i].rva);
        world_put(&w, rows[i].rva - 1, &rows[i].before, 1);
        w.stack[SP + 11] = 0;
        w.process.runs_managed = rows[i].runs_managed;
        walk_from(&w, WORLD_BASE_VA + BEGIN + 0x50, &stack);
        CHECK_EQ(stack.stop, rows[i].stop);
        CHECK_EQ(stack.frame_count, rows[i].frames);
        world_free(&w);
    }
}

/* The capture's walk does the same; elsewhere the address is kept as evidence of a damaged stack.
 */
TEST(flags_on_the_stack_are_no_caller_of_managed_code)
{
    static const uint8_t xdata[] = {HEAD(1, 0, 4, 1, 0, 0), 4, OP(2, 4)};
    static struct world w;
    for (int runs_managed = 0; runs_managed < 2; runs_managed++) {
        struct unwind_stack stack;
        test_row(runs_managed ? "in a process with managed code" : "in another");
        world_init(&w, PE_MACHINE_X64);
        world_function(&w, BEGIN, END, world_xdata(&w, xdata, sizeof xdata));
        w.stack[SP + 5] = 0x202;
        w.process.runs_managed = runs_managed != 0;
        walk_from(&w, WORLD_BASE_VA + BEGIN + 0x50, &stack);
        CHECK_EQ(stack.frame_count == 1, runs_managed != 0);
        CHECK_EQ(stack.stop == STOP_NO_UNWIND, runs_managed != 0);
        world_free(&w);
    }
}

/* A collection moved the thread itself. Its unwind data hides the first of the two pushes. */
TEST(a_redirected_thread_is_known_at_the_last_call_alone)
{
    static const uint8_t code[] = {0x50, 0x55, 0x48, 0x83, 0xec, 0x20};
    static const uint8_t xdata[] = {HEAD(1, 0, 6, 2, 0, 0), 6, OP(2, 3), 2, OP(0, 5)};
    static const uint8_t none[] = {HEAD(1, 0, 0, 0, 0, 0), 0, 0};
    static const struct {
        const char *name;
        uint32_t pc_rva;
        bool runs_managed;
        enum stop_reason stop;
        uint32_t frames;
        enum pc_kind kind; /* of the caller */
    } rows[] = {
        {"before the last call", BEGIN + 0x50, true, STOP_HIJACKED, 1, PC_RETURN},
        {"at its first instruction", BEGIN, true, STOP_HIJACKED, 1, PC_RETURN},
        {"in the last call", END - 1, true, STOP_END, 2, PC_INTERRUPTED},
        {"in a process without managed code", BEGIN + 0x50, false, STOP_END, 2, PC_RETURN},
    };
    static struct world w;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct unwind_stack stack;
        test_row(rows[i].name);
        world_init(&w, PE_MACHINE_X64);
        world_put(&w, BEGIN, code, sizeof code);
        world_function(&w, BEGIN, END, world_xdata(&w, xdata, sizeof xdata));
        world_function(&w, 0x1300, 0x1400, world_xdata(&w, none, sizeof none));
        w.stack[SP + 5] = call_site(&w, 0x1350);
        w.stack[SP + 6] = 0;
        w.process.runs_managed = rows[i].runs_managed;
        walk_from(&w, WORLD_BASE_VA + rows[i].pc_rva, &stack);
        CHECK_EQ(stack.stop, rows[i].stop);
        if (CHECK_EQ(stack.frame_count, rows[i].frames) && stack.frame_count > 1)
            CHECK_EQ(stack.frames[1].kind, rows[i].kind);
        world_free(&w);
    }
}

/* The return address of a leaf was overwritten. A plausible one above it is not used, because
 * nothing shows that it belongs to the caller. */
TEST(an_overwritten_return_address_ends_the_walk)
{
    static struct world w;
    struct unwind_frame leaf, lost;
    world_init(&w, PE_MACHINE_X64);
    const uint8_t call[5] = {0xe8, 0, 0, 0, 0};
    world_put(&w, WORLD_TEXT_RVA + 0x200, call, sizeof(call));
    w.stack[SP] = 0x4141414141414141;
    w.stack[SP + 1] = w.stack[SP + 2] = WORLD_BASE_VA + WORLD_TEXT_RVA + 0x205;
    struct unwind_walker walker =
        world_walker(&w, CPU_X64, WORLD_TEXT_RVA + 0x100, SP, PC_INTERRUPTED, &leaf);
    CHECK(unwind_step_x64(&walker) == STOP_NONE);
    CHECK_HEX(walker.regs.pc, 0x4141414141414141);
    CHECK_EQ(walker.caller_found, FOUND_LEAF);
    lost = (struct unwind_frame){.pc_va = walker.regs.pc, .kind = PC_RETURN};
    walker.frame = &lost;
    CHECK_EQ(unwind_step_x64(&walker), STOP_PC_OVERWRITTEN);
    world_free(&w);
}

TEST(machine_frames_that_lead_in_a_circle_end)
{
    static const uint8_t xdata[] = {HEAD(1, 0, 0, 1, 0, 0), 0, OP(10, 0)};
    static struct world w;
    struct unwind_stack stack;
    world_init(&w, PE_MACHINE_X64);
    world_function(&w, BEGIN, END, world_xdata(&w, xdata, sizeof(xdata)));
    for (uint32_t i = 0; i < 2; i++) { /* two frames, each the other's caller */
        w.stack[SP + 8 * i] = WORLD_BASE_VA + BEGIN + 0x50 + i;
        w.stack[SP + 8 * i + 3] = WORLD_STACK_VA + 8 * (SP + 8 * (1 - i));
    }
    walk_from(&w, WORLD_BASE_VA + BEGIN + 0x40, &stack);
    CHECK_EQ(stack.stop, STOP_NESTED_EXCEPTIONS);
    CHECK(stack.frame_count < 100);
    world_free(&w);
}

/* A machine frame holds rip, cs, eflags, rsp and ss. It may lead to any place but its own. */
TEST(machine_frames_lead_to_another_place)
{
    static const uint8_t xdata[] = {HEAD(1, 0, 0, 1, 0, 0), 0, OP(10, 0)};
    static const struct {
        const char *name;
        uint32_t pc_rva, sp_word; /* of the first caller */
        enum stop_reason stop;
        uint32_t frames;
    } rows[] = {
        {"to itself", BEGIN + 0x40, SP, STOP_NO_PROGRESS, 1},
        {"to another pc at the same stack pointer", 0x1300, SP, STOP_SCAN_REACH, 2},
        {"to the same pc at another stack pointer", BEGIN + 0x40, SP + 8, STOP_END, 3},
        {"down the stack", 0x1300, SP - 8, STOP_END, 2},
    };
    static struct world w;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct unwind_stack stack;
        test_row(rows[i].name);
        world_init(&w, PE_MACHINE_X64);
        world_function(&w, BEGIN, END, world_xdata(&w, xdata, sizeof xdata));
        memset(w.stack, 0, sizeof w.stack);
        w.stack[SP] = WORLD_BASE_VA + rows[i].pc_rva;
        w.stack[SP + 3] = WORLD_STACK_VA + 8 * (uint64_t)rows[i].sp_word;
        w.stack[SP + 8 + 3] = WORLD_STACK_VA + 8 * (SP + 16); /* the next is to address 0 */
        walk_from(&w, WORLD_BASE_VA + BEGIN + 0x40, &stack);
        CHECK_EQ(stack.stop, rows[i].stop);
        REQUIRE(CHECK_EQ(stack.frame_count, rows[i].frames));
        if (rows[i].frames > 1) {
            CHECK_HEX(stack.frames[1].pc_va, WORLD_BASE_VA + rows[i].pc_rva);
            CHECK_HEX(stack.frames[1].sp_va, WORLD_STACK_VA + 8 * (uint64_t)rows[i].sp_word);
            CHECK_EQ(stack.frames[1].kind, PC_INTERRUPTED);
            CHECK_EQ(stack.frames[1].note, NOTE_MACHINE_FRAME);
        }
        world_free(&w);
    }
}

/* How a frame was found, and what there is to say about it, is of that frame alone. */
TEST(what_is_said_of_a_frame_is_not_said_of_the_next)
{
    static const uint8_t xdata[] = {HEAD(1, 0, 4, 1, 0, 0), 4, OP(2, 4)}; /* sub rsp, 40 */
    static const struct {
        const char *name;
        uint64_t pc;
        uint64_t top; /* the word at the stack pointer, 0: a return address */
        const char *found_by;
        enum frame_note note;
    } rows[] = {
        {"a leaf", WORLD_BASE_VA + 0x1300, 0, "leaf", NOTE_NONE},
        {"in no module", 0x7ff812340000, 0, "leaf", NOTE_NO_MODULE_POPPED},
        {"an epilogue", WORLD_BASE_VA + BEGIN + 0x60, 0, "unwind", NOTE_NONE},
        {"a scan", WORLD_BASE_VA + 0x1300, 0x41414141, "scan", NOTE_NONE},
    };
    static struct world w;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct unwind_stack stack;
        test_row(rows[i].name);
        world_init(&w, PE_MACHINE_X64);
        world_function(&w, BEGIN, END, world_xdata(&w, xdata, sizeof xdata));
        memset(w.stack, 0, sizeof w.stack);
        const uint32_t first = rows[i].top != 0 ? 3 : 0;  /* the word of the first return address */
        world_put(&w, BEGIN + 0x60, &(uint8_t){0xc3}, 1); /* ret */
        const uint64_t site = call_site(&w, BEGIN + 0x50);
        w.stack[SP] = rows[i].top;
        w.stack[SP + first] = site;
        w.stack[SP + first + 6] = site;
        walk_from(&w, rows[i].pc, &stack);
        CHECK_EQ(stack.stop, STOP_END);
        REQUIRE(CHECK_EQ(stack.frame_count, 3));
        CHECK_STR(found_by_name(stack.frames[0].found_by), "context");
        CHECK_STR(found_by_name(stack.frames[1].found_by), rows[i].found_by);
        CHECK_STR(found_by_name(stack.frames[2].found_by), "unwind");
        CHECK_EQ(stack.frames[0].note, NOTE_NONE);
        CHECK_EQ(stack.frames[1].note, rows[i].note);
        CHECK_EQ(stack.frames[2].note, NOTE_NONE);
        world_free(&w);
    }
}

/* Only a frame that was interrupted can have a caller at the same stack pointer, and none can be
 * its own caller. */
TEST(a_stack_pointer_may_stay_once)
{
    static const struct {
        const char *name;
        enum pc_kind kind;
        uint32_t lr_rva;
        enum stop_reason stop;
        uint32_t frames;
    } rows[] = {
        {"interrupted", PC_INTERRUPTED, 0x1504, STOP_NO_PROGRESS, 2},
        {"at a return", PC_RETURN, 0x1504, STOP_NO_PROGRESS, 1},
        {"interrupted, its own caller", PC_INTERRUPTED, BEGIN + 0x40, STOP_NO_PROGRESS, 1},
    };
    static struct world w;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        static const uint32_t bl = 0x94000000;
        struct unwind_stack stack;
        struct fault fault = FAULT_INIT;
        test_row(rows[i].name);
        world_init(&w, PE_MACHINE_ARM64);
        /* two functions of 0x100 bytes that save nothing: flag 1, no frame */
        world_function_arm64(&w, BEGIN, 1 | 0x40 << 2);
        world_function_arm64(&w, 0x1500, 1 | 0x40 << 2);
        world_put(&w, rows[i].lr_rva - 4, &bl, sizeof bl);
        struct registers regs = {
            .cpu = CPU_ARM64, .pc = WORLD_BASE_VA + BEGIN + 0x40, .sp = WORLD_STACK_VA + 8 * SP};
        regs.r[REG_ARM64_LR] = WORLD_BASE_VA + rows[i].lr_rva;
        CHECK_EQ(unwind_walk(&w.process, &regs, rows[i].kind, &w.arena, &stack, &fault), ERR_NONE);
        CHECK_EQ(stack.stop, rows[i].stop);
        CHECK_EQ(stack.frame_count, rows[i].frames);
        world_free(&w);
    }
}

/* Whether a frame of ntdll.dll is in its dispatcher is not known without its exports. */
TEST(exports_that_are_unreadable_are_noted)
{
    enum { EXPORTS = 0x2800 };
    static const uint8_t xdata[] = {HEAD(1, 0, 4, 1, 0, 0), 4, OP(2, 4)};
    static const uint32_t directory = EXPORTS;
    static const struct {
        const char *name, *module;
        struct unwind_range missing;
        enum frame_note note;
    } rows[] = {
        {"readable", "ntdll.dll", {0, 0}, NOTE_NONE},
        {"unreadable", "ntdll.dll", {EXPORTS, EXPORTS + 1}, NOTE_EXPORTS_UNREADABLE},
        {"unreadable, another module", "user32.dll", {EXPORTS, EXPORTS + 1}, NOTE_NONE},
    };
    static struct world w;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct unwind_stack stack;
        test_row(rows[i].name);
        world_init(&w, PE_MACHINE_X64);
        w.module.name = rows[i].module;
        world_put(&w, 0x98 + 112, &directory, sizeof directory);
        world_function(&w, BEGIN, END, world_xdata(&w, xdata, sizeof xdata));
        memset(w.stack, 0, sizeof w.stack);
        w.stack[SP + 5] = call_site(&w, BEGIN + 0x50);
        w.missing = rows[i].missing;
        walk_from(&w, WORLD_BASE_VA + BEGIN + 0x50, &stack);
        REQUIRE(CHECK_EQ(stack.frame_count, 2));
        CHECK_EQ(stack.frames[1].kind, PC_RETURN);
        CHECK_EQ(stack.frames[1].note, rows[i].note);
        world_free(&w);
    }
}

/* A dump may hold any part of a module's headers and tables. Unreadable data is not treated as
 * absent data: the walk continues by other means, and the frame found gives the reason. */
TEST(what_is_unreadable_of_a_module_is_said_and_makes_no_leaf)
{
    static const uint8_t xdata[] = {HEAD(1, 0, 4, 1, 0, 0), 4, OP(2, 4)}; /* sub rsp, 40 */
    static const struct {
        const char *name;
        struct unwind_range missing;
        const char *found_by;
        enum frame_note note;
        uint32_t pc_rva;
    } rows[] = {
        {"nothing is missing", {0, 0}, "unwind", NOTE_NONE, BEGIN + 0x20},
        {"the header ends before the sections", {0x180, 0x1000}, "unwind", NOTE_NONE, BEGIN + 0x20},
        {"it ends inside the first section", {0x190, 0x1000}, "unwind", NOTE_NONE, BEGIN + 0x20},
        {"it ends before .pdata's directory",
         {0x120, 0x1000},
         "scan",
         NOTE_PDATA_UNREADABLE,
         BEGIN + 0x20},
        {"as the first, and the pc has no row", {0x180, 0x1000}, "scan", NOTE_NONE, 0x1300},
        {"the rows",
         {WORLD_PDATA_RVA, WORLD_PDATA_RVA + 12},
         "scan",
         NOTE_PDATA_UNREADABLE,
         BEGIN + 0x20},
        {"the end of a row",
         {WORLD_PDATA_RVA + 4, 0x3100},
         "scan",
         NOTE_PDATA_UNREADABLE,
         BEGIN + 0x20},
        {"the code at the pc, which may be an epilogue",
         {BEGIN + 0x20, BEGIN + 0x21},
         "unwind",
         NOTE_CODE_UNREADABLE,
         BEGIN + 0x20},
        {"code after the pc alone", {BEGIN + 0x21, END}, "unwind", NOTE_NONE, BEGIN + 0x20},
        {"unwind data",
         {WORLD_XDATA_RVA, 0x2010},
         "scan",
         (int)NOTE_UNWIND_FAILED + (int)STOP_DATA_MISSING,
         BEGIN + 0x20},
    };
    static struct world w;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct unwind_stack stack;
        test_row(rows[i].name);
        world_init(&w, PE_MACHINE_X64);
        world_function(&w, BEGIN, END, world_xdata(&w, xdata, sizeof(xdata)));
        const uint64_t site = call_site(&w, BEGIN + 0x50);
        w.missing = rows[i].missing;
        memset(w.stack, 0, sizeof(w.stack));
        w.stack[SP] = 0x41414141;
        w.stack[SP + 5] = site;
        w.stack[SP + 11] = 0;
        walk_from(&w, WORLD_BASE_VA + rows[i].pc_rva, &stack);
        REQUIRE(stack.frame_count == 2);
        CHECK_HEX(stack.frames[1].pc_va, site);
        CHECK_STR(found_by_name(stack.frames[1].found_by), rows[i].found_by);
        CHECK_EQ(stack.frames[1].note, rows[i].note);
        world_free(&w);
    }
}

/* The same of arm64, where the register that a leaf returns through has an address that is no
 * longer the caller's. */
TEST(what_is_unreadable_of_an_arm64_module_makes_no_leaf)
{
    static const uint8_t call[] = {0x00, 0x00, 0x00, 0x94}; /* bl */
    static const struct {
        const char *name;
        struct unwind_range missing;
        uint32_t pc_rva;
        const char *found_by;
        enum frame_note note;
    } rows[] = {
        {"nothing is missing, and the pc has no row", {0, 0}, 0x1400, "leaf", NOTE_NONE},
        {"the header ends before the sections", {0x180, 0x1000}, 0x1400, "leaf", NOTE_NONE},
        {"it ends before .pdata's directory",
         {0x120, 0x1000},
         0x1400,
         "frame_pointer",
         NOTE_PDATA_UNREADABLE},
        {"the rows",
         {WORLD_PDATA_RVA, WORLD_PDATA_RVA + 8},
         0x1400,
         "frame_pointer",
         NOTE_PDATA_UNREADABLE},
    };
    static struct world w;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct unwind_frame frame;
        test_row(rows[i].name);
        world_init(&w, PE_MACHINE_ARM64);
        world_function_arm64(&w, BEGIN, 0x1 | 0x40 << 2);
        world_put(&w, 0x1500, call, sizeof(call));
        world_put(&w, 0x1600, call, sizeof(call));
        w.missing = rows[i].missing;
        struct unwind_walker walker =
            world_walker(&w, CPU_ARM64, rows[i].pc_rva, SP, PC_INTERRUPTED, &frame);
        walker.regs.r[REG_ARM64_FP] = WORLD_STACK_VA + (SP + 4) * sizeof(uint64_t);
        walker.regs.r[REG_ARM64_LR] = WORLD_BASE_VA + 0x1504;
        w.stack[SP + 4] = WORLD_STACK_VA + (SP + 20) * sizeof(uint64_t);
        w.stack[SP + 5] = WORLD_BASE_VA + 0x1504;
        CHECK_EQ(unwind_step_arm64(&walker), STOP_NONE);
        CHECK_HEX(walker.regs.pc, WORLD_BASE_VA + 0x1504);
        CHECK_STR(found_by_name(walker.caller_found), rows[i].found_by);
        CHECK_EQ(walker.caller_note, rows[i].note);
        world_free(&w);
    }
}

/* V8's code range: one entry of unwind data without codes covers all of it. */
static bool generated_v8(void *self, uint64_t va, struct unwind_entry *out)
{
    (void)self;
    *out = (struct unwind_entry){WORLD_BASE_VA - 0x1000000, 0x800000, 0x900000,
                                 0x1000000 + WORLD_XDATA_RVA};
    return va >= WORLD_BASE_VA - 0x800000 && va < WORLD_BASE_VA - 0x700000;
}

TEST(unwind_data_of_a_leaf_is_not_believed_of_a_generated_caller)
{
    enum { RETURNS, NOWHERE, OVERWRITTEN };
    static const uint64_t words[] = {0, 0x7ff612345678, 0x4141414141414141};
    static const uint8_t xdata[] = {HEAD(1, 1, 0, 0, 0, 0), 0, 0, 0, 0};
    static const uint64_t V8_VA = WORLD_BASE_VA - 0x780000;
    static const struct {
        const char *name;
        enum pc_kind kind;
        int top; /* the word at the stack pointer */
        bool chain;
        const char *found_by; /* NULL: it stops */
    } rows[] = {
        {"interrupted in a leaf", PC_INTERRUPTED, RETURNS, false, "unwind"},
        {"interrupted in none, with a frame pointer", PC_INTERRUPTED, NOWHERE, true,
         "frame_pointer"},
        {"interrupted in none", PC_INTERRUPTED, NOWHERE, false, NULL},
        {"interrupted in a leaf whose return address was overwritten", PC_INTERRUPTED, OVERWRITTEN,
         true, "unwind"},
        {"at a return, an overwritten one at the top", PC_RETURN, OVERWRITTEN, true,
         "frame_pointer"},
        {"at a return, what looks like one at the top", PC_RETURN, RETURNS, true, "frame_pointer"},
        {"at a return, without frame pointer", PC_RETURN, RETURNS, false, NULL},
        {"at a return, nothing at the top", PC_RETURN, NOWHERE, true, "frame_pointer"},
    };
    static struct world w;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct unwind_frame frame;
        test_row(rows[i].name);
        world_init(&w, PE_MACHINE_X64);
        (void)world_xdata(&w, xdata, sizeof(xdata));
        w.process.generated = generated_v8;
        const uint64_t site = call_site(&w, BEGIN + 0x50);
        w.stack[SP] = rows[i].top == RETURNS ? site : words[rows[i].top];
        struct unwind_walker walker = world_walker(&w, CPU_X64, 0, SP, rows[i].kind, &frame);
        walker.regs.pc = frame.pc_va = V8_VA;
        frame.module = NULL;
        if (rows[i].chain) {
            walker.regs.r[REG_X64_RBP] = WORLD_STACK_VA + (SP + 8) * sizeof(uint64_t);
            w.stack[SP + 8] = WORLD_STACK_VA + (SP + 20) * sizeof(uint64_t);
            w.stack[SP + 9] = site;
        }
        const enum stop_reason stop = unwind_step_x64(&walker);
        CHECK_EQ(stop == STOP_NONE, rows[i].found_by != NULL);
        if (stop == STOP_NONE && rows[i].found_by != NULL) {
            const bool by_chain = strcmp(rows[i].found_by, "frame_pointer") == 0;
            CHECK_HEX(walker.regs.pc, by_chain ? site : w.stack[SP]);
            CHECK_STR(found_by_name(walker.caller_found), rows[i].found_by);
            CHECK_EQ(walker.caller_note, by_chain ? NOTE_NOT_A_LEAF : NOTE_NONE);
        } else if (stop != STOP_NONE) {
            CHECK_EQ(stop, STOP_GENERATED_LEAF);
        }
        world_free(&w);
    }
}
