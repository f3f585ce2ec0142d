/* The ways of finding a caller that the processors share: what a return address is, the chain of
 * frame pointers, the scan. Instructions are encoded by hand after Intel's and Arm's manuals. */
#include <string.h>

#include "test.h"
#include "unwind_world.h"

enum { BASE = 0x400000, RETURN_RVA = 0x1500, SP = 64 };

static const uint16_t machines[CPU_COUNT] = {[CPU_X86] = PE_MACHINE_X86,
                                             [CPU_X64] = PE_MACHINE_X64,
                                             [CPU_ARM64] = PE_MACHINE_ARM64,
                                             [CPU_ARM] = PE_MACHINE_ARM};

/* A walker in a world of CPU, whose code is x86's nop and whose stack is empty. */
static struct unwind_walker make(struct world *w, enum cpu cpu, enum pc_kind kind,
                                 struct unwind_frame *frame)
{
    world_init(w, machines[cpu]);
    w->module.base_va = BASE;
    memset(w->image + WORLD_TEXT_RVA, 0x90, WORLD_XDATA_RVA - WORLD_TEXT_RVA);
    memset(w->stack, 0, sizeof w->stack);
    return world_walker(w, cpu, 0x1300, SP, kind, frame);
}

/* The bytes that end at an address. FF /2 with each form of the bytes of its operand. */
static const struct {
    const char *name;
    uint8_t code[8], bytes;
    bool is_call;
} x86_calls[] = {
    {"call rel32", {0xe8, 1, 2, 3, 4}, 5, true},
    {"call rel32 of four bytes", {0xe8, 2, 3, 4}, 4, false},
    {"call rel32, and a nop", {0xe8, 1, 2, 3, 4, 0x90}, 6, false},
    {"jmp rel32", {0xe9, 1, 2, 3, 4}, 5, false},
    {"call rax", {0xff, 0xd0}, 2, true},
    {"call r11", {0x41, 0xff, 0xd3}, 3, true},
    {"call rsp", {0xff, 0xd4}, 2, true},
    {"call rax, and a nop", {0xff, 0xd0, 0x90}, 3, false},
    {"call [rax]", {0xff, 0x10}, 2, true},
    {"call [rax], and a nop", {0xff, 0x10, 0x90}, 3, false},
    {"call [rip + 4]", {0xff, 0x15, 4, 0, 0, 0}, 6, true},
    {"call [rip + 4] of a byte less", {0xff, 0x15, 4, 0, 0}, 5, false},
    {"call [rip] without its distance", {0xff, 0x15}, 2, false},
    {"call [rsp]", {0xff, 0x14, 0x24}, 3, true},
    {"call [rsp] of a byte less", {0xff, 0x14}, 2, false},
    {"call [rax + rcx * 8]", {0xff, 0x14, 0xc8}, 3, true},
    {"call [rcx * 8 + 4]", {0xff, 0x14, 0xcd, 4, 0, 0, 0}, 7, true},
    {"call [rcx * 8] without its distance", {0xff, 0x14, 0xcd}, 3, false},
    {"call [rax + 8]", {0xff, 0x50, 8}, 3, true},
    {"call [rbp + 8]", {0xff, 0x55, 8}, 3, true},
    {"call [rbp] without its distance", {0xff, 0x55}, 2, false},
    {"call [rsp + 8]", {0xff, 0x54, 0x24, 8}, 4, true},
    {"call [rsp] without its distance", {0xff, 0x54, 0x24}, 3, false},
    {"call [rbp + rcx * 1 + 8]", {0xff, 0x54, 0x0d, 8}, 4, true},
    {"call [rax + 0x100]", {0xff, 0x90, 0, 1, 0, 0}, 6, true},
    {"call [rbp + 0x100]", {0xff, 0x95, 0, 1, 0, 0}, 6, true},
    {"call [rax + 0x100] of a byte less", {0xff, 0x90, 0, 1, 0}, 5, false},
    {"call [rsp + 0x100]", {0xff, 0x94, 0x24, 0, 1, 0, 0}, 7, true},
    {"call [rsp + 0x100] of a byte less", {0xff, 0x94, 0x24, 0, 1, 0}, 6, false},
    {"inc eax", {0xff, 0xc0}, 2, false},
    {"call far [rax]", {0xff, 0x18}, 2, false},
    {"jmp rax", {0xff, 0xe0}, 2, false},
    {"push [rax]", {0xff, 0x30}, 2, false},
    {"another instruction with 0xd0", {0xfe, 0xd0}, 2, false},
    {"nop", {0x90}, 1, false},
};

TEST(calls_of_x86_and_x64)
{
    static struct world w;
    struct unwind_frame frame;
    for (size_t i = 0; i < COUNT_OF(x86_calls); i++)
        for (int cpu = CPU_X86; cpu <= CPU_X64; cpu++) {
            struct unwind_walker walker = make(&w, (enum cpu)cpu, PC_RETURN, &frame);
            const uint8_t bytes = x86_calls[i].bytes;
            test_row(x86_calls[i].name);
            world_put(&w, RETURN_RVA - bytes, x86_calls[i].code, bytes);
            CHECK_EQ(unwind_is_return(&walker, BASE + RETURN_RVA), x86_calls[i].is_call);
            w.missing = (struct unwind_range){RETURN_RVA - 7, RETURN_RVA - 6};
            CHECK(unwind_is_return(&walker, BASE + RETURN_RVA)); /* not known: it may be */
            world_free(&w);
        }
}

static const struct {
    const char *name;
    enum cpu cpu;
    uint32_t before, last; /* the two words that end at the address */
    bool is_call;          /* at a multiple of 4 */
    bool is_thumb;         /* and at the halfword after one, too */
} arm_calls[] = {
    {"bl forwards", CPU_ARM64, 0, 0x94000001, true, false},
    {"bl backwards", CPU_ARM64, 0, 0x97ffffff, true, false},
    {"b", CPU_ARM64, 0, 0x14000001, false, false},
    {"blr x0", CPU_ARM64, 0, 0xd63f0000, true, false},
    {"blr x30", CPU_ARM64, 0, 0xd63f03c0, true, false},
    {"br x0", CPU_ARM64, 0, 0xd61f0000, false, false},
    {"ret", CPU_ARM64, 0, 0xd65f03c0, false, false},
    {"blr with a bit that it has not", CPU_ARM64, 0, 0xd63f0001, false, false},
    {"blraaz x0", CPU_ARM64, 0, 0xd63f081f, true, false},
    {"blrabz x1", CPU_ARM64, 0, 0xd63f0c3f, true, false},
    {"blraa x0, x1", CPU_ARM64, 0, 0xd73f0801, true, false},
    {"blrab x8, x9", CPU_ARM64, 0, 0xd73f0d09, true, false},
    {"braa x0, x1", CPU_ARM64, 0, 0xd71f0801, false, false},
    {"bl one instruction earlier", CPU_ARM64, 0x94000001, 0xd503201f, false, false},
    {"bl", CPU_ARM, 0, 0xeb000010, true, false},
    {"blne", CPU_ARM, 0, 0x1b000010, true, false},
    {"b", CPU_ARM, 0, 0xea000010, false, false},
    {"blx to Thumb code", CPU_ARM, 0, 0xfa000010, true, false},
    {"blx to its second halfword", CPU_ARM, 0, 0xfb000010, true, false},
    {"blx r3", CPU_ARM, 0, 0xe12fff33, true, false},
    {"bx r3", CPU_ARM, 0, 0xe12fff13, false, false},
    {"mov lr, pc; bx r3", CPU_ARM, 0xe1a0e00f, 0xe12fff13, true, true},
    {"mov lr, r3; bx r3", CPU_ARM, 0xe1a0e003, 0xe12fff13, false, false},
    {"Thumb bl forwards", CPU_ARM, 0, 0xf800f000, true, true},
    {"Thumb bl backwards", CPU_ARM, 0, 0xfffef7ff, true, true},
    {"Thumb b.w", CPU_ARM, 0, 0xb800f000, false, false},
    {"Thumb blx", CPU_ARM, 0, 0xe800f000, true, true},
    {"Thumb blx with a bit that it has not", CPU_ARM, 0, 0xe801f000, false, false},
    {"Thumb blx r3", CPU_ARM, 0, 0x47980000, true, true},
    {"Thumb blx lr", CPU_ARM, 0, 0x47f00000, true, true},
    {"Thumb bx lr", CPU_ARM, 0, 0x47700000, false, false},
};

TEST(calls_of_arm64_and_arm)
{
    static struct world w;
    struct unwind_frame frame;
    for (size_t i = 0; i < COUNT_OF(arm_calls); i++)
        for (uint32_t shift = 0; shift <= 2; shift += 2) {
            if (shift != 0 && arm_calls[i].cpu == CPU_ARM64)
                continue; /* code is only at multiples of 4 */
            struct unwind_walker walker = make(&w, arm_calls[i].cpu, PC_RETURN, &frame);
            const uint32_t words[] = {arm_calls[i].before, arm_calls[i].last};
            const uint32_t rva = RETURN_RVA + shift;
            test_row(arm_calls[i].name);
            world_put(&w, rva - 8, words, sizeof words);
            CHECK_EQ(unwind_is_return(&walker, BASE + rva),
                     shift == 0 ? arm_calls[i].is_call : arm_calls[i].is_thumb);
            w.missing = (struct unwind_range){rva - 1, rva};
            CHECK(unwind_is_return(&walker, BASE + rva));
            world_free(&w);
        }
}

/* A return address is after a call in an executable section, here from 0x1000 to 0x1fff, and none
 * is in the first 64 KiB, which no program can map. */
TEST(where_a_return_address_can_be)
{
    static const struct {
        const char *name;
        uint64_t base_va;
        uint32_t rva;
        bool is_code, is_return;
    } rows[] = {
        {"before the section", BASE, 0xfff, false, false},
        {"its first byte", BASE, 0x1000, true, false},
        {"its second byte", BASE, 0x1001, true, true},
        {"its last byte", BASE, 0x1fff, true, true},
        {"after it: the call is in it", BASE, 0x2000, false, true},
        {"two bytes after it", BASE, 0x2001, false, false},
        {"outside the module", BASE, 0x100000, false, false},
        {"at 64 KiB", 0xe800, 0x1800, true, false},
        {"after 64 KiB", 0xe800, 0x1801, true, true},
    };
    static struct world w;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        static const uint8_t call[] = {0xe8, 1, 2, 3, 4};
        struct unwind_frame frame;
        test_row(rows[i].name);
        struct unwind_walker walker = make(&w, CPU_X64, PC_RETURN, &frame);
        w.module.base_va = rows[i].base_va;
        if (rows[i].rva < WORLD_IMAGE_BYTES)
            world_put(&w, rows[i].rva - 5, call, sizeof call);
        CHECK_EQ(unwind_is_code(&walker, rows[i].base_va + rows[i].rva), rows[i].is_code);
        CHECK_EQ(unwind_is_return(&walker, rows[i].base_va + rows[i].rva), rows[i].is_return);
        world_free(&w);
    }
}

static void put_word(struct world *w, enum cpu cpu, uint64_t va, uint64_t value)
{
    if (va - WORLD_STACK_VA < sizeof w->stack)
        memcpy((uint8_t *)w->stack + (va - WORLD_STACK_VA), &value, cpu_pointer_bytes(cpu));
}

enum { NEXT = 0x400, STACK_END = (WORLD_STACK_WORDS - SP) * 8 };

/* A frame pointer of DISTANCE bytes from the stack pointer, to {NEXT, BACK}. */
static const struct {
    const char *name;
    enum cpu cpu;
    int32_t distance;
    int32_t next;  /* bytes from the stack pointer */
    uint64_t back; /* 0: none; else RVA, of which RETURN_RVA alone follows a call */
    bool found;
} links[] = {
    {"at the stack pointer", CPU_X64, 0, NEXT, RETURN_RVA, true},
    {"above it", CPU_X64, 64, NEXT, RETURN_RVA, true},
    {"below it", CPU_X64, -8, NEXT, RETURN_RVA, false},
    {"at no multiple of 8", CPU_X64, 68, NEXT, RETURN_RVA, false},
    {"x86, at a multiple of 4", CPU_X86, 68, NEXT, RETURN_RVA, true},
    {"x86, at no multiple of 4", CPU_X86, 66, NEXT, RETURN_RVA, false},
    {"arm64", CPU_ARM64, 64, NEXT, RETURN_RVA, true},
    {"to itself", CPU_X64, 64, 64, RETURN_RVA, false},
    {"the last of a chain", CPU_X64, 64, 64, 0, true},
    {"to no return address", CPU_X64, 64, NEXT, RETURN_RVA + 1, false},
    {"at the last two words of the stack", CPU_X64, STACK_END - 16, NEXT, RETURN_RVA, true},
    {"at its last word", CPU_X64, STACK_END - 8, NEXT, RETURN_RVA, false},
    {"at its end", CPU_X64, STACK_END, NEXT, RETURN_RVA, false},
};

TEST(a_chain_of_frame_pointers)
{
    enum { FP = 5 };
    static const uint8_t call[] = {0xe8, 1, 2, 3, 4}, bl[] = {1, 0, 0, 0x94};
    static struct world w;
    for (size_t i = 0; i < COUNT_OF(links); i++) {
        const enum cpu cpu = links[i].cpu;
        const uint32_t size = cpu_pointer_bytes(cpu);
        struct unwind_frame frame;
        test_row(links[i].name);
        struct unwind_walker walker = make(&w, cpu, PC_RETURN, &frame);
        const uint64_t sp = walker.regs.sp, pc = walker.regs.pc;
        const uint64_t fp = sp + (uint64_t)(int64_t)links[i].distance;
        const uint64_t back = links[i].back != 0 ? BASE + links[i].back : 0;
        if (cpu == CPU_ARM64)
            world_put(&w, RETURN_RVA - 4, bl, sizeof bl);
        else
            world_put(&w, RETURN_RVA - 5, call, sizeof call);
        walker.regs.r[FP] = fp;
        put_word(&w, cpu, fp, sp + (uint64_t)(int64_t)links[i].next);
        if (links[i].distance + 2 * (int32_t)size <= STACK_END)
            put_word(&w, cpu, fp + size, back);
        CHECK_EQ(unwind_frame_pointer(&walker, FP), links[i].found);
        CHECK_HEX(walker.regs.sp, links[i].found ? fp + 2 * (uint64_t)size : sp);
        CHECK_HEX(walker.regs.pc, links[i].found ? back : pc);
        CHECK_HEX(walker.regs.r[FP], links[i].found ? sp + (uint64_t)(int64_t)links[i].next : fp);
        CHECK_HEX(frame.return_slot_va, links[i].found ? fp + size : 0);
        CHECK_STR(found_by_name(walker.caller_found), links[i].found ? "frame_pointer" : "unwind");
        world_free(&w);
    }
}

/* x64 aligns the stack to 16 bytes at a call, so return addresses are only in every second word. */
static const struct {
    const char *name;
    enum cpu cpu;
    enum pc_kind kind;
    uint32_t word; /* that has the return address, from the stack pointer */
    enum stop_reason stop;
} scans[] = {
    {"x64, the first word that can", CPU_X64, PC_RETURN, 1, STOP_NONE},
    {"x64, a word that cannot", CPU_X64, PC_RETURN, 2, STOP_SCAN_REACH},
    {"x64, the last that is searched", CPU_X64, PC_RETURN, 39, STOP_NONE},
    {"x64, after it", CPU_X64, PC_RETURN, 41, STOP_SCAN_REACH},
    {"x64, the last from an interrupted frame", CPU_X64, PC_INTERRUPTED, 159, STOP_NONE},
    {"x64, after it, from an interrupted frame", CPU_X64, PC_INTERRUPTED, 161, STOP_SCAN_REACH},
    {"x86, at the stack pointer", CPU_X86, PC_RETURN, 0, STOP_NONE},
    {"x86, the last that is searched", CPU_X86, PC_RETURN, 39, STOP_NONE},
    {"x86, after it", CPU_X86, PC_RETURN, 40, STOP_SCAN_REACH},
    {"x86, the last from an interrupted frame", CPU_X86, PC_INTERRUPTED, 159, STOP_NONE},
    {"x86, after it, from an interrupted frame", CPU_X86, PC_INTERRUPTED, 160, STOP_SCAN_REACH},
};

TEST(a_scan_of_the_stack)
{
    static const uint8_t call[] = {0xe8, 1, 2, 3, 4};
    static struct world w;
    for (size_t i = 0; i < COUNT_OF(scans); i++) {
        const uint32_t size = cpu_pointer_bytes(scans[i].cpu);
        struct unwind_frame frame;
        test_row(scans[i].name);
        struct unwind_walker walker = make(&w, scans[i].cpu, scans[i].kind, &frame);
        const uint64_t sp = walker.regs.sp, slot = sp + (uint64_t)scans[i].word * size;
        world_put(&w, RETURN_RVA - 5, call, sizeof call);
        put_word(&w, scans[i].cpu, slot, BASE + RETURN_RVA);
        CHECK_EQ(unwind_scan(&walker), scans[i].stop);
        const bool found = scans[i].stop == STOP_NONE;
        CHECK_HEX(walker.regs.sp, found ? slot + size : sp);
        CHECK_HEX(frame.return_slot_va, found ? slot : 0);
        if (found)
            CHECK_HEX(walker.regs.pc, BASE + RETURN_RVA);
        world_free(&w);
    }
}

TEST(a_scan_near_the_end_of_the_stack)
{
    static const struct {
        const char *name;
        enum cpu cpu;
        uint32_t from; /* bytes before the end of the stack */
        enum stop_reason stop;
    } rows[] = {
        {"x86, at the end", CPU_X86, 0, STOP_MEMORY},
        {"x86, a word before it", CPU_X86, 4, STOP_SCAN_STACK_END},
        {"x86, two bytes before it", CPU_X86, 2, STOP_SCAN_STACK_END},
        {"x86, as many words as are searched", CPU_X86, 4 * 40, STOP_SCAN_REACH},
        {"x86, one less", CPU_X86, 4 * 39, STOP_SCAN_STACK_END},
        {"x64, a word before it", CPU_X64, 8, STOP_SCAN_STACK_END},
        {"x64, as many words as are searched", CPU_X64, 8 * 40, STOP_SCAN_REACH},
    };
    static struct world w;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct unwind_frame frame;
        test_row(rows[i].name);
        struct unwind_walker walker = make(&w, rows[i].cpu, PC_RETURN, &frame);
        walker.regs.sp = WORLD_STACK_VA + sizeof w.stack - rows[i].from;
        CHECK_EQ(unwind_scan(&walker), rows[i].stop);
        world_free(&w);
    }
}

/* A word that looks like a pointer to a function is taken only where its bytes show a call. */
TEST(a_scan_finds_no_pointers_to_functions)
{
    static const struct {
        const char *name;
        enum cpu cpu;
        uint32_t rva;
        bool readable;
        enum stop_reason stop;
    } rows[] = {
        {"x64, the start of a function after a call", CPU_X64, 0x1500, true, STOP_NONE},
        {"x64, unreadable", CPU_X64, 0x1500, false, STOP_SCAN_REACH},
        {"x64, unreadable, not at a multiple of 16", CPU_X64, 0x1508, false, STOP_NONE},
        {"x86, unreadable", CPU_X86, 0x1500, false, STOP_SCAN_REACH},
        {"arm64, unreadable", CPU_ARM64, 0x1500, false, STOP_NONE},
    };
    static struct world w;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        static const uint8_t call[] = {0xe8, 1, 2, 3, 4};
        struct unwind_frame frame;
        test_row(rows[i].name);
        struct unwind_walker walker = make(&w, rows[i].cpu, PC_RETURN, &frame);
        world_put(&w, rows[i].rva - 5, call, sizeof call);
        put_word(&w, rows[i].cpu, walker.regs.sp + cpu_pointer_bytes(rows[i].cpu),
                 BASE + rows[i].rva);
        if (!rows[i].readable)
            w.missing = (struct unwind_range){0x1400, 0x1600};
        CHECK_EQ(unwind_scan(&walker), rows[i].stop);
        world_free(&w);
    }
}

TEST(one_return_address_is_popped)
{
    static const struct {
        const char *name;
        enum cpu cpu;
        uint32_t from; /* bytes before the end of the stack */
        enum stop_reason stop;
    } rows[] = {
        {"x64, the last word", CPU_X64, 8, STOP_NONE},
        {"x64, half a word", CPU_X64, 4, STOP_MEMORY},
        {"x86, the last word", CPU_X86, 4, STOP_NONE},
        {"x86, at the end", CPU_X86, 0, STOP_MEMORY},
    };
    static struct world w;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct unwind_frame frame;
        test_row(rows[i].name);
        struct unwind_walker walker = make(&w, rows[i].cpu, PC_RETURN, &frame);
        const uint64_t sp = WORLD_STACK_VA + sizeof w.stack - rows[i].from;
        const uint64_t value = rows[i].cpu == CPU_X86 ? 0x89abcdef : 0x123456789abcdef0;
        walker.regs.sp = sp;
        put_word(&w, rows[i].cpu, sp, value);
        CHECK_EQ(unwind_pop(&walker, FOUND_LEAF, NOTE_EXPORTS_UNREADABLE), rows[i].stop);
        if (rows[i].stop == STOP_NONE) {
            CHECK_HEX(walker.regs.pc, value);
            CHECK_HEX(walker.regs.sp, sp + cpu_pointer_bytes(rows[i].cpu));
            CHECK_HEX(frame.return_slot_va, sp);
            CHECK_EQ(walker.caller_found, FOUND_LEAF);
            CHECK_EQ(walker.caller_note, NOTE_EXPORTS_UNREADABLE);
        }
        world_free(&w);
    }
}

TEST(what_is_no_part_of_an_address_is_stripped)
{
    static const struct {
        enum cpu cpu;
        uint64_t va, want;
    } rows[] = {
        {CPU_ARM, 0x401501, 0x401500},
        {CPU_ARM, 0x401503, 0x401502},
        {CPU_ARM64, 0xabcd800000001501, 0x800000001501},
        {CPU_X64, 0xffff800000001501, 0xffff800000001501},
        {CPU_X86, 0x401501, 0x401501},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct unwind_walker walker = {.regs.cpu = rows[i].cpu};
        test_row(cpu_name(rows[i].cpu));
        CHECK_HEX(unwind_strip(&walker, rows[i].va), rows[i].want);
    }
}
