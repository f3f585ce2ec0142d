/* One step by a row of call frame information, on each processor. Registers have the numbers of the
 * psABIs: System V i386 (table 2.14) and x86-64 (figure 3.36), Arm's AADWARF64 (4.1) and AADWARF32
 * (3.1). */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "test.h"
#include "unwind/cfi_step.h"
#include "unwind_world.h"

enum { BASE = 0x400000, RETURN_RVA = 0x1500, SP = 64, MOST = 32, BREG = 0x70, UP = 4 };

/* Names in the order of their numbers; NULL: the stack pointer, or the place of the pc. */
static const struct numbering {
    enum cpu cpu;
    uint16_t machine;
    uint32_t sp, pc, count; /* PC: the number of the return address */
    const char *names[MOST];
} numberings[] = {
    {CPU_X86,
     PE_MACHINE_X86,
     4,
     8,
     9,
     {"eax", "ecx", "edx", "ebx", NULL, "ebp", "esi", "edi", NULL}},
    {CPU_X64,
     PE_MACHINE_X64,
     7,
     16,
     17,
     {"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", NULL, "r8", "r9", "r10", "r11", "r12", "r13",
      "r14", "r15", NULL}},
    {CPU_ARM64, PE_MACHINE_ARM64, 31, 30, 32, {"x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",
                                               "x7",  "x8",  "x9",  "x10", "x11", "x12", "x13",
                                               "x14", "x15", "x16", "x17", "x18", "x19", "x20",
                                               "x21", "x22", "x23", "x24", "x25", "x26", "x27",
                                               "x28", "fp",  "lr",  NULL}},
    {CPU_ARM,
     PE_MACHINE_ARM,
     13,
     14,
     16,
     {"r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "fp", "r12", NULL, "lr",
      NULL}},
};

/* Where the register called NAME is in struct registers; ends the test when there is none. */
static uint32_t index_of(enum cpu cpu, const char *name)
{
    uint32_t i = 0;
    while (i < register_count(cpu) && strcmp(register_name(cpu, i), name) != 0)
        i++;
    REQUIRE(i < register_count(cpu));
    return i;
}

static void put_word(struct world *w, enum cpu cpu, uint64_t va, uint64_t value)
{
    memcpy((uint8_t *)w->stack + (va - WORLD_STACK_VA), &value, cpu_pointer_bytes(cpu));
}

/* A frame whose CFA is UP words above the stack pointer, with the return address just below it. */
static struct unwind_walker make(struct world *w, const struct numbering *n,
                                 struct cfi_place *place, struct unwind_frame *frame)
{
    static const uint8_t call[] = {0xe8, 1, 2, 3, 4};
    const uint32_t word = cpu_pointer_bytes(n->cpu);
    const uint32_t bl = n->cpu == CPU_ARM ? 0xeb000001 : 0x94000001;
    world_init(w, n->machine);
    w->module.base_va = BASE;
    if (n->cpu == CPU_X86 || n->cpu == CPU_X64)
        world_put(w, RETURN_RVA - 5, call, sizeof call);
    else
        world_put(w, RETURN_RVA - 4, &bl, sizeof bl);
    struct unwind_walker walker = world_walker(w, n->cpu, 0x1300, SP, PC_RETURN, frame);
    memset(w->stack, 0, sizeof w->stack);
    put_word(w, n->cpu, walker.regs.sp + (uint64_t)(UP - 1) * word, BASE + RETURN_RVA);
    *place = (struct cfi_place){.begin_rva = 0x1280, .end_rva = 0x1380, .entry_va = 0x77};
    place->return_register = n->pc;
    place->row.cfa_register = n->sp;
    place->row.cfa_offset = UP * (int64_t)word;
    place->row.rules[n->pc] = (struct cfi_rule){.kind = CFI_AT, .n = -(int64_t)word};
    return walker;
}

/* The caller's registers are those of BEFORE, but for register REG, which is VALUE. */
static void check_registers(const struct unwind_walker *walker, const struct registers *before,
                            const struct numbering *n, uint32_t reg, uint64_t value)
{
    for (uint32_t i = 0; i < register_count(n->cpu); i++) {
        const bool is_link = n->names[n->pc] != NULL && i == index_of(n->cpu, n->names[n->pc]);
        if (i != reg && !is_link && !register_is_sp(n->cpu, i))
            CHECK_HEX(walker->regs.r[i], before->r[i]);
    }
    CHECK_HEX(walker->regs.r[reg], value);
}

TEST(a_register_is_where_its_number_says)
{
    static struct world w;
    for (size_t k = 0; k < COUNT_OF(numberings); k++) {
        const struct numbering *n = &numberings[k];
        for (uint32_t number = 0; number < n->count; number++) {
            struct cfi_place place;
            struct unwind_frame frame;
            if (n->names[number] == NULL || number == n->pc)
                continue;
            struct unwind_walker walker = make(&w, n, &place, &frame);
            const struct registers before = walker.regs;
            const uint32_t reg = index_of(n->cpu, n->names[number]);
            test_row(n->names[number]);
            put_word(&w, n->cpu, before.sp, 0xabc);
            place.row.rules[number] =
                (struct cfi_rule){.kind = CFI_AT, .n = -UP * (int64_t)cpu_pointer_bytes(n->cpu)};
            CHECK(unwind_cfi_apply(&walker, &place));
            check_registers(&walker, &before, n, reg, 0xabc);
            CHECK_HEX(walker.regs.pc, BASE + RETURN_RVA);
            CHECK_HEX(walker.regs.sp, before.sp + UP * (uint64_t)cpu_pointer_bytes(n->cpu));
            CHECK_HEX(frame.return_slot_va,
                      before.sp + (UP - 1) * (uint64_t)cpu_pointer_bytes(n->cpu));
            CHECK_HEX(frame.function_begin_rva, 0x1280);
            CHECK_HEX(frame.function_end_rva, 0x1380);
            CHECK_HEX(frame.unwind_data_va, 0x77);
            CHECK_EQ(walker.caller_kind, PC_RETURN);
            world_free(&w);
        }
    }
}

/* The first register gets the value of each other one, by a rule and by breg in an expression. */
TEST(a_register_is_read_where_its_number_says)
{
    static struct world w;
    for (size_t k = 0; k < COUNT_OF(numberings); k++) {
        const struct numbering *n = &numberings[k];
        for (uint32_t number = 0; number < n->count; number++)
            for (int by_expression = 0; by_expression < 2; by_expression++) {
                const uint8_t block[] = {(uint8_t)(BREG + number), 3};
                struct cfi_place place;
                struct unwind_frame frame;
                if (n->names[number] == NULL)
                    continue;
                struct unwind_walker walker = make(&w, n, &place, &frame);
                const struct registers before = walker.regs;
                const uint64_t value = before.r[index_of(n->cpu, n->names[number])];
                test_row(n->names[number]);
                place.row.rules[0] = by_expression
                                         ? (struct cfi_rule){.kind = CFI_VALUE_BLOCK,
                                                             .block = block,
                                                             .block_bytes = sizeof block}
                                         : (struct cfi_rule){.kind = CFI_REGISTER, .n = number};
                CHECK(unwind_cfi_apply(&walker, &place));
                check_registers(&walker, &before, n, 0, by_expression ? value + 3 : value);
                world_free(&w);
            }
    }
}

static const uint8_t minus_16[] = {0x40, 0x1c};   /* lit16, minus: from the CFA */
static const uint8_t no_operand[] = {0x1c, 0x1c}; /* minus of one value */

/* rbx of x64, whose number is 3. The stack has words 0x11, 0x22, 0x33 and the return address. */
static const struct {
    const char *name;
    struct cfi_rule rule;
    uint64_t value; /* UINT64_MAX: refused */
} rules[] = {
    {"same", {.kind = CFI_SAME}, 0x1003},
    {"undefined", {.kind = CFI_UNDEFINED}, 0},
    {"at CFA - 32", {.kind = CFI_AT, .n = -32}, 0x11},
    {"at CFA - 24", {.kind = CFI_AT, .n = -24}, 0x22},
    {"the value CFA - 24", {.kind = CFI_VALUE, .n = -24}, WORLD_STACK_VA + 8 * SP + 8},
    {"in register 6, rbp", {.kind = CFI_REGISTER, .n = 6}, 0x1005},
    {"in rsp, which is the callee's", {.kind = CFI_REGISTER, .n = 7}, UINT64_MAX},
    {"in a register that it has not", {.kind = CFI_REGISTER, .n = 17}, UINT64_MAX},
    {"at an expression",
     {.kind = CFI_AT_BLOCK, .block = minus_16, .block_bytes = sizeof minus_16},
     0x33},
    {"the value of an expression",
     {.kind = CFI_VALUE_BLOCK, .block = minus_16, .block_bytes = sizeof minus_16},
     WORLD_STACK_VA + 8 * SP + 16},
    {"at an expression that is damaged",
     {.kind = CFI_AT_BLOCK, .block = no_operand, .block_bytes = sizeof no_operand},
     UINT64_MAX},
    {"the value of one that is damaged",
     {.kind = CFI_VALUE_BLOCK, .block = no_operand, .block_bytes = sizeof no_operand},
     UINT64_MAX},
    {"in memory that is missing, above", {.kind = CFI_AT, .n = 0x100000}, UINT64_MAX},
};

TEST(rules_of_every_kind)
{
    static struct world w;
    for (size_t i = 0; i < COUNT_OF(rules); i++) {
        struct cfi_place place;
        struct unwind_frame frame;
        struct unwind_walker walker = make(&w, &numberings[1], &place, &frame);
        const struct registers before = walker.regs;
        const bool found = rules[i].value != UINT64_MAX;
        test_row(rules[i].name);
        for (uint32_t k = 0; k < 3; k++)
            w.stack[SP + k] = 0x11 * (k + 1);
        place.row.rules[3] = rules[i].rule;
        CHECK_EQ(unwind_cfi_apply(&walker, &place), found);
        CHECK_HEX(walker.regs.sp, before.sp + (found ? 32 : 0));
        CHECK_HEX(walker.regs.pc, found ? BASE + RETURN_RVA : before.pc);
        CHECK_HEX(walker.regs.r[3], found ? rules[i].value : before.r[3]);
        world_free(&w);
    }
}

/* What the row says of the frame itself. */
TEST(frames_that_have_a_caller)
{
    static const uint8_t block[] = {BREG + 7, 32};
    static const struct {
        const char *name;
        uint32_t cfa_register, return_register;
        int64_t cfa_offset, sp_offset; /* SP_OFFSET: of the rule for rsp, a value; 0: none */
        uint64_t back;                 /* the return address */
        bool by_block, interrupts, found;
        int64_t moved; /* of rsp */
    } rows[] = {
        {"rsp + 32", 7, 16, 32, 0, BASE + RETURN_RVA, false, false, true, 32},
        {"by an expression", 0, 16, 0, 0, BASE + RETURN_RVA, true, false, true, 32},
        {"of no register", 17, 16, 32, 0, BASE + RETURN_RVA, false, false, false, 0},
        {"a return register that it has not", 7, 17, 32, 0, BASE + RETURN_RVA, false, false, false,
         0},
        {"rsp by a rule", 7, 16, 32, 8, BASE + RETURN_RVA, false, false, true, 40},
        {"rsp by a rule that goes down", 7, 16, 32, -40, BASE + RETURN_RVA, false, false, false, 0},
        {"no return address", 7, 16, 32, 0, BASE + RETURN_RVA + 1, false, false, false, 0},
        {"the first function", 7, 16, 32, 0, 0, false, false, true, 32},
        {"interrupted code", 7, 16, 32, 0, BASE + 0x1234, false, true, true, 32},
        {"interrupted, no code", 7, 16, 32, 0, BASE + 0x2500, false, true, false, 0},
        {"interrupted, another stack", 7, 16, 32, -40, BASE + 0x1234, false, true, true, -8},
    };
    static struct world w;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct cfi_place place;
        struct unwind_frame frame;
        struct unwind_walker walker = make(&w, &numberings[1], &place, &frame);
        const struct registers before = walker.regs;
        test_row(rows[i].name);
        w.stack[SP + UP - 1] = rows[i].back;
        place.row.cfa_register = rows[i].cfa_register;
        place.row.cfa_offset = rows[i].cfa_offset;
        place.return_register = rows[i].return_register;
        place.interrupts = rows[i].interrupts;
        if (rows[i].by_block) {
            place.row.cfa_block = block;
            place.row.cfa_block_bytes = sizeof block;
        }
        if (rows[i].sp_offset != 0)
            place.row.rules[7] = (struct cfi_rule){.kind = CFI_VALUE, .n = rows[i].sp_offset};
        CHECK_EQ(unwind_cfi_apply(&walker, &place), rows[i].found);
        CHECK_HEX(walker.regs.sp, before.sp + (uint64_t)rows[i].moved);
        CHECK_HEX(walker.regs.pc, rows[i].found ? rows[i].back : before.pc);
        CHECK_EQ(walker.caller_kind,
                 rows[i].found && rows[i].interrupts ? PC_INTERRUPTED : PC_RETURN);
        world_free(&w);
    }
}
