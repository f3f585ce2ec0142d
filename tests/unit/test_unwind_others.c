/* arm64 and x86 unwinding, and what all processors share: walking through exception dispatchers. */
#include <stdio.h>
#include <string.h>

#include "test.h"
#include "unwind/arm64_info.h"
#include "unwind/x86_code.h"
#include "unwind/x86_program.h"
#include "unwind_world.h"

enum { BEGIN = 0x1100, SP = 64, NOT_SAVED = 99, DECOY = 0x401520 };

/* A packed word for a function of 0x100 bytes. */
#define PACKED(flag, reg_f, reg_i, homes, cr, frame)                                               \
    ((uint32_t)(flag) | 0x40u << 2 | (uint32_t)(reg_f) << 13 | (uint32_t)(reg_i) << 16 |           \
     (uint32_t)(homes) << 20 | (uint32_t)(cr) << 21 | (uint32_t)((frame) / 16) << 23)

static const struct {
    const char *name;
    uint32_t word;
    uint32_t into;             /* bytes into the function */
    int32_t pc_slot, sp_words; /* the caller's pc is this word's mark, -1: lr; the caller's sp */
    int reg;
    int32_t reg_slot;
    enum unwind_where where;
} packed[] = {
    {"chained frame: stp fp,lr,[sp,#-32]!; mov fp,sp", PACKED(1, 0, 0, 0, 3, 32), 0x40, SP + 1,
     SP + 4, 29, SP, WHERE_BODY},
    {"same, at its first instruction", PACKED(1, 0, 0, 0, 3, 32), 0, -1, SP, 29, -1,
     WHERE_PROLOGUE},
    {"same, after the store", PACKED(1, 0, 0, 0, 3, 32), 4, SP + 1, SP + 4, 29, SP, WHERE_PROLOGUE},
    {"same, at ret", PACKED(1, 0, 0, 0, 3, 32), 0xfc, -1, SP, 29, -1, WHERE_EPILOGUE},
    {"same, at the load", PACKED(1, 0, 0, 0, 3, 32), 0xf8, SP + 1, SP + 4, 29, SP, WHERE_EPILOGUE},
    {"x19, x20 and a chained frame", PACKED(1, 0, 2, 0, 3, 48), 0x40, SP + 1, SP + 6, 20, SP + 5,
     WHERE_BODY},
    {"lr alone", PACKED(1, 0, 0, 0, 1, 16), 0x40, SP, SP + 2, -1, 0, WHERE_BODY},
    {"x19 beside lr", PACKED(1, 0, 1, 0, 1, 16), 0x40, SP + 1, SP + 2, 19, SP, WHERE_BODY},
    {"x19 to x21, lr, 32 bytes of locals", PACKED(1, 0, 3, 0, 1, 64), 0x40, SP + 4 + 3, SP + 8, 21,
     SP + 4 + 2, WHERE_BODY},
    {"d8, d9 above x19, x20", PACKED(1, 1, 2, 0, 0, 32), 0x40, -1, SP + 4, 19, SP, WHERE_BODY},
    {"homed parameters and a chain: no space before the chain", PACKED(1, 0, 0, 1, 3, 96), 4,
     SP + 1, SP + 12, 29, SP, WHERE_PROLOGUE},
    {"same, homing in the body", PACKED(1, 0, 0, 1, 3, 96), 0xc, SP + 1, SP + 12, 29, SP,
     WHERE_BODY},
    {"same, at the load", PACKED(1, 0, 0, 1, 3, 96), 0xf8, SP + 1, SP + 12, 29, SP, WHERE_EPILOGUE},
    {"homed parameters and locals: one allocation", PACKED(1, 0, 0, 1, 0, 112), 4, -1, SP + 14, -1,
     0, WHERE_BODY},
    {"512 bytes of locals below a chain", PACKED(1, 0, 0, 0, 3, 512), 4, SP + 1, SP + 64, 29, SP,
     WHERE_PROLOGUE},
    {"528 bytes, which take a subtraction of their own", PACKED(1, 0, 0, 0, 3, 528), 4, -1, SP + 66,
     29, -1, WHERE_PROLOGUE},
    {"same, in the body", PACKED(1, 0, 0, 0, 3, 528), 0x40, SP + 1, SP + 66, 29, SP, WHERE_BODY},
    {"4,096 bytes of locals: two subtractions", PACKED(1, 0, 0, 0, 0, 4096), 0x40, -1, SP + 512, -1,
     0, WHERE_BODY},
    {"same, after the first", PACKED(1, 0, 0, 0, 0, 4096), 4, -1, SP + 510, -1, 0, WHERE_PROLOGUE},
    {"4,080 bytes: one", PACKED(1, 0, 0, 0, 0, 4080), 4, -1, SP + 510, -1, 0, WHERE_BODY},
    {"fragment: everything is undone", PACKED(2, 0, 0, 0, 3, 32), 0, SP + 1, SP + 4, 29, SP,
     WHERE_BODY},
};

TEST(arm64_packed_words_are_undone)
{
    static struct world w;
    for (size_t i = 0; i < COUNT_OF(packed); i++) {
        struct unwind_frame frame;
        test_row(packed[i].name);
        world_init(&w, PE_MACHINE_ARM64);
        world_function_arm64(&w, BEGIN, packed[i].word);
        struct unwind_walker walker =
            world_walker(&w, CPU_ARM64, BEGIN + packed[i].into, SP, PC_INTERRUPTED, &frame);
        walker.regs.r[29] = walker.regs.sp; /* where `mov fp, sp` left it */
        uint64_t lr = walker.regs.r[30];
        CHECK(unwind_step_arm64(&walker) == STOP_NONE);
        CHECK_HEX(walker.regs.pc,
                  packed[i].pc_slot < 0 ? lr : WORLD_MARK + (uint64_t)packed[i].pc_slot);
        CHECK_HEX(walker.regs.sp, WORLD_STACK_VA + 8 * (uint64_t)packed[i].sp_words);
        if (packed[i].reg >= 0 && packed[i].reg_slot >= 0)
            CHECK_HEX(walker.regs.r[packed[i].reg], WORLD_MARK + (uint64_t)packed[i].reg_slot);
        CHECK_STR(unwind_where_name(frame.where), unwind_where_name(packed[i].where));
        world_free(&w);
    }
}

/* The worked example at the head of arm64_info.c: the word's fields, its operations, its frame. */
TEST(the_example_of_a_packed_word)
{
    static const struct arm64_code want[] = {
        {ARM64_SET_FP, 0, false, 0, 0},     {ARM64_SAVE_REGP, 29, true, 32, 0},
        {ARM64_SAVE_REG, 21, false, 16, 0}, {ARM64_SAVE_REGP, 19, true, 32, 0},
        {ARM64_END, 0, false, 0, 0},
    };
    struct arm64_code made[16];
    struct arm64_info info;
    struct unwind_frame frame;
    static struct world w;
    world_init(&w, PE_MACHINE_ARM64);
    world_function_arm64(&w, BEGIN, 0x02630101);
    REQUIRE(arm64_info_read(&w.process, WORLD_BASE_VA, 0x02630101, &info) == STOP_NONE);
    CHECK_EQ(info.form, ARM64_PACKED);
    CHECK_EQ(info.function_bytes, 0x100);
    CHECK_EQ(info.packed.reg_f, 0);
    CHECK_EQ(info.packed.reg_i, 3);
    CHECK_EQ(info.packed.cr, 3);
    CHECK_EQ(info.packed.frame_bytes, 64);
    REQUIRE(arm64_packed_expand(&info.packed, made, COUNT_OF(made)) == COUNT_OF(want));
    for (size_t i = 0; i < COUNT_OF(want); i++) {
        test_row("operation");
        CHECK_EQ(made[i].op, want[i].op);
        CHECK_EQ(made[i].reg, want[i].reg);
        CHECK_EQ(made[i].writeback, want[i].writeback);
        CHECK_EQ(made[i].bytes, want[i].bytes);
    }
    struct unwind_walker walker =
        world_walker(&w, CPU_ARM64, BEGIN + 0x40, SP, PC_INTERRUPTED, &frame);
    walker.regs.r[29] = walker.regs.sp;
    CHECK_EQ(unwind_step_arm64(&walker), STOP_NONE);
    CHECK_HEX(walker.regs.r[29], WORLD_MARK + SP);
    CHECK_HEX(walker.regs.pc, WORLD_MARK + SP + 8 / 8);
    CHECK_HEX(walker.regs.r[19], WORLD_MARK + SP + 32 / 8);
    CHECK_HEX(walker.regs.r[20], WORLD_MARK + SP + 40 / 8);
    CHECK_HEX(walker.regs.r[21], WORLD_MARK + SP + 48 / 8);
    CHECK_HEX(walker.regs.sp, WORLD_STACK_VA + 8 * (SP + 64 / 8));
    world_free(&w);
}

/* .xdata of a function of 0x100 bytes with one code word and one epilogue at its end. */
static void arm64_function(struct world *w, const uint8_t codes[4])
{
    uint8_t xdata[8] = {0x40, 0, 0x20, 0x08}; /* length 0x40 words, E, one code word */
    memcpy(xdata + 4, codes, 4);
    world_function_arm64(w, BEGIN, world_xdata(w, xdata, sizeof(xdata)));
}

TEST(arm64_full_data_is_undone)
{
    static const struct {
        const char *name;
        uint8_t codes[4];
        uint32_t into;
        int32_t pc_slot, sp_words;
        int reg;
        uint32_t reg_slot;
    } rows[] = {
        {"pair and a chained frame", {0xe1, 0x81, 0x22, 0xe4}, 0x40, SP + 1, SP + 4, 19, SP + 2},
        {"one instruction in", {0xe1, 0x81, 0x22, 0xe4}, 4, -1, SP + 2, 19, SP},
        {"two instructions in", {0xe1, 0x81, 0x22, 0xe4}, 8, SP + 1, SP + 4, 19, SP + 2},
        {"save_next carries the pair on", {0xe6, 0x24, 0xe4, 0xe4}, 0x40, -1, SP + 4, 22, SP + 3},
        {"nop takes an instruction", {0xe3, 0x81, 0xe4, 0xe4}, 4, SP + 1, SP + 2, 29, SP},
        {"allocation of 2 KB and more", {0xc0, 0x81, 0xe4, 0xe4}, 0x40, -1, SP + 2 * 0x81, -1, 0},
        {"add fp, sp, #16", {0xe2, 0x02, 0xe4, 0xe4}, 0x40, -1, SP - 2, -1, 0},
        {"what is only a mark", {0xec, 0xe3, 0xe5, 0x81}, 0x40, SP + 1, SP + 2, 29, SP},
        {"a pointer signed in the prologue",
         {0x81, 0xfc, 0xe4, 0xe4},
         0x40,
         SP + 1,
         SP + 2,
         29,
         SP},
    };
    static struct world w;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct unwind_frame frame;
        test_row(rows[i].name);
        world_init(&w, PE_MACHINE_ARM64);
        arm64_function(&w, rows[i].codes);
        struct unwind_walker walker =
            world_walker(&w, CPU_ARM64, BEGIN + rows[i].into, SP, PC_INTERRUPTED, &frame);
        walker.regs.r[29] = walker.regs.sp;
        uint64_t lr = walker.regs.r[30];
        CHECK(unwind_step_arm64(&walker) == STOP_NONE);
        CHECK_HEX(walker.regs.pc,
                  rows[i].pc_slot < 0 ? lr : WORLD_MARK + (uint64_t)rows[i].pc_slot);
        CHECK_HEX(walker.regs.sp, WORLD_STACK_VA + 8 * (uint64_t)rows[i].sp_words);
        if (rows[i].reg >= 0)
            CHECK_HEX(walker.regs.r[rows[i].reg], WORLD_MARK + rows[i].reg_slot);
        world_free(&w);
    }
}

/* The stack contents after an exception; slots are words from the stack pointer. */
TEST(arm64_exceptions_are_crossed)
{
    static const struct {
        const char *name;
        uint8_t code;
        uint32_t sp_slot, pc_slot, x19_slot, fp_slot; /* 0: not kept */
    } rows[] = {
        {"machine frame", 0xe9, 0, 1, 0, 0},
        {"CONTEXT", 0xea, 32, 33, 20, 30},
        {"ARM64EC's CONTEXT, in x64's form", 0xeb, 19, 31, 27, 20},
    };
    static struct world w;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct unwind_frame frame;
        const uint8_t codes[4] = {rows[i].code, 0xe4, 0xe4, 0xe4};
        test_row(rows[i].name);
        world_init(&w, PE_MACHINE_ARM64);
        arm64_function(&w, codes);
        struct unwind_walker walker =
            world_walker(&w, CPU_ARM64, BEGIN + 0x40, SP, PC_RETURN, &frame);
        CHECK(unwind_step_arm64(&walker) == STOP_NONE);
        CHECK_EQ(walker.caller_kind, PC_INTERRUPTED);
        CHECK_HEX(walker.regs.sp, WORLD_MARK + SP + rows[i].sp_slot);
        CHECK_HEX(walker.regs.pc, WORLD_MARK + SP + rows[i].pc_slot);
        if (rows[i].x19_slot != 0) {
            CHECK_HEX(walker.regs.r[19], WORLD_MARK + SP + rows[i].x19_slot);
            CHECK_HEX(walker.regs.r[29], WORLD_MARK + SP + rows[i].fp_slot);
        }
        world_free(&w);
    }
}

/* x86 is unwound by its code alone, without frame data. */
TEST(x86_epilogues_and_prologues_are_known_by_sight)
{
    static const struct {
        const char *name;
        uint8_t code[12]; /* the last five, unless 0: what is before the return address */
        uint32_t at;      /* offset of the pc in the code */
        int32_t slot;     /* of the return address, in 4-byte words from sp; < 0: must not match */
        uint32_t taken;   /* number of words popped from the stack */
        bool prologue;
    } rows[] = {
        {"ret", {0xc3}, 0, 0, 1, false},
        {"ret n", {0xc2, 8, 0}, 0, 0, 3, false},
        {"rep ret", {0xf3, 0xc3}, 0, 0, 1, false},
        {"pops, ret", {0x5e, 0x5f, 0xc3}, 0, 2, 3, false},
        {"short add, pops, ret", {0x83, 0xc4, 8, 0x5e, 0x5f, 0xc3}, 0, 4, 5, false},
        {"long add, ret", {0x81, 0xc4, 0x10, 0, 0, 0, 0xc3}, 0, 4, 5, false},
        {"lea from ebp, pops, ret", {0x8d, 0x65, 0xf8, 0x5e, 0x5f, 0xc3}, 0, 6, 7, false},
        {"mov from ebp, pop, ret", {0x89, 0xec, 0x5d, 0xc3}, 0, 7, 8, false},
        {"leave, ret", {0xc9, 0xc3}, 0, 7, 8, false},
        {"pop esp is none", {0x5c, 0xc3}, 0, -1, 0, false},
        {"pop without ret", {0x5e, 0x90}, 0, -1, 0, false},
        {"a call is none", {0xe8, 0, 0, 0, 0}, 0, -1, 0, false},
        {"at push ebp", {0x55, 0x8b, 0xec}, 0, 0, 1, true},
        {"at mov ebp, esp", {0x55, 0x89, 0xe5, 0}, 1, 1, 2, true},
        {"after both", {0x55, 0x8b, 0xec, 0x90, 0x90, 0x90}, 3, -1, 0, true},
        {"push ebp", {0x55, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xd2}, 0, 0, 1, true},
        {"push ebp, an argument", {0x55, 0xff, 0xd2}, 0, 0, 0, true},
        {"a named entry", {0x83, 0, 0, 0, 0, 0, 0, 0xe8, 0, 0xfc, 0xff, 0xff}, 0, 0, 1, true},
        {"no entry", {0x83, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xd2}, 0, 0, 0, true},
    };
    static struct world w;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct unwind_frame frame;
        static const uint8_t here[5] = {0xe8};
        const uint8_t *call = rows[i].code + sizeof rows[i].code - sizeof here;
        test_row(rows[i].name);
        world_init(&w, PE_MACHINE_X86);
        w.module.base_va = 0x400000; /* must fit in 32 bits */
        world_put(&w, BEGIN, rows[i].code, sizeof(rows[i].code));
        world_put(&w, 0x1500 - 5, call[0] != 0 || call[4] != 0 ? call : here, sizeof here);
        struct unwind_walker walker =
            world_walker(&w, CPU_X86, BEGIN + rows[i].at, SP, PC_INTERRUPTED, &frame);
        walker.regs.pc = w.module.base_va + BEGIN + rows[i].at;
        for (uint32_t k = 0; k < 16; k++) {
            uint32_t word = rows[i].slot == (int32_t)k ? 0x401500 : 0x11 * k;
            memcpy((uint8_t *)&w.stack[SP] + k * sizeof(word), &word, sizeof(word));
        }
        walker.regs.r[REG_X86_EBP] = walker.regs.sp + 6 * 4;
        uint64_t sp = walker.regs.sp;
        bool left =
            rows[i].prologue ? unwind_x86_prologue(&walker) : unwind_x86_epilogue(&walker, NULL);
        CHECK_EQ(left, rows[i].taken > 0);
        CHECK_HEX(walker.regs.sp, sp + 4 * (uint64_t)rows[i].taken);
        if (left)
            CHECK_HEX(walker.regs.pc, 0x401500);
        world_free(&w);
    }
}

/* Frames of FPO data. The records are what Microsoft's DIA says of these functions; the return
 * address is where they put it, and ebp where the code pushes it, as llvm-objdump-19 shows it. */
static const struct fpo_row {
    const char *name, *win;
    uint8_t code[20];
    uint32_t at;                    /* bytes into the function */
    uint32_t return_word, ebp_word; /* from the stack pointer; NOT_SAVED: ebp is the caller's */
    uint32_t params_bytes;
    uint32_t decoy_word; /* holds a return address, too; 0: none */
} fpo_rows[] = {
    {"basic32.dll!0xb710: push ebp, esi, edi, ebx; popped in reverse before its ret",
     "STACK WIN 0 1100 17 4 0 0 10 0 0 0 1\n",
     {0x55, 0x56, 0x57, 0x53},
     0x12,
     4,
     3,
     0,
     0},
    {"same, before its third push",
     "STACK WIN 0 1100 17 4 0 0 10 0 0 0 1\n",
     {0x55, 0x56, 0x57, 0x53},
     2,
     2,
     1,
     0,
     0},
    {"same, before its first push",
     "STACK WIN 0 1100 17 4 0 0 10 0 0 0 1\n",
     {0x55, 0x56, 0x57, 0x53},
     0,
     0,
     NOT_SAVED,
     0,
     0},
    {"test_app.exe!0x1a90: sub esp, 8; push ebx, ebp, esi, edi",
     "STACK WIN 0 1100 c7 7 0 4 10 8 0 0 1\n",
     {0x83, 0xec, 8, 0x53, 0x55, 0x56, 0x57},
     0x40,
     6,
     2,
     4,
     0},
    {"same, its code is not known: the compiler's usual order",
     "STACK WIN 0 1100 c7 7 0 4 10 8 0 0 1\n",
     {0},
     0x40,
     6,
     2,
     4,
     0},
    {"dump_syms_regtest.exe!0x2e5b: ebp alone, 8 bytes of arguments",
     "STACK WIN 0 1100 17 1 0 8 4 0 0 0 1\n",
     {0x55},
     0x10,
     1,
     0,
     8,
     0},
    {"Breakpad's WindowsFPOUnchangedEBP: 4 bytes saved, 16 of locals, 8 of arguments",
     "STACK WIN 0 1100 100 0 0 8 4 10 0 0 0\n",
     {0},
     0x40,
     5,
     NOT_SAVED,
     8,
     0},
    {"a rule of a symbol file, from the processor's first register",
     "STACK CFI INIT 1100 100 .cfa: $eax 4 + .ra: .cfa 4 - ^ $ebp: $eax 12 + ^\n",
     {0},
     0x40,
     2,
     5,
     0,
     0},
    {"interrupted after push 1; push 2, with a return address below that is not its own",
     "STACK WIN 0 1100 40 1 0 0 4 8 0 0 0\n",
     {0x53, 0x6a, 1, 0x6a, 2},
     5,
     5,
     NOT_SAVED,
     0,
     3},
    {"after a call, whose 8 bytes of arguments add esp, 8 removes",
     "STACK WIN 0 1100 100 0 0 0 0 0 0 0 0\n",
     {[11] = 0xe8, [16] = 0x83, 0xc4, 8},
     0x10,
     2,
     NOT_SAVED,
     0,
     1},
    {"after a call, and sub esp, 8 removes nothing",
     "STACK WIN 0 1100 100 0 0 0 0 0 0 0 0\n",
     {[11] = 0xe8, [16] = 0x83, 0xec, 8},
     0x10,
     0,
     NOT_SAVED,
     0,
     2},
    {"nothing saved, locals alone",
     "STACK WIN 0 1100 100 0 0 c 0 20 0 0 0\n",
     {0},
     0x40,
     8,
     NOT_SAVED,
     12,
     0},
};

TEST(x86_frames_of_fpo_data_are_undone)
{
    static struct world w;
    for (size_t i = 0; i < COUNT_OF(fpo_rows); i++) {
        const struct fpo_row *row = &fpo_rows[i];
        struct unwind_frame frame;
        char text[200];
        const uint8_t call[] = {0xe8, 0, 0, 0, 0};
        test_row(row->name);
        (void)snprintf(text, sizeof text, "MODULE windows x86 %032d1 world.pdb\n%s", 0, row->win);
        world_rules(text);
        world_init(&w, PE_MACHINE_X86);
        w.module.base_va = 0x400000;
        w.process.breakpad = world_breakpad;
        world_put(&w, BEGIN, row->code, sizeof row->code);
        world_put(&w, DECOY - 0x400000 - 5, call, sizeof call);
        world_put(&w, 0x1500 - 5, call, sizeof call);
        struct unwind_walker walker = world_walker(
            &w, CPU_X86, BEGIN + row->at, SP, row->at >= 0x10 ? PC_RETURN : PC_INTERRUPTED, &frame);
        for (uint32_t k = 0; k < 16; k++) {
            const uint32_t decoy = row->decoy_word == k && k > 0 ? DECOY : 0x11 * (k + 1);
            const uint32_t word = k == row->return_word ? 0x401500 : decoy;
            memcpy((uint8_t *)&w.stack[SP] + k * sizeof word, &word, sizeof word);
        }
        const uint64_t sp = walker.regs.sp, ebp = walker.regs.r[REG_X86_EBP];
        walker.regs.r[0] = sp + 8;
        CHECK_EQ(unwind_step_x86(&walker), STOP_NONE);
        CHECK_HEX(walker.regs.pc, 0x401500);
        CHECK_HEX(walker.regs.sp, sp + 4 * (row->return_word + 1));
        CHECK_HEX(walker.regs.r[REG_X86_EBP],
                  row->ebp_word == NOT_SAVED ? ebp : 0x11 * (row->ebp_word + 1));
        CHECK_EQ(walker.callee_params_bytes, row->params_bytes);
        if (row->win[6] == 'W') /* other rules do not say where it was */
            CHECK_HEX(frame.return_slot_va, sp + 4 * row->return_word);
        world_rules(NULL);
        world_free(&w);
    }
}

/* Generated code at one address, without unwind data. */
static bool generated_at_7000000(void *self, uint64_t va, struct unwind_entry *out)
{
    (void)self;
    memset(out, 0, sizeof(*out));
    return va == 0x7000000;
}

TEST(a_generated_frame_that_tells_nothing_is_a_hole)
{
    static const struct {
        const char *name;
        enum cpu cpu;
        uint64_t pc_va;
        enum pc_kind kind;
        const char *found_by; /* NULL: it stops */
    } rows[] = {
        {"x64, after a call in generated code", CPU_X64, 0x7000001, PC_RETURN, NULL},
        {"x86, after a call in generated code", CPU_X86, 0x7000001, PC_RETURN, NULL},
        {"x64, unregistered code is scanned", CPU_X64, 0x7100001, PC_RETURN, "scan"},
        {"x86, unregistered code is scanned", CPU_X86, 0x7100001, PC_RETURN, "scan"},
        {"x64, interrupted in a generated leaf", CPU_X64, 0x7000000, PC_INTERRUPTED, "leaf"},
        {"x86, interrupted in a generated leaf", CPU_X86, 0x7000000, PC_INTERRUPTED, "leaf"},
    };
    static struct world w;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct unwind_frame frame;
        const uint8_t call[] = {0xe8, 0, 0, 0, 0};
        const bool x86 = rows[i].cpu == CPU_X86;
        test_row(rows[i].name);
        world_init(&w, x86 ? PE_MACHINE_X86 : PE_MACHINE_X64);
        w.module.base_va = 0x400000;
        w.process.generated = generated_at_7000000;
        world_put(&w, 0x1501 - 5, call, sizeof(call));
        for (uint32_t k = 0; k < 8; k++) /* a value that a scan accepts */
            w.stack[SP + k] = x86 ? 0x40150100401501 : 0x401501;
        struct unwind_walker walker = world_walker(&w, rows[i].cpu, 0, SP, rows[i].kind, &frame);
        walker.regs.pc = frame.pc_va = rows[i].pc_va;
        frame.module = NULL;
        const enum stop_reason stop = x86 ? unwind_step_x86(&walker) : unwind_step_x64(&walker);
        CHECK_EQ(stop, rows[i].found_by == NULL ? STOP_GENERATED_CODE : STOP_NONE);
        if (stop == STOP_NONE) {
            CHECK_HEX(walker.regs.pc, 0x401501);
            CHECK_STR(found_by_name(walker.caller_found), rows[i].found_by);
        }
        world_free(&w);
    }
}

TEST(arm64_leaves_return_through_their_register)
{
    static struct world w;
    struct unwind_frame frame;
    static const uint8_t call[] = {0x00, 0x00, 0x00, 0x94}; /* bl */
    world_init(&w, PE_MACHINE_ARM64);
    world_put(&w, 0x1400, call, sizeof(call));
    struct unwind_walker walker = world_walker(&w, CPU_ARM64, 0x1300, SP, PC_INTERRUPTED, &frame);
    walker.regs.r[30] = WORLD_BASE_VA + 0x1404;
    CHECK(unwind_step_arm64(&walker) == STOP_NONE);
    CHECK_HEX(walker.regs.pc, WORLD_BASE_VA + 0x1404);
    CHECK_STR(found_by_name(walker.caller_found), "leaf");
    walker = world_walker(&w, CPU_ARM64, 0x1300, SP, PC_INTERRUPTED, &frame);
    walker.regs.r[30] = 0; /* the first function of a thread has no caller */
    CHECK_EQ(unwind_step_arm64(&walker), STOP_END);
    world_free(&w);
}

static bool read_words(void *self, uint64_t va, void *out, size_t bytes)
{
    (void)self;
    uint32_t value = 0xee000000 + (uint32_t)va;
    if (va < 0x1000 || va >= 0x2000 || bytes != 4)
        return false;
    memcpy(out, &value, 4);
    return true;
}

TEST(frame_programs_compute)
{
    static const struct {
        const char *name, *program;
        uint32_t eip, esp, ebp, ebx; /* eip 0: must be refused */
    } rows[] = {
        {"frame pointer omitted", "$T0 .raSearch = $eip $T0 ^ = $esp $T0 4 + =", 0xee001120, 0x1124,
         0x1200, 7},
        {"ebp frame", "$T0 $ebp = $eip $T0 4 + ^ = $ebp $T0 ^ = $esp $T0 8 + =", 0xee001204, 0x1208,
         0xee001200, 7},
        {"no blanks around operators",
         "$T0 $ebp 204 + =$eip $T0 4 + ^ =$ebp $T0 ^ = $esp $T0 8 + = ", 0xee0012d0, 0x12d4,
         0xee0012cc, 7},
        {"registers by CodeView's numbers",
         "$T0 $ebp = $eip $T0 4 + ^ = $esp $T0 8 + = $20 $T0 40 - ^ =", 0xee001204, 0x1208, 0x1200,
         0xee0011d8},
        {"aligned", "$T0 $ebp 16 @ = $eip $T0 ^ = $esp $T0 4 + =", 0xee001200, 0x1204, 0x1200, 7},
        {"a saved register that is not there",
         "$T0 $ebp = $eip $T0 4 + ^ = $esp $T0 8 + = $ebx 0 ^ 4 + =", 0xee001204, 0x1208, 0x1200,
         7},
        {"memory that is not there", "$T0 0 = $eip $T0 ^ = $esp $T0 4 + =", 0, 0, 0, 0},
        {"division by zero", "$eip 4 0 / = $esp $esp 4 + =", 0, 0, 0, 0},
        {"no caller", "$T0 $ebp =", 0, 0, 0, 0},
        {"stack pointer falls", "$eip $ebp ^ = $esp $esp 4 - =", 0, 0, 0, 0},
        {"assignment to a number", "4 5 =", 0, 0, 0, 0},
        {"too few operands", "+", 0, 0, 0, 0},
    };
    const struct unwind_process process = {.read = read_words};
    const struct x86_frame_constants constants = {0x1120, 16, 8, 4, 0};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct registers regs = {.cpu = CPU_X86, .sp = 0x1100};
        test_row(rows[i].name);
        regs.r[REG_X86_EBP] = 0x1200;
        regs.r[REG_X86_EBX] = 7;
        const enum stop_reason stop =
            x86_program_run(&process, rows[i].program, strlen(rows[i].program), &constants, &regs);
        CHECK_EQ(stop == STOP_NONE, rows[i].eip != 0);
        if (stop != STOP_NONE) {
            CHECK_HEX(regs.sp, 0x1100); /* nothing was changed */
            continue;
        }
        CHECK_HEX(regs.pc, rows[i].eip);
        CHECK_HEX(regs.sp, rows[i].esp);
        CHECK_HEX(regs.r[REG_X86_EBP], rows[i].ebp);
        CHECK_HEX(regs.r[REG_X86_EBX], rows[i].ebx);
    }
}

static void put_u32(struct world *w, uint32_t rva, uint32_t value)
{
    const uint8_t raw[4] = {(uint8_t)value, (uint8_t)(value >> 8), (uint8_t)(value >> 16),
                            (uint8_t)(value >> 24)};
    world_put(w, rva, raw, sizeof(raw));
}

TEST(the_frame_below_an_exception_dispatcher_was_interrupted)
{
    /* As in Wine, this ntdll's KiUserExceptionDispatcher has no machine frame. */
    static const uint8_t xdata[] = {1, 4, 1, 0, 4, 0x42};
    static struct world w;
    struct unwind_stack stack;
    struct fault fault = FAULT_INIT;
    enum { EXPORTS = 0x2800 };
    for (int named = 0; named < 2; named++) {
        test_row(named ? "by its export" : "another function at the same place");
        world_init(&w, PE_MACHINE_X64);
        w.module.name = "NTDLL.dll";
        put_u32(&w, 0x98 + 112, EXPORTS);
        put_u32(&w, EXPORTS + 24, 1);
        put_u32(&w, EXPORTS + 28, EXPORTS + 40);
        put_u32(&w, EXPORTS + 32, EXPORTS + 44);
        put_u32(&w, EXPORTS + 36, EXPORTS + 48);
        put_u32(&w, EXPORTS + 40, BEGIN);
        put_u32(&w, EXPORTS + 44, EXPORTS + 52);
        const char *name = named ? "KiUserExceptionDispatcher" : "KiUserApcDispatcher";
        world_put(&w, EXPORTS + 52, name, strlen(name) + 1);
        world_function(&w, BEGIN, 0x1200, world_xdata(&w, xdata, sizeof(xdata)));
        struct registers regs = {
            .cpu = CPU_X64, .pc = WORLD_BASE_VA + BEGIN + 0x40, .sp = WORLD_STACK_VA + 8 * SP};
        REQUIRE(unwind_walk(&w.process, &regs, PC_RETURN, &w.arena, &stack, &fault) == ERR_NONE);
        REQUIRE(stack.frame_count >= 2);
        CHECK_HEX(stack.frames[1].pc_va, WORLD_MARK + SP + 5);
        CHECK_STR(pc_kind_name(stack.frames[1].kind), named ? "interrupted" : "return");
        world_free(&w);
    }
}
