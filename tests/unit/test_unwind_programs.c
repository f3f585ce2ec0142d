/* The postfix arithmetic of frame programs and of Breakpad's STACK CFI, and the rules of one row of
 * STACK CFI on each processor. Results are worked out by hand, in words of 4 and of 8 bytes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "unwind/frame_program.h"
#include "unwind/symbol_rules.h"
#include "unwind_world.h"

/* The word at VA is VA times 3. Addresses from 0x1000 to 0x1fff have one. */
static bool read_tripled(void *self, uint64_t va, void *out, size_t bytes)
{
    (void)self;
    const uint64_t value = va * 3;
    const uint32_t half = (uint32_t)value;
    if (va < 0x1000 || va >= 0x2000 || (bytes != 4 && bytes != 8))
        return false;
    memcpy(out, bytes == 4 ? (const void *)&half : (const void *)&value, bytes);
    return true;
}

#define NAME_23 "abcdefghijklmnopqrstuvw"
#define REFUSED UINT64_C(0xdead)

static const struct {
    const char *name, *text;
    uint64_t narrow, wide; /* the value in words of 4 and of 8 bytes, or REFUSED */
} value_rows[] = {
    {"a number", "7", 7, 7},
    {"a sum", "1 2 +", 3, 3},
    {"a difference", "9 4 -", 5, 5},
    {"a difference below zero", "4 9 -", 0xfffffffb, 0xfffffffffffffffb},
    {"a product", "6 7 *", 42, 42},
    {"a product wider than 4 bytes", "65536 65536 *", 0, 0x100000000},
    {"a quotient", "43 6 /", 7, 7},
    {"a remainder", "43 6 %", 1, 1},
    {"a quotient by zero", "43 0 /", REFUSED, REFUSED},
    {"a remainder by zero", "43 0 %", REFUSED, REFUSED},
    {"a quotient by one", "43 1 /", 43, 43},
    {"aligned down to 8", "43 8 @", 40, 40},
    {"aligned down, and it is", "40 8 @", 40, 40},
    {"aligned to 1", "43 1 @", 43, 43},
    {"aligned to 0", "43 0 @", REFUSED, REFUSED},
    {"aligned to what is no power of two", "43 6 @", REFUSED, REFUSED},
    {"a negative number", "10 -4 +", 6, 6},
    {"a negative number alone", "-1", 0xffffffff, UINT64_MAX},
    {"no blanks before operators", "10 4- 2*", 12, 12},
    {"a minus sign before a blank subtracts", "10 4 - 2 +", 8, 8},
    {"a minus sign at the end subtracts", "10 4 -", 6, 6},
    {"tabs, and more blanks than one", "\t10 \t 4\t+  ", 14, 14},
    {"the first word of memory", "4096 ^", 0x3000, 0x3000},
    {"a word of memory, and its neighbour", "4096 8 + ^", 0x3018, 0x3018},
    {"missing memory", "4095 ^", REFUSED, REFUSED},
    {"a sum with missing memory", "8192 ^ 1 +", REFUSED, REFUSED},
    {"an address from missing memory", "0 ^ 4096 + ^", REFUSED, REFUSED},
    {"the left operand is missing", "8192 ^ 1 -", REFUSED, REFUSED},
    {"the right operand is missing", "1 8192 ^ -", REFUSED, REFUSED},
    {"nothing to read", "^", REFUSED, REFUSED},
    {"nothing to assign", "=", REFUSED, REFUSED},
    {"an assignment without a name", "5 =", REFUSED, REFUSED},
    {"one operand", "5 +", REFUSED, REFUSED},
    {"nothing", "", REFUSED, REFUSED},
    {"two values", "1 2", REFUSED, REFUSED},
    {"no number and no name", "Abc", REFUSED, REFUSED},
    {"a register, with and without its sign", "$given given +", 200, 200},
    {"a register that was not set", "$unset", REFUSED, REFUSED},
    {"a register that was not set, in a sum", "$unset 1 +", REFUSED, REFUSED},
    {"a variable of its own", "$T0 5 = $T0 1 +", 6, 6},
    {"a name that begins with z", "z 5 = z", 5, 5},
    {"assigned again", "$T0 5 = $T0 $T0 1 + = $T0", 6, 6},
    {"a constant cannot be assigned to", ".cfa 5 =  1", REFUSED, REFUSED},
    {"a number cannot be assigned to", "4 5 = 1", REFUSED, REFUSED},
    {"missing memory leaves a variable as it was", "$given 0 ^ = $given", 100, 100},
    {"a name of 23 letters", NAME_23 " 5 = " NAME_23, 5, 5},
    {"a name of 24 letters", NAME_23 "x 5 = 1", REFUSED, REFUSED},
    {"two names of 23 letters, of which the last differs",
     NAME_23 " 5 = abcdefghijklmnopqrstuvx 6 = " NAME_23, 5, 5},
    {"CodeView's $20 is ebx", "$20", 1, 1},
    {"CodeView's $21 is esp", "$21", 2, 2},
    {"CodeView's $22 is ebp", "$22", 3, 3},
    {"CodeView's $23 is esi", "$23", 4, 4},
    {"CodeView's $24 is edi", "$24", 5, 5},
};

static struct frame_program program_of(const struct unwind_process *process, uint32_t word_bytes)
{
    static const char *const names[] = {"$ebx", "$esp", "ebp", "esi", "$edi"};
    struct frame_program p = {.process = process, .word_bytes = word_bytes};
    for (size_t i = 0; i < COUNT_OF(names); i++)
        REQUIRE(program_set(&p, names[i], i + 1));
    REQUIRE(program_set(&p, "$given", 100));
    return p;
}

TEST(values_of_rules)
{
    const struct unwind_process process = {.read = read_tripled};
    for (size_t i = 0; i < COUNT_OF(value_rows); i++)
        for (uint32_t word_bytes = 4; word_bytes <= 8; word_bytes += 4) {
            struct frame_program p = program_of(&process, word_bytes);
            const uint64_t want = word_bytes == 4 ? value_rows[i].narrow : value_rows[i].wide;
            char *text =
                test_copy(value_rows[i].text, strlen(value_rows[i].text)); /* no byte after it */
            uint64_t got = REFUSED;
            test_row(value_rows[i].name);
            CHECK_EQ(program_value(&p, text, strlen(value_rows[i].text), &got), want != REFUSED);
            if (want != REFUSED)
                CHECK_HEX(got, want);
            free(text);
        }
}

/* COUNT times "1 ", then COUNT - 1 times "+", after BEFORE. */
static char *sum_of(const char *before, uint32_t count)
{
    static char text[4096];
    size_t at = (size_t)snprintf(text, sizeof text, "%s", before);
    for (uint32_t i = 0; i < count; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "1 ");
    for (uint32_t i = 1; i < count; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "+ ");
    return text;
}

/* The same number of words, of which never more than two are on the stack. */
static char *chain_of(const char *before, uint32_t count)
{
    static char text[4096];
    size_t at = (size_t)snprintf(text, sizeof text, "%s1 ", before);
    for (uint32_t i = 1; i < count; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "1 + ");
    return text;
}

TEST(limits_of_programs)
{
    const struct unwind_process process = {.read = read_tripled};
    const struct {
        const char *name;
        char *(*text)(const char *before, uint32_t count);
        const char *before;
        uint32_t count;
        bool fits;
    } rows[] = {
        {"32 values on the stack", sum_of, "", PROGRAM_STACK_MAX, true},
        {"33 values", sum_of, "", PROGRAM_STACK_MAX + 1, false},
        {"512 words: 3, and 254 sums", chain_of, "$T0 9 = ", 255, true},
        {"513 words: 256 sums", chain_of, "", 257, false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct frame_program p = program_of(&process, 8);
        const char *text = rows[i].text(rows[i].before, rows[i].count);
        uint64_t got = 0;
        test_row(rows[i].name);
        CHECK_EQ(program_value(&p, text, strlen(text), &got), rows[i].fits);
        if (rows[i].fits)
            CHECK_EQ(got, rows[i].count);
    }
    struct frame_program p = {.process = &process, .word_bytes = 4};
    uint64_t got = 0;
    for (int i = 0; i < PROGRAM_VARIABLES_MAX; i++) {
        char name[8];
        (void)snprintf(name, sizeof name, "$v%d", i);
        CHECK(program_set(&p, name, UINT64_C(0x700000000) + (unsigned)i));
    }
    CHECK(program_set(&p, "v47", 5)); /* it is there */
    CHECK(!program_set(&p, "$v48", 1));
    CHECK(program_get(&p, "$v46", &got));
    CHECK_HEX(got, 46); /* of 4 bytes */
    CHECK(program_get(&p, "v47", &got));
    CHECK_HEX(got, 5);
    CHECK(!program_get(&p, "$v48", &got));
}

enum { SP = 64, RETURN_RVA = 0x1500, BEGIN = 0x1100 };
#define UNMOVED UINT64_MAX

/* One row of STACK CFI each, of a function from 0x1100 to 0x11ff. The stack has numbered words of
 * the processor's size: word i holds 0x11 * i, word 2 the return address. */
static const struct rule_row {
    const char *name;
    enum cpu cpu;
    const char *rules;
    uint32_t taken; /* words; UINT32_MAX: refused */
    int reg;        /* of r[], -1: none */
    uint64_t value; /* UNMOVED: as before */
} rule_rows[] = {
    {"x86", CPU_X86, ".cfa: $esp 12 + .ra: .cfa 4 - ^ $ebp: $esp 4 + ^", 3, REG_X86_EBP, 0x11},
    {"x86, a register by $ and one without", CPU_X86,
     ".cfa: esp 12 + .ra: .cfa 4 - ^ ebx: .cfa 8 + ^", 3, REG_X86_EBX, 0x55},
    {"x64", CPU_X64, ".cfa: $rsp 24 + .ra: .cfa 8 - ^ $rbp: .cfa 16 - ^", 3, REG_X64_RBP, 0x11},
    {"x64, r12", CPU_X64, ".cfa: $rsp 24 + .ra: .cfa 8 - ^ $r12: $r13 1 +", 3, 12, 0x1000 + 14},
    {"x64, r13 from rip", CPU_X64, ".cfa: $rsp 24 + .ra: .cfa 8 - ^ $r13: $rip $rip - 9 +", 3, 13,
     9},
    {"arm64, x29", CPU_ARM64, ".cfa: sp 24 + .ra: .cfa 8 - ^ x29: .cfa ^", 3, REG_ARM64_FP, 0x33},
    {"arm64, x30", CPU_ARM64, ".cfa: sp 24 + .ra: .cfa 8 - ^ x30: x29 1 +", 3, REG_ARM64_LR,
     0x1000 + 30},
    {"arm64, x19", CPU_ARM64, ".cfa: sp 24 + .ra: .cfa 8 - ^ x19: .cfa 16 - ^", 3, 19, 0x11},
    {"arm, r11", CPU_ARM, ".cfa: sp 12 + .ra: .cfa 4 - ^ r11: .cfa ^", 3, REG_ARM_FP, 0x33},
    {"arm, fp is r11", CPU_ARM, ".cfa: sp 12 + .ra: .cfa 4 - ^ fp: r11 2 +", 3, REG_ARM_FP,
     0x1000 + 13},
    {"arm, lr", CPU_ARM, ".cfa: sp 12 + .ra: .cfa 4 - ^ lr: .cfa 8 - ^", 3, REG_ARM_LR, 0x11},
    {"sp and pc by rules of their own", CPU_ARM64,
     ".cfa: sp 24 + .ra: .cfa 8 - ^ sp: .cfa 8 + pc: .ra", 4, -1, 0},
    {"esp and eip by rules of their own", CPU_X86,
     ".cfa: $esp 12 + .ra: .cfa 4 - ^ $esp: .cfa 4 + $eip: .ra", 4, -1, 0},
    {"a register without a rule", CPU_X64, ".cfa: $rsp 24 + .ra: .cfa 8 - ^", 3, REG_X64_RBP,
     UNMOVED},
    {"an undefined register", CPU_X64, ".cfa: $rsp 24 + .ra: .cfa 8 - ^ $rbp: .undef", 3,
     REG_X64_RBP, UNMOVED},
    {"a register in missing memory", CPU_X64, ".cfa: $rsp 24 + .ra: .cfa 8 - ^ $rbp: 8 ^", 3,
     REG_X64_RBP, UNMOVED},
    {"a register of another processor", CPU_X64, ".cfa: $rsp 24 + .ra: .cfa 8 - ^ $ebp: 5", 3,
     REG_X64_RBP, UNMOVED},
    {"a name that begins like a register's", CPU_X64, ".cfa: $rsp 24 + .ra: .cfa 8 - ^ $rbpx: 5", 3,
     REG_X64_RBP, UNMOVED},
    {"no rule for the CFA", CPU_X64, ".ra: $rsp 16 + ^", UINT32_MAX, -1, 0},
    {"no rule for the return address", CPU_X64, ".cfa: $rsp 24 +", UINT32_MAX, -1, 0},
    {"a CFA from missing memory", CPU_X64, ".cfa: 8 ^ .ra: $rsp 16 + ^", UINT32_MAX, -1, 0},
    {"a return address from missing memory", CPU_X64, ".cfa: $rsp 24 + .ra: 8 ^", UINT32_MAX, -1,
     0},
    {"the stack pointer falls", CPU_X64, ".cfa: $rsp 8 - .ra: $rsp 16 + ^", UINT32_MAX, -1, 0},
    {"the stack pointer stays", CPU_X64, ".cfa: $rsp .ra: $rsp 16 + ^", 0, -1, 0},
    {"a return address that follows no call", CPU_X64, ".cfa: $rsp 24 + .ra: $rsp 8 + ^",
     UINT32_MAX, -1, 0},
};

/* A world of CPU, with a call before RETURN_RVA, words on its stack, and a file with these RULES.
 */
static struct unwind_walker make(struct world *w, enum cpu cpu, const char *rules, uint32_t into,
                                 enum pc_kind kind, struct unwind_frame *frame)
{
    static const uint16_t machines[CPU_COUNT] = {[CPU_X86] = PE_MACHINE_X86,
                                                 [CPU_X64] = PE_MACHINE_X64,
                                                 [CPU_ARM64] = PE_MACHINE_ARM64,
                                                 [CPU_ARM] = PE_MACHINE_ARM};
    static char text[400];
    const uint8_t call[] = {0xe8, 0, 0, 0, 0}, bl[] = {0, 0, 0, 0x94}, bl_arm[] = {0, 0, 0, 0xeb};
    const uint32_t size = cpu_pointer_bytes(cpu);
    (void)snprintf(text, sizeof text,
                   "MODULE windows x86 %032d1 world.pdb\nSTACK CFI INIT 1100 100 %s\n", 0, rules);
    world_rules(text);
    world_init(w, machines[cpu]);
    w->module.base_va = 0x400000;
    w->process.breakpad = world_breakpad;
    if (cpu == CPU_X86 || cpu == CPU_X64)
        world_put(w, RETURN_RVA - 5, call, sizeof call);
    else
        world_put(w, RETURN_RVA - 4, cpu == CPU_ARM ? bl_arm : bl, 4);
    struct unwind_walker walker = world_walker(w, cpu, BEGIN + into, SP, kind, frame);
    for (uint32_t k = 0; k < 16; k++) {
        const uint64_t word = k == 2 ? 0x400000 + RETURN_RVA : 0x11 * k;
        memcpy((uint8_t *)&w->stack[SP] + (size_t)k * size, &word, size);
    }
    return walker;
}

TEST(rules_of_each_processor)
{
    static struct world w;
    for (size_t i = 0; i < COUNT_OF(rule_rows); i++) {
        const struct rule_row *row = &rule_rows[i];
        const bool found = row->taken != UINT32_MAX;
        struct unwind_frame frame;
        test_row(row->name);
        struct unwind_walker walker = make(&w, row->cpu, row->rules, 16, PC_RETURN, &frame);
        const struct registers before = walker.regs;
        CHECK_EQ(unwind_symbol_rules(&walker), found);
        CHECK_HEX(walker.regs.pc, found ? 0x400000 + RETURN_RVA : before.pc);
        CHECK_HEX(walker.regs.sp,
                  before.sp + (found ? row->taken * cpu_pointer_bytes(row->cpu) : 0));
        if (row->reg >= 0)
            CHECK_HEX(walker.regs.r[row->reg],
                      row->value == UNMOVED ? before.r[row->reg] : row->value);
        CHECK_STR(found_by_name(walker.caller_found), found ? "cfi" : "unwind");
        CHECK_HEX(frame.function_begin_rva, found ? BEGIN : 0);
        CHECK_HEX(frame.function_end_rva, found ? BEGIN + 0x100 : 0);
        world_rules(NULL);
        world_free(&w);
    }
}

/* A return address belongs to the instruction before it. */
TEST(which_row_a_place_has)
{
    static const struct {
        const char *name;
        uint32_t into;
        enum pc_kind kind;
        bool found;
    } rows[] = {
        {"interrupted at the first byte", 0, PC_INTERRUPTED, true},
        {"a return to the first byte", 0, PC_RETURN, false},
        {"interrupted at the last byte", 0xff, PC_INTERRUPTED, true},
        {"interrupted after it", 0x100, PC_INTERRUPTED, false},
        {"a return to the byte after it", 0x100, PC_RETURN, true},
        {"a return to the second byte after it", 0x101, PC_RETURN, false},
    };
    static struct world w;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct unwind_frame frame;
        test_row(rows[i].name);
        struct unwind_walker walker = make(&w, CPU_X64, ".cfa: $rsp 24 + .ra: .cfa 8 - ^",
                                           rows[i].into, rows[i].kind, &frame);
        CHECK_EQ(unwind_symbol_rules(&walker), rows[i].found);
        frame.module = NULL;
        CHECK(!unwind_symbol_rules(&walker));
        world_rules(NULL);
        world_free(&w);
    }
}

/* A thread starts where the return address is undefined, or 0. */
TEST(rules_of_the_first_function)
{
    static const struct {
        const char *name, *rules;
        bool found;
    } rows[] = {
        {"undefined", ".cfa: $rsp 24 + .ra: .undef", true},
        {"undefined, after blanks", ".cfa: $rsp 24 + .ra:   .undef", true},
        {"0", ".cfa: $rsp 24 + .ra: 0", true},
        {"a longer word", ".cfa: $rsp 24 + .ra: .undefx", false},
        {"a shorter word", ".cfa: $rsp 24 + .ra: .unde", false},
        {"a word of the same length", ".cfa: $rsp 24 + .ra: .undeg", false},
    };
    static struct world w;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct unwind_frame frame;
        test_row(rows[i].name);
        struct unwind_walker walker = make(&w, CPU_X64, rows[i].rules, 16, PC_RETURN, &frame);
        CHECK_EQ(unwind_symbol_rules(&walker), rows[i].found);
        if (rows[i].found)
            CHECK_HEX(walker.regs.pc, 0);
        world_rules(NULL);
        world_free(&w);
    }
}

/* Whether the return address in a register is that of a call which the function itself made: then
 * it is no leaf, and the register is stale. */
TEST(calls_that_a_function_made_itself)
{
    static const char text[] = "MODULE windows x86 000000000000000000000000000000001 world.pdb\n"
                               "FUNC 1100 100 0 own\nFUNC 1200 80 0 other\nPUBLIC 1300 0 public\n";
    static const struct {
        const char *name;
        uint32_t pc_rva, rva; /* where it is, and the address */
        bool is_own;
    } rows[] = {
        {"after its first byte", 0x1140, 0x1101, true},
        {"at its end", 0x1140, 0x1200, true},
        {"at its start", 0x1140, 0x1100, false},
        {"after its end", 0x1140, 0x1201, false},
        {"of another function", 0x1240, 0x1150, false},
        {"where no function is", 0x10f0, 0x1050, false},
        {"where a name is, and no end", 0x1320, 0x1310, false},
        {"at the start of the module", 0x1140, 0, false},
    };
    static struct world w;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct unwind_frame frame;
        test_row(rows[i].name);
        struct unwind_walker walker =
            make(&w, CPU_ARM64, "", rows[i].pc_rva - BEGIN, PC_INTERRUPTED, &frame);
        world_rules(text);
        CHECK_EQ(unwind_is_own_call(&walker, w.module.base_va + rows[i].rva), rows[i].is_own);
        frame.module = NULL;
        CHECK(!unwind_is_own_call(&walker, w.module.base_va + rows[i].rva));
        world_rules(NULL);
        world_free(&w);
    }
}

/* STACK WIN of type 4: rva, bytes, prologue, epilogue, parameters, saved, locals, most of the
 * stack, and a program. The return address is word 2 of the stack, the program's constants lead to
 * it. */
TEST(programs_of_stack_win)
{
    static const struct {
        const char *name, *win;
        uint32_t params;
        const char *found_by;
        uint64_t ebx, ebp;
    } rows[] = {
        {"locals and saved registers come before the return address",
         "STACK WIN 4 1100 100 0 0 c 4 4 0 1 $T0 .raSearch = $eip $T0 ^ = $esp $T0 4 + =", 12,
         "cfi", 0x1003, 0x1005},
        {"the constants by their names",
         "STACK WIN 4 1100 100 0 0 8 3 5 0 1 $T0 $esp .cbSavedRegs + .cbLocals + = $eip $T0 ^ = "
         "$esp $T0 4 + = $ebx .cbParams = $ebp $T0 8 - ^ =",
         8, "cfi", 8, 0},
        {"a program that finds no caller changes nothing",
         "STACK WIN 4 1100 100 0 0 8 4 4 0 1 $T0 .raSearch = $eip 4 = $esp $T0 4 + = $ebx 9 =", 0,
         "scan", 0x1003, 0x1005},
        {"a program that is damaged", "STACK WIN 4 1100 100 0 0 8 4 4 0 1 $ebx 9 = $eip +", 0,
         "scan", 0x1003, 0x1005},
        {"of another function",
         "STACK WIN 4 1200 100 0 0 8 4 4 0 1 $T0 .raSearch = $eip $T0 ^ = $esp $T0 4 + =", 0,
         "scan", 0x1003, 0x1005},
    };
    static struct world w;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char text[400];
        struct unwind_frame frame;
        test_row(rows[i].name);
        struct unwind_walker walker = make(&w, CPU_X86, "", 0x40, PC_RETURN, &frame);
        const uint64_t sp = walker.regs.sp;
        (void)snprintf(text, sizeof text, "MODULE windows x86 %032d1 world.pdb\n%s\n", 0,
                       rows[i].win);
        world_rules(text);
        CHECK_EQ(unwind_step_x86(&walker), STOP_NONE);
        CHECK_STR(found_by_name(walker.caller_found), rows[i].found_by);
        CHECK_HEX(walker.regs.pc, 0x400000 + RETURN_RVA);
        CHECK_HEX(walker.regs.sp, sp + 12);
        CHECK_HEX(walker.regs.r[REG_X86_EBX], rows[i].ebx);
        CHECK_HEX(walker.regs.r[REG_X86_EBP], rows[i].ebp);
        CHECK_EQ(walker.callee_params_bytes, rows[i].params);
        CHECK_HEX(frame.return_slot_va, sp + 8);
        world_rules(NULL);
        world_free(&w);
    }
}
