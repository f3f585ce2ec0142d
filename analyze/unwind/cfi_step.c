/* Leaves a frame by a row of call frame information; see cfi_step.h.
 *
 * The processors' numbers of registers in DWARF are those of their psABIs. */
#include "unwind/cfi_step.h"

#include "base/array.h"
#include "unwind/tables.h"

enum { STACK_MAX = 16, AT_SP = -1, AT_PC = -2 };

/* Where struct registers has the registers of DWARF: a number of r[], or AT_SP, AT_PC. */
struct cfi_machine {
    enum cpu cpu;
    uint32_t count, sp;
    int8_t places[CFI_REGISTERS];
};

static const struct cfi_machine machines[] = {
    {CPU_X86, 9, 4, {0, 1, 2, 3, AT_SP, 5, 6, 7, AT_PC}},
    {CPU_X64, 17, 7, {0, 2, 1, 3, 6, 7, 5, AT_SP, 8, 9, 10, 11, 12, 13, 14, 15, AT_PC}},
    {CPU_ARM64, 32, 31, {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                         16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, AT_SP}},
    {CPU_ARM, 16, 13, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, AT_SP, 14, AT_PC}},
};

static const struct cfi_machine *machine_of(enum cpu cpu)
{
    for (size_t i = 0; i < COUNT_OF(machines); i++)
        if (machines[i].cpu == cpu)
            return &machines[i];
    return NULL;
}

/* What one evaluation needs. */
struct reading {
    const struct unwind_walker *w;
    const struct cfi_machine *machine;
    uint64_t mask; /* of a word */
};

/* False: the processor has no register of that number. */
static bool register_value(const struct reading *in, uint64_t number, uint64_t *out)
{
    const struct registers *regs = &in->w->regs;
    if (number >= in->machine->count)
        return false;
    const int8_t place = in->machine->places[number];
    if (place == AT_SP)
        *out = regs->sp;
    else if (place == AT_PC)
        *out = regs->pc;
    else
        *out = regs->r[place];
    return true;
}

/* The operations that compilers and hand-written code use in these expressions: registers plus
 * offsets, constants, memory reads, and simple arithmetic. */
static bool push_word(const struct reading *in, uint8_t op, struct bytes *r, uint64_t *out)
{
    uint64_t value;
    if (op >= 0x30 && op <= 0x4f) { /* lit0 .. lit31 */
        *out = op - 0x30u;
    } else if (op >= 0x70 && op <= 0x8f && register_value(in, op - 0x70u, &value)) { /* breg */
        *out = value + (uint64_t)cfi_signed(r);
    } else if (op == 0x03) { /* addr */
        *out = in->mask == UINT64_MAX ? bytes_u64(r) : bytes_u32(r);
    } else if (op == 0x08) { /* const1u */
        *out = bytes_u8(r);
    } else if (op == 0x09) { /* const1s */
        *out = (uint64_t)(int64_t)(int8_t)bytes_u8(r);
    } else if (op == 0x0a) { /* const2u */
        *out = bytes_u16(r);
    } else if (op == 0x0b) { /* const2s */
        *out = (uint64_t)(int64_t)(int16_t)bytes_u16(r);
    } else if (op == 0x0c) { /* const4u */
        *out = bytes_u32(r);
    } else if (op == 0x0d) { /* const4s */
        *out = (uint64_t)(int64_t)(int32_t)bytes_u32(r);
    } else if (op == 0x10) { /* constu */
        *out = cfi_unsigned(r);
    } else if (op == 0x11) { /* consts */
        *out = (uint64_t)cfi_signed(r);
    } else {
        return false;
    }
    *out &= in->mask;
    return true;
}

/* The words as signed numbers, as comparisons take them. */
static int64_t signed_word(const struct reading *in, uint64_t word)
{
    return in->mask == UINT64_MAX ? (int64_t)word : (int32_t)(uint32_t)word;
}

static bool combine(const struct reading *in, uint8_t op, uint64_t a, uint64_t b, uint64_t *out)
{
    const int64_t x = signed_word(in, a), y = signed_word(in, b);
    switch (op) {
    case 0x1a:
        *out = a & b;
        break;
    case 0x1c:
        *out = a - b;
        break;
    case 0x1e:
        *out = a * b;
        break;
    case 0x21:
        *out = a | b;
        break;
    case 0x22:
        *out = a + b;
        break;
    case 0x24:
        *out = b < (in->mask == UINT64_MAX ? 64 : 32) ? a << b : 0;
        break;
    case 0x29: /* eq, ge, gt, le, lt, ne: procedure linkage tables use ge */
        *out = x == y;
        break;
    case 0x2a:
        *out = x >= y;
        break;
    case 0x2b:
        *out = x > y;
        break;
    case 0x2c:
        *out = x <= y;
        break;
    case 0x2d:
        *out = x < y;
        break;
    case 0x2e:
        *out = x != y;
        break;
    default:
        return false;
    }
    *out &= in->mask;
    return true;
}

/* FIRST is on the stack at the start.  Source: DWARF 5, 2.5 and 6.4.2. */
static bool evaluate(const struct reading *in, const uint8_t *block, uint32_t bytes, uint64_t first,
                     uint64_t *out)
{
    struct fault fault = FAULT_INIT;
    struct bytes r = bytes_over(block, bytes, &fault);
    uint64_t stack[STACK_MAX] = {first};
    uint32_t depth = 1;
    while (r.left > 0 && !bytes_failed(&r)) {
        uint8_t op = bytes_u8(&r);
        uint64_t *top = &stack[depth - 1], word;
        if (push_word(in, op, &r, &word)) {
            if (depth == STACK_MAX)
                return false;
            stack[depth++] = word;
        } else if (op == 0x06) { /* deref */
            if (!unwind_read_pointer(in->w, *top, top))
                return false;
        } else if (op == 0x23) { /* plus_uconst */
            *top = (*top + cfi_unsigned(&r)) & in->mask;
        } else if (op != 0x96) { /* nop */
            if (depth < 2 || !combine(in, op, stack[depth - 2], *top, &stack[depth - 2]))
                return false;
            depth--;
        }
    }
    *out = stack[depth - 1];
    return !bytes_failed(&r);
}

static bool find_cfa(const struct reading *in, const struct cfi_row *row, uint64_t *out)
{
    uint64_t from;
    if (row->cfa_block != NULL)
        return evaluate(in, row->cfa_block, row->cfa_block_bytes, 0, out);
    if (!register_value(in, row->cfa_register, &from))
        return false;
    *out = (from + (uint64_t)row->cfa_offset) & in->mask;
    return true;
}

/* The caller's value of register NUMBER; *slot_va: the address it was read from, or 0. */
static bool find_register(const struct reading *in, const struct cfi_row *row, uint32_t number,
                          uint64_t cfa, uint64_t *out, uint64_t *slot_va)
{
    const struct cfi_rule *rule = &row->rules[number];
    uint64_t va = (cfa + (uint64_t)rule->n) & in->mask;
    *slot_va = 0;
    *out = 0;
    switch (rule->kind) {
    case CFI_SAME: /* the pc itself never is */
        return register_value(in, number, out) && in->machine->places[number] != AT_PC;
    case CFI_UNDEFINED:
        return true;
    case CFI_REGISTER:
        return (uint64_t)rule->n != in->machine->sp && register_value(in, (uint64_t)rule->n, out);
    case CFI_VALUE:
        *out = va;
        return true;
    case CFI_VALUE_BLOCK:
        return evaluate(in, rule->block, rule->block_bytes, cfa, out);
    case CFI_AT_BLOCK:
        if (!evaluate(in, rule->block, rule->block_bytes, cfa, &va))
            return false;
        break;
    case CFI_AT:
        break;
    }
    *slot_va = va;
    return unwind_read_pointer(in->w, va, out);
}

bool unwind_cfi_apply(struct unwind_walker *w, const struct cfi_place *place)
{
    const struct reading in = {w, machine_of(w->regs.cpu),
                               cpu_pointer_bytes(w->regs.cpu) == 8 ? UINT64_MAX : UINT32_MAX};
    const struct cfi_row *row = &place->row;
    struct registers caller = w->regs;
    uint64_t slot_va = 0, cfa, unused;

    if (in.machine == NULL || !find_cfa(&in, row, &cfa) ||
        place->return_register >= in.machine->count)
        return false;
    for (uint32_t i = 0; i < in.machine->count; i++) {
        const int8_t at = in.machine->places[i];
        uint64_t value;
        if (at < 0)
            continue;
        if (find_register(&in, row, i, cfa, &value, &slot_va))
            caller.r[at] = value;
        else if (slot_va == 0 || slot_va >= w->regs.sp)
            return false; /* below the stack pointer it has been popped: the register has it */
    }
    if (!find_register(&in, row, place->return_register, cfa, &caller.pc, &slot_va))
        return false;
    caller.pc = unwind_strip(w, caller.pc);
    caller.sp = cfa;
    if (row->rules[in.machine->sp].kind != CFI_SAME &&
        !find_register(&in, row, in.machine->sp, cfa, &caller.sp, &unused))
        return false;
    const bool lands = place->interrupts ? unwind_is_code(w, caller.pc)
                                         : caller.pc == 0 || unwind_is_return(w, caller.pc);
    const bool pops = caller.sp > w->regs.sp ||
                      (caller.sp == w->regs.sp && place->return_register < in.machine->count &&
                       in.machine->places[place->return_register] >= 0);
    if (!lands || (!pops && !place->interrupts))
        return false;
    w->regs = caller;
    w->frame->return_slot_va = slot_va;
    w->frame->function_begin_rva = place->begin_rva;
    w->frame->function_end_rva = place->end_rva;
    w->frame->unwind_data_va = place->entry_va;
    if (place->interrupts)
        w->caller_kind = PC_INTERRUPTED;
    return true;
}

bool unwind_image_rules(struct unwind_walker *w)
{
    const struct module *module = w->frame->module;
    const struct cfi_table *table = module != NULL ? unwind_image_cfi_of(w->process, module) : NULL;
    struct cfi_place place;
    if (table == NULL)
        return false;
    const uint64_t rva = w->frame->pc_va - module->base_va - (w->frame->kind == PC_RETURN);
    if (rva > UINT32_MAX || !cfi_find(table, (uint32_t)rva, &place) || !unwind_cfi_apply(w, &place))
        return false;
    w->caller_found = FOUND_CFI;
    return true;
}
