/* Each form of an unwind code of x64 and of an instruction that leaves a function, x64 and x86: the
 * codes as Microsoft's "x64 exception handling" lays them out, the instructions as Intel's manual
 * encodes them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "unwind/x64_info.h"
#include "unwind/x86_code.h"
#include "unwind_world.h"

enum { BEGIN = 0x1100, END = 0x1200, SP = 64 };

/* A code, followed by two slots 0x0102 and 0x0304 and a push. */
static const struct {
    const char *name;
    uint8_t version, op, info;
    enum stop_reason stop;
    uint8_t slots;
    uint32_t bytes;
} codes[] = {
    {"PUSH_NONVOL", 1, 0, 9, STOP_NONE, 1, 0},
    {"ALLOC_LARGE in eights", 1, 1, 0, STOP_NONE, 2, 0x0102 * 8},
    {"ALLOC_LARGE in bytes", 1, 1, 1, STOP_NONE, 3, 0x03040102},
    {"ALLOC_LARGE of no form", 1, 1, 2, STOP_DATA_MALFORMED, 0, 0},
    {"ALLOC_SMALL, the smallest", 1, 2, 0, STOP_NONE, 1, 8},
    {"ALLOC_SMALL, the largest", 1, 2, 15, STOP_NONE, 1, 128},
    {"SET_FPREG", 1, 3, 0, STOP_NONE, 1, 0},
    {"SAVE_NONVOL", 1, 4, 6, STOP_NONE, 2, 0x0102 * 8},
    {"SAVE_NONVOL_FAR", 1, 5, 6, STOP_NONE, 3, 0x03040102},
    {"the old save of half a register", 1, 6, 6, STOP_NONE, 2, 0},
    {"EPILOG of version 2", 2, 6, 1, STOP_NONE, 1, 0},
    {"SPARE_CODE", 1, 7, 0, STOP_NONE, 3, 0},
    {"SAVE_XMM128", 1, 8, 6, STOP_NONE, 2, 0x0102 * 16},
    {"SAVE_XMM128_FAR", 1, 9, 6, STOP_NONE, 3, 0x03040102},
    {"PUSH_MACHFRAME", 1, 10, 1, STOP_NONE, 1, 0},
    {"11", 1, 11, 0, STOP_DATA_MALFORMED, 0, 0},
    {"15", 1, 15, 0, STOP_DATA_MALFORMED, 0, 0},
    {"version 0", 0, 0, 0, STOP_DATA_VERSION, 0, 0},
    {"version 4", 4, 0, 0, STOP_DATA_VERSION, 0, 0},
};

TEST(x64_codes_have_their_slots)
{
    for (size_t i = 0; i < COUNT_OF(codes); i++) {
        const uint8_t slots = codes[i].slots != 0 ? codes[i].slots : 1;
        const uint8_t more[] = {0x02, 0x01, 0x04, 0x03};
        uint8_t xdata[16] = {HEAD(codes[i].version, 0, 12, (uint8_t)(slots + 1), 5, 3), 12,
                             OP(codes[i].op, codes[i].info)};
        struct world *w = malloc(sizeof *w);
        struct x64_info info;
        REQUIRE(w != NULL);
        memcpy(xdata + 6, more, 2 * ((size_t)slots - 1));
        xdata[4 + 2 * slots] = 2;
        xdata[5 + 2 * slots] = OP(0, 3);
        world_init(w, PE_MACHINE_X64);
        const uint32_t rva = world_xdata(w, xdata, sizeof xdata);
        test_row(codes[i].name);
        CHECK_EQ(x64_info_read(&w->process, WORLD_BASE_VA, rva, &info), codes[i].stop);
        if (codes[i].stop == STOP_NONE) {
            REQUIRE(info.code_count == 2);
            CHECK_EQ(info.codes[0].prologue_offset, 12);
            CHECK_EQ(info.codes[0].op, codes[i].op);
            CHECK_EQ(info.codes[0].info, codes[i].info);
            CHECK_HEX(info.codes[0].bytes, codes[i].bytes);
            CHECK_EQ(info.codes[1].prologue_offset, 2);
            CHECK_EQ(info.codes[1].info, 3);
            CHECK_EQ(info.prologue_bytes, 12);
            CHECK_EQ(info.frame_register, 5);
            CHECK_EQ(info.frame_offset, 48);
            xdata[2]--; /* a slot less: the push is not there, or the code is cut */
            world_put(w, rva, xdata, sizeof xdata);
            CHECK_EQ(x64_info_read(&w->process, WORLD_BASE_VA, rva, &info), STOP_NONE);
            xdata[2]--;
            world_put(w, rva, xdata, sizeof xdata);
            CHECK_EQ(x64_info_read(&w->process, WORLD_BASE_VA, rva, &info),
                     slots > 1 ? STOP_DATA_MALFORMED : STOP_NONE);
        }
        world_free(w);
        free(w);
    }
}

/* After an even number of slots: a handler with flag 1 or 2, a row of .pdata with flag 4. */
TEST(what_follows_the_x64_codes)
{
    static const struct {
        const char *name;
        uint8_t flags, slots;
        uint32_t handler, chained;
    } rows[] = {
        {"nothing", 0, 0, 0, 0},
        {"a handler", 1, 0, 0x11111111, 0},
        {"a termination handler", 2, 2, 0x22222222, 0},
        {"both, after a pad", 3, 1, 0x22222222, 0},
        {"chained", 4, 0, 0, 0x11111111},
        {"chained, after a pad", 4, 3, 0, 0x33333333},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        uint8_t xdata[24] = {HEAD(1, rows[i].flags, 9, rows[i].slots, 0, 0)};
        struct world *w = malloc(sizeof *w);
        struct x64_info info;
        REQUIRE(w != NULL);
        for (uint8_t k = 0; k < rows[i].slots; k++)
            xdata[5 + 2 * k] = OP(2, 0);
        for (uint8_t k = (uint8_t)((rows[i].slots + 1) / 2), n = 1 + k; k < 5; k++, n++)
            memset(xdata + 4 + 4 * k, 0x11 * n, 4);
        world_init(w, PE_MACHINE_X64);
        const uint32_t rva = world_xdata(w, xdata, sizeof xdata);
        test_row(rows[i].name);
        REQUIRE(x64_info_read(&w->process, WORLD_BASE_VA, rva, &info) == STOP_NONE);
        CHECK_EQ(info.code_count, rows[i].slots);
        CHECK_HEX(info.handler_rva, rows[i].handler);
        if (rows[i].chained != 0) {
            CHECK_HEX(info.chained.base_va, WORLD_BASE_VA);
            CHECK_HEX(info.chained.begin_rva, rows[i].chained);
            CHECK_HEX(info.chained.end_rva, rows[i].chained + 0x11111111);
            CHECK_HEX(info.chained.unwind_rva, rows[i].chained + 0x22222222);
        }
        world_free(w);
        free(w);
    }
}

/* Version 2 lists epilogues of 3 bytes: one at the end if bit 0 of the first says so, and others by
 * their distance of 12 bits from the end. */
TEST(x64_epilogues_of_version_2)
{
    static const struct {
        const char *name;
        uint8_t at_end, distance, high;
        uint32_t rva, into; /* UINT32_MAX: in none */
    } rows[] = {
        {"the first byte of the last", 1, 0, 0, END - 3, 0},
        {"its last byte", 1, 0, 0, END - 1, 2},
        {"before it", 1, 0, 0, END - 4, UINT32_MAX},
        {"after it", 1, 0, 0, END, UINT32_MAX},
        {"there is none at the end", 0, 0, 0, END - 3, UINT32_MAX},
        {"the first byte of another", 0, 0x80, 0, END - 0x80, 0},
        {"its last byte", 1, 0x80, 0, END - 0x7e, 2},
        {"after it", 1, 0x80, 0, END - 0x7d, UINT32_MAX},
        {"at the start of the function", 0, 0, 1, BEGIN, 0},
        {"before the function", 0, 1, 1, BEGIN - 1, UINT32_MAX},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct x64_info info = {.version = 2,
                                      .code_count = 3,
                                      .codes = {{3, X64_EPILOG, rows[i].at_end, 0},
                                                {rows[i].distance, X64_EPILOG, rows[i].high, 0},
                                                {1, X64_PUSH_NONVOL, 3, 0}}};
        const struct unwind_entry entry = {WORLD_BASE_VA, BEGIN, END, 0};
        uint32_t into = UINT32_MAX;
        test_row(rows[i].name);
        CHECK_EQ(x64_in_listed_epilogue(&info, &entry, rows[i].rva, &into),
                 rows[i].into != UINT32_MAX);
        CHECK_EQ(into, rows[i].into);
    }
}

/* Instructions that leave a function, of which NEED bytes say so. Where fewer can be read, they say
 * nothing. The world's pages end after 1, 2, 4 or 8 bytes. */
static const struct {
    const char *name;
    uint8_t code[8];
    uint32_t need; /* 0: it does not leave */
} leaves[] = {
    {"ret", {0xc3}, 1},
    {"ret 16", {0xc2, 0x10, 0}, 3},
    {"rep ret", {0xf3, 0xc3}, 2},
    {"bnd ret", {0xf2, 0xc3}, 2},
    {"jmp short, out", {0xeb, 0x7f}, 2},
    {"jmp short, inside", {0xeb, 0x10}, 0},
    {"jmp near, out", {0xe9, 0, 4, 0, 0}, 5},
    {"jmp [rip + n]", {0xff, 0x25, 0, 0, 0, 0}, 2},
    {"rex.w jmp rax", {0x48, 0xff, 0xe0}, 3},
    {"rex.wb jmp r11", {0x49, 0xff, 0xe3}, 3},
    {"rex.w jmp [rax]", {0x48, 0xff, 0x20}, 3},
    {"rex.w call rax", {0x48, 0xff, 0xd0}, 0},
    {"jmp rax", {0xff, 0xe0}, 0},
    {"pop rbx; ret", {0x5b, 0xc3}, 2},
    {"pop r12; ret", {0x41, 0x5c, 0xc3}, 3},
    {"add rsp, 8; ret", {0x48, 0x83, 0xc4, 8, 0xc3}, 5},
    {"add rsp, 8; pop rbx; nop", {0x48, 0x83, 0xc4, 8, 0x5b, 0x90}, 0},
    {"sub rsp, 8; ret", {0x48, 0x83, 0xec, 8, 0xc3}, 0},
    {"iretq", {0x48, 0xcf}, 2},
    {"iretd", {0xcf}, 0},
};

TEST(x64_instructions_that_leave)
{
    static const uint8_t xdata[] = {HEAD(1, 0, 4, 1, 0, 0), 4, OP(2, 15)};
    for (size_t i = 0; i < COUNT_OF(leaves); i++)
        for (uint32_t have = 1; have <= 8; have *= 2) {
            struct world *w = malloc(sizeof *w);
            struct unwind_frame frame;
            REQUIRE(w != NULL);
            world_init(w, PE_MACHINE_X64);
            world_function(w, BEGIN, END, world_xdata(w, xdata, sizeof xdata));
            world_put(w, END - 0x20, leaves[i].code, sizeof leaves[i].code);
            w->missing = (struct unwind_range){END - 0x20 + have, END + 0x100};
            struct unwind_walker walker =
                world_walker(w, CPU_X64, END - 0x20, SP, PC_INTERRUPTED, &frame);
            test_row(leaves[i].name);
            CHECK_EQ(unwind_step_x64(&walker), STOP_NONE);
            const bool in_body = walker.regs.pc == WORLD_MARK + SP + 16;
            if (!CHECK_EQ(in_body, leaves[i].need == 0 || have < leaves[i].need))
                FAIL("with %u bytes", (unsigned)have);
            CHECK_HEX(frame.function_begin_rva, BEGIN);
            CHECK_HEX(frame.function_end_rva, END);
            world_free(w);
            free(w);
        }
}

/* The first instruction of an epilogue with a frame register: lea rsp, [register + n]. */
TEST(x64_frames_are_released_by_their_register)
{
    static const struct {
        const char *name;
        uint8_t reg, code[8];
        int32_t distance; /* of rsp from the register */
        bool leaves;
    } rows[] = {
        {"lea rsp, [rbp]", 5, {0x48, 0x8d, 0x65, 0x00, 0xc3}, 0, true},
        {"lea rsp, [rbp + 16]", 5, {0x48, 0x8d, 0x65, 0x10, 0xc3}, 16, true},
        {"lea rsp, [rbp - 16]", 5, {0x48, 0x8d, 0x65, 0xf0, 0xc3}, -16, true},
        {"lea rsp, [rbp + 0x100]", 5, {0x48, 0x8d, 0xa5, 0, 1, 0, 0, 0xc3}, 0x100, true},
        {"lea rsp, [rdi]", 7, {0x48, 0x8d, 0x27, 0xc3}, 0, true},
        {"lea rsp, [r13 + 8]", 13, {0x49, 0x8d, 0x65, 0x08, 0xc3}, 8, true},
        {"of another register", 5, {0x48, 0x8d, 0x67, 0x10, 0xc3}, 0, false},
        {"r13 for rbp", 5, {0x49, 0x8d, 0x65, 0x10, 0xc3}, 0, false},
        {"rbp for r13", 13, {0x48, 0x8d, 0x65, 0x10, 0xc3}, 0, false},
        {"lea rbp, [rbp + 16]", 5, {0x48, 0x8d, 0x6d, 0x10, 0xc3}, 0, false},
        {"a register alone is no place", 5, {0x48, 0x8d, 0xe5, 0x10, 0xc3}, 0, false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const uint8_t xdata[] = {HEAD(1, 0, 8, 2, rows[i].reg, 0), 8, OP(3, 0), 4, OP(2, 15)};
        struct world *w = malloc(sizeof *w);
        struct unwind_frame frame;
        REQUIRE(w != NULL);
        world_init(w, PE_MACHINE_X64);
        world_function(w, BEGIN, END, world_xdata(w, xdata, sizeof xdata));
        world_put(w, BEGIN + 0x40, rows[i].code, sizeof rows[i].code);
        struct unwind_walker walker =
            world_walker(w, CPU_X64, BEGIN + 0x40, SP, PC_INTERRUPTED, &frame);
        walker.regs.r[rows[i].reg] = WORLD_STACK_VA + 8 * 200;
        test_row(rows[i].name);
        CHECK_EQ(unwind_step_x64(&walker), STOP_NONE);
        CHECK_HEX(walker.regs.pc,
                  WORLD_MARK + (uint64_t)(200 + (rows[i].leaves ? rows[i].distance / 8 : 16)));
        world_free(w);
        free(w);
    }
}

/* x86: the return address is word SLOT from the stack pointer; ebp points to word 6. */
TEST(x86_instructions_that_leave)
{
    static const struct {
        const char *name;
        uint8_t code[12];
        int32_t slot; /* < 0: it does not leave */
        uint32_t taken;
    } rows[] = {
        {"bnd ret", {0xf2, 0xc3}, 0, 1},
        {"ret 0x104", {0xc2, 4, 1}, 0, 66},
        {"lea from ebp, of four bytes", {0x8d, 0xa5, 0xf8, 0xff, 0xff, 0xff, 0x5e, 0xc3}, 5, 6},
        {"mov esp, ebp, the other form", {0x8b, 0xe5, 0x5d, 0xc3}, 7, 8},
        {"mov of another register", {0x8b, 0xe4, 0xc3}, -1, 0},
        {"add esp, -4 goes back", {0x83, 0xc4, 0xfc, 0xc3}, -1, 0},
        {"sub esp, 8", {0x83, 0xec, 8, 0xc3}, -1, 0},
        {"every register", {0x58, 0x59, 0x5a, 0x5b, 0x5d, 0x5e, 0x5f, 0xc3}, 7, 8},
        {"xor eax, eax before", {0x31, 0xc0, 0xc3}, 0, 1},
        {"the other form", {0x33, 0xc0, 0xc3}, 0, 1},
        {"xor of two registers", {0x31, 0xc8, 0xc3}, -1, 0},
        {"xor esp, esp", {0x31, 0xe4, 0xc3}, -1, 0},
        {"mov eax, 5 before", {0xb8, 5, 0, 0, 0, 0xc3}, 0, 1},
        {"mov esp, 5", {0xbc, 5, 0, 0, 0, 0xc3}, -1, 0},
        {"mov ebp, 5", {0xbd, 5, 0, 0, 0, 0xc3}, -1, 0},
        {"nop before", {0x90, 0xc3}, 0, 1},
        {"jmp to a fixed pointer", {0xff, 0x25, 0, 0, 0, 0}, 0, 1},
        {"jmp eax may be a table", {0xff, 0xe0}, -1, 0},
        {"pop, and then it is none", {0x5e, 0xff, 0xe0}, 1, 2},
        {"call eax", {0x5e, 0xff, 0xd0}, -1, 0},
        {"a jump, of a function that is not known", {0xe9, 0, 4, 0, 0}, -1, 0},
    };
    static struct world w;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const uint8_t call[] = {0xe8, 0, 0, 0, 0};
        struct unwind_frame frame;
        world_init(&w, PE_MACHINE_X86);
        w.module.base_va = 0x400000; /* must fit in 32 bits */
        world_put(&w, BEGIN, rows[i].code, sizeof rows[i].code);
        world_put(&w, 0x1500 - 5, call, sizeof call);
        struct unwind_walker walker = world_walker(&w, CPU_X86, BEGIN, SP, PC_INTERRUPTED, &frame);
        walker.regs.pc = w.module.base_va + BEGIN;
        for (uint32_t k = 0; k < 16; k++) {
            const uint32_t word = rows[i].slot == (int32_t)k ? 0x401500 : 0x11 * k;
            memcpy((uint8_t *)&w.stack[SP] + k * sizeof word, &word, sizeof word);
        }
        walker.regs.r[REG_X86_EBP] = walker.regs.sp + 6 * 4;
        const uint64_t sp = walker.regs.sp;
        test_row(rows[i].name);
        CHECK_EQ(unwind_x86_epilogue(&walker, NULL), rows[i].slot >= 0);
        CHECK_HEX(walker.regs.sp, sp + 4 * (uint64_t)rows[i].taken);
        if (rows[i].slot >= 0)
            CHECK_HEX(frame.return_slot_va, sp + 4 * (uint64_t)rows[i].slot);
        world_free(&w);
    }
}

/* Probes of the stack, interrupted where they already use the new one; eax points into the old one.
 * mingw's ends with `mov ecx, [eax]; jmp [eax + 4]`, Microsoft's with `mov eax, [eax]; mov [esp],
 * eax; ret`. */
TEST(x86_probes_return_by_eax)
{
    enum { NONE = -1, RETURN = -2, NOWHERE = -3 }; /* what eax is, unless a word of the stack */
    static const struct {
        const char *name;
        uint8_t code[8];
        int32_t eax, at, slot; /* the word that has the return address, the word that is said */
        uint32_t taken;
        bool leaves;
    } rows[] = {
        {"mov ecx, [eax]", {0x8b, 0x08, 0xff, 0x60, 4}, 9, 10, 10, 0, true},
        {"jmp [eax + 4]", {0xff, 0x60, 4}, 9, 10, 10, 0, true},
        {"jmp [eax + 8] is none", {0xff, 0x60, 8}, 9, 10, 0, 0, false},
        {"mov eax, [eax]", {0x8b, 0x00, 0x89, 0x04, 0x24, 0xc3}, 9, 9, 9, 1, true},
        {"mov [esp], eax", {0x89, 0x04, 0x24, 0xc3}, RETURN, NONE, NONE, 1, true},
        {"mov [esp], eax, and no ret", {0x89, 0x04, 0x24, 0x90}, RETURN, NONE, 0, 0, false},
        {"no return address there", {0x8b, 0x08, 0xff, 0x60, 4}, 9, 9, 0, 0, false},
        {"no memory there", {0x8b, 0x08, 0xff, 0x60, 4}, NOWHERE, 9, 0, 0, false},
    };
    static struct world w;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const uint8_t call[] = {0xe8, 0, 0, 0, 0};
        struct unwind_frame frame;
        world_init(&w, PE_MACHINE_X86);
        w.module.base_va = 0x400000;
        world_put(&w, BEGIN, rows[i].code, sizeof rows[i].code);
        world_put(&w, 0x1500 - 5, call, sizeof call);
        struct unwind_walker walker = world_walker(&w, CPU_X86, BEGIN, SP, PC_INTERRUPTED, &frame);
        walker.regs.pc = w.module.base_va + BEGIN;
        for (uint32_t k = 0; k < 16; k++) {
            const uint32_t word = rows[i].at == (int32_t)k ? 0x401500 : 0x11 * k;
            memcpy((uint8_t *)&w.stack[SP] + k * sizeof word, &word, sizeof word);
        }
        const uint64_t sp = walker.regs.sp;
        walker.regs.r[0] = rows[i].eax == RETURN    ? 0x401500
                           : rows[i].eax == NOWHERE ? 0
                                                    : sp + 4 * (uint64_t)rows[i].eax;
        test_row(rows[i].name);
        if (CHECK_EQ(unwind_x86_epilogue(&walker, NULL), rows[i].leaves) && rows[i].leaves) {
            CHECK_HEX(walker.regs.pc, 0x401500);
            CHECK_EQ(frame.where, WHERE_EPILOGUE);
            CHECK_HEX(frame.return_slot_va,
                      rows[i].slot >= 0 ? sp + 4 * (uint64_t)rows[i].slot : 0);
        }
        CHECK_HEX(walker.regs.sp, sp + 4 * (uint64_t)rows[i].taken);
        world_free(&w);
    }
}

/* A jump into another function, or to the start of its own, is a tail call. The function is that of
 * a symbol file, 0x1100 to 0x1200; the pc is at 0x1140. */
TEST(x86_jumps_leave_by_their_target)
{
    static const struct {
        const char *name;
        uint8_t code[5];
        bool leaves;
    } rows[] = {
        {"to 0x10ff", {0xe9, 0xba, 0xff, 0xff, 0xff}, true},
        {"to its start", {0xe9, 0xbb, 0xff, 0xff, 0xff}, true},
        {"a byte after its start", {0xe9, 0xbc, 0xff, 0xff, 0xff}, false},
        {"to its last byte", {0xe9, 0xba, 0, 0, 0}, false},
        {"to its end", {0xe9, 0xbb, 0, 0, 0}, true},
        {"short, to its start", {0xeb, 0xbe}, true},
        {"short, a byte after it", {0xeb, 0xbf}, false},
        {"short, forwards", {0xeb, 0x7f}, false},
    };
    static struct world w;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const uint8_t call[] = {0xe8, 0, 0, 0, 0};
        const uint32_t return_va = 0x401500;
        struct unwind_frame frame;
        world_rules("MODULE windows x86 000000000000000000000000000000001 world.pdb\n"
                    "FUNC 1100 100 0 f\n");
        world_init(&w, PE_MACHINE_X86);
        w.module.base_va = 0x400000;
        w.process.breakpad = world_breakpad;
        world_put(&w, BEGIN + 0x40, rows[i].code, sizeof rows[i].code);
        world_put(&w, 0x1500 - 5, call, sizeof call);
        struct unwind_walker walker =
            world_walker(&w, CPU_X86, BEGIN + 0x40, SP, PC_INTERRUPTED, &frame);
        walker.regs.pc = w.module.base_va + BEGIN + 0x40;
        memcpy(&w.stack[SP], &return_va, sizeof return_va);
        test_row(rows[i].name);
        CHECK_EQ(unwind_x86_epilogue(&walker, NULL), rows[i].leaves);
        CHECK_HEX(walker.regs.pc, rows[i].leaves ? return_va : 0x400000 + BEGIN + 0x40);
        world_rules(NULL);
        world_free(&w);
    }
}

/* Pushes between the start of a function and the pc: how many bytes, and where ebp is among them;
 * and pushes of arguments just before the pc. */
TEST(x86_pushes_are_counted)
{
    static const struct {
        const char *name;
        uint8_t code[24], length;
        bool known; /* as the beginning of a function */
        uint32_t bytes, ebp_at, pushes;
    } rows[] = {
        {"nothing", {0}, 0, true, 0, UINT32_MAX, 0},
        {"push ebp", {0x55}, 1, true, 4, 0, 1},
        {"push ebx, ebp, esi", {0x53, 0x55, 0x56}, 3, true, 12, 4, 3},
        {"mov edi, edi; push ebp; sub esp, 8",
         {0x8b, 0xff, 0x55, 0x83, 0xec, 8},
         6,
         true,
         12,
         8,
         0},
        {"sub esp, 0x104; push esi", {0x81, 0xec, 4, 1, 0, 0, 0x56}, 7, true, 0x108, UINT32_MAX, 1},
        {"cut in an instruction", {0x81, 0xec, 4, 1}, 4, false, 0, 0, 0},
        {"another instruction", {0x55, 0x90}, 2, false, 0, 0, 0},
        {"push 1", {0x90, 0x6a, 1}, 3, false, 0, 0, 1},
        {"push 0x12345678", {0x90, 0x68, 0x78, 0x56, 0x34, 0x12}, 6, false, 0, 0, 1},
        {"push [eax]", {0x90, 0xff, 0x30}, 3, false, 0, 0, 1},
        {"push [esp]", {0x90, 0xff, 0x34, 0x24}, 4, false, 0, 0, 1},
        {"push [ebp + 8]", {0x90, 0xff, 0x75, 8}, 4, false, 0, 0, 1},
        {"push [esp + 8]", {0x90, 0xff, 0x74, 0x24, 8}, 5, false, 0, 0, 1},
        {"push [ebp + 0x100]", {0x90, 0xff, 0xb5, 0, 1, 0, 0}, 7, false, 0, 0, 1},
        {"push [esp + 0x100]", {0x90, 0xff, 0xb4, 0x24, 0, 1, 0, 0}, 8, false, 0, 0, 1},
        {"push [0x401000]", {0x90, 0xff, 0x35, 0, 0x10, 0x40, 0}, 7, false, 0, 0, 1},
        {"call [eax]", {0x90, 0xff, 0x10}, 3, false, 0, 0, 0},
        {"three of them", {0x90, 0x6a, 1, 0xff, 0x75, 8, 0x50}, 7, false, 0, 0, 3},
    };
    static struct world w;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct unwind_frame frame;
        uint32_t bytes, ebp_at = UINT32_MAX;
        world_init(&w, PE_MACHINE_X86);
        w.module.base_va = 0x400000;
        world_put(&w, BEGIN, rows[i].code, sizeof rows[i].code);
        struct unwind_walker walker =
            world_walker(&w, CPU_X86, BEGIN + rows[i].length, SP, PC_INTERRUPTED, &frame);
        walker.regs.pc = 0x400000 + BEGIN + rows[i].length;
        test_row(rows[i].name);
        CHECK_EQ(unwind_x86_pushed(&walker, 0x400000 + BEGIN, &bytes, &ebp_at), rows[i].known);
        if (rows[i].known) {
            CHECK_EQ(bytes, rows[i].bytes);
            CHECK_EQ(ebp_at, rows[i].ebp_at);
        }
        CHECK_EQ(unwind_x86_pushes(&walker, 0x400000 + BEGIN), rows[i].pushes);
        world_free(&w);
    }
}

/* The worked example at the head of x64_epilogue.c: where its jump goes, and what each pc gives. */
TEST(the_example_of_an_x64_epilogue)
{
    static const uint8_t code[] = {0x48, 0x83, 0xc4, 0x20, 0x5b, 0x41, 0x5c};
    static const struct {
        const char *name;
        uint8_t end[5];
        bool leaves;
    } ends[] = {
        {"ret", {0xc3}, true},
        {"jmp 0x1320", {0xe9, 0x24, 0x01, 0, 0}, true},
        {"jmp 0x1150", {0xe9, 0x54, 0xff, 0xff, 0xff}, false},
        {"jmp 0x1100", {0xe9, 0x04, 0xff, 0xff, 0xff}, true},
    };
    static const struct {
        uint32_t pc, rsp; /* rsp: bytes from S */
        bool pops_rbx, pops_r12;
    } places[] = {
        {0x11f0, 0, true, true},
        {0x11f4, 32, true, true},
        {0x11f5, 40, false, true},
        {0x11f7, 48, false, false},
    };
    static const uint8_t xdata[] = {HEAD(1, 0, 7, 3, 0, 0), 7, OP(2, 3), 3, OP(0, 3), 2, OP(0, 12)};
    for (size_t i = 0; i < COUNT_OF(ends) * COUNT_OF(places); i++) {
        const size_t end = i / COUNT_OF(places), at = i % COUNT_OF(places);
        struct world *w = malloc(sizeof *w);
        struct unwind_frame frame;
        REQUIRE(w != NULL);
        world_init(w, PE_MACHINE_X64);
        world_function(w, BEGIN, END, world_xdata(w, xdata, sizeof xdata));
        world_put(w, 0x11f0, code, sizeof code);
        world_put(w, 0x11f7, ends[end].end, sizeof ends[end].end);
        struct unwind_walker walker = world_walker(w, CPU_X64, places[at].pc,
                                                   SP + places[at].rsp / 8, PC_INTERRUPTED, &frame);
        const uint64_t rbx = walker.regs.r[3], r12 = walker.regs.r[12];
        test_row(ends[end].name);
        CHECK_EQ(unwind_step_x64(&walker), STOP_NONE);
        CHECK_STR(unwind_where_name(frame.where),
                  unwind_where_name(ends[end].leaves ? WHERE_EPILOGUE : WHERE_BODY));
        if (ends[end].leaves) {
            CHECK_HEX(walker.regs.pc, WORLD_MARK + SP + 48 / 8);
            CHECK_HEX(walker.regs.r[3], places[at].pops_rbx ? WORLD_MARK + SP + 32 / 8 : rbx);
            CHECK_HEX(walker.regs.r[12], places[at].pops_r12 ? WORLD_MARK + SP + 40 / 8 : r12);
            CHECK_HEX(walker.regs.sp, WORLD_STACK_VA + 8 * (SP + 56 / 8));
        } else {
            CHECK_HEX(walker.regs.pc, WORLD_MARK + SP + places[at].rsp / 8 + 48 / 8);
        }
        world_free(w);
        free(w);
    }
}

/* Microsoft's "ARM64 exception handling", epilogue scopes: a start in words, and the number of its
 * first code. The function has 0xf00 bytes; its prologue is stp x19,x20,[sp,#-16]!; stp
 * fp,lr,[sp,#-16]!; mov fp,sp and its epilogue ldp fp,lr,[sp],#16; ldp x19,x20,[sp],#16; ret. */
TEST(arm64_epilogues_are_where_their_scopes_say)
{
    enum { FUNCTION_BYTES = 0xf00, FIRST_CODE = 4, CODE_WORDS = 2, FP = 29, LR = 30 };
    static const uint8_t undone[] = {0xe1, 0x81, 0x22, 0xe4, 0x81, 0x22, 0xe4, 0xe3};
    static const uint32_t starts[] = {0x40, 0x804, 0xe00};
    static const struct {
        const char *name;
        int32_t into, pc_slot, sp_words, x19_slot; /* from the epilogue; a slot of -1: unchanged */
        enum unwind_where where;
    } rows[] = {
        {"before it", -4, SP + 1, SP + 4, SP + 2, WHERE_BODY},
        {"at its first instruction", 0, SP + 1, SP + 4, SP + 2, WHERE_EPILOGUE},
        {"after the first load", 4, -1, SP + 2, SP, WHERE_EPILOGUE},
        {"at ret", 8, -1, SP, -1, WHERE_EPILOGUE},
        {"after it", 12, SP + 1, SP + 4, SP + 2, WHERE_BODY},
    };
    static struct world w;
    for (size_t i = 0; i < COUNT_OF(starts) * COUNT_OF(rows); i++) {
        const uint32_t start = starts[i / COUNT_OF(rows)];
        const size_t row = i % COUNT_OF(rows);
        const uint32_t head[] = {FUNCTION_BYTES / 4 | 1u << 22 | (uint32_t)CODE_WORDS << 27,
                                 start / 4 | (uint32_t)FIRST_CODE << 22};
        struct unwind_frame frame;
        uint8_t xdata[sizeof head + sizeof undone];
        char name[64];
        (void)snprintf(name, sizeof name, "0x%x, %s", (unsigned)start, rows[row].name);
        test_row(name);
        memcpy(xdata, head, sizeof head);
        memcpy(xdata + sizeof head, undone, sizeof undone);
        world_init(&w, PE_MACHINE_ARM64);
        world_function_arm64(&w, BEGIN, world_xdata(&w, xdata, sizeof xdata));
        struct unwind_walker walker = world_walker(
            &w, CPU_ARM64, BEGIN + start + (uint32_t)rows[row].into, SP, PC_INTERRUPTED, &frame);
        walker.regs.r[FP] = walker.regs.sp;
        const uint64_t lr = walker.regs.r[LR], x19 = walker.regs.r[19];
        CHECK(unwind_step_arm64(&walker) == STOP_NONE);
        CHECK_STR(unwind_where_name(frame.where), unwind_where_name(rows[row].where));
        CHECK_HEX(walker.regs.pc,
                  rows[row].pc_slot < 0 ? lr : WORLD_MARK + (uint64_t)rows[row].pc_slot);
        CHECK_HEX(walker.regs.sp, WORLD_STACK_VA + 8 * (uint64_t)rows[row].sp_words);
        CHECK_HEX(walker.regs.r[19],
                  rows[row].x19_slot < 0 ? x19 : WORLD_MARK + (uint64_t)rows[row].x19_slot);
        world_free(&w);
    }
}
