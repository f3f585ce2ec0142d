/* Leaves an x86 frame by its call frame information; see x86_cfi.h.
 *
 * The instructions up to the pc build a row of rules: where the frame's upper end (the CFA) is, and
 * where the caller's registers are relative to it. */
#include "unwind/x86_cfi.h"

#include "base/array.h"
#include "unwind/tables.h"
#include "unwind/x86_cfi_table.h"
#include <string.h>

enum {
    REGISTERS = 9, /* the eight general registers and eip */
    STACK_POINTER = 4,
    STACK_MAX = 16,
    CODE_BYTES = 256,
    FUNCTION_BYTES_MAX = 1 << 16,
};

enum rule_kind {
    RULE_SAME,
    RULE_UNDEFINED,
    RULE_AT,          /* at CFA + n                    */
    RULE_VALUE,       /* CFA + n itself                */
    RULE_REGISTER,    /* in register n                 */
    RULE_AT_BLOCK,    /* at the address that an expression yields     */
    RULE_VALUE_BLOCK, /* the value of an expression    */
};

struct rule {
    enum rule_kind kind;
    int32_t n;
    const uint8_t *block;
    uint32_t block_bytes;
};

struct row {
    uint32_t cfa_register;
    int32_t cfa_offset;
    const uint8_t *cfa_block; /* instead; NULL: none */
    uint32_t cfa_block_bytes;
    struct rule r[REGISTERS];
};

struct machine {
    const struct cfi_entry *entry;
    struct row row, initial, saved[CFI_SAVED_MAX];
    uint32_t saved_count;
    uint32_t at_rva, target_rva;
    bool unknown; /* an instruction that this reader does not know */
};

static const uint8_t *take_block(struct bytes *r, uint32_t *bytes)
{
    uint64_t size = cfi_unsigned(r);
    *bytes = size <= UINT32_MAX ? (uint32_t)size : 0;
    return bytes_take(r, size);
}

static void set_rule(struct machine *m, uint64_t reg, struct rule rule)
{
    if (reg < REGISTERS)
        m->row.r[reg] = rule;
}

static int32_t scaled(const struct machine *m, int64_t factored)
{
    return (int32_t)((uint32_t)factored * (uint32_t)m->entry->data_align);
}

static void restore(struct machine *m, uint64_t reg)
{
    if (reg < REGISTERS)
        m->row.r[reg] = m->initial.r[reg];
}

/* Runs an instruction that defines the CFA. False: not one of those. */
static bool define_cfa(struct machine *m, uint8_t op, struct bytes *r)
{
    struct row *row = &m->row;
    switch (op) {
    case 0x0c: /* def_cfa */
    case 0x12: /* def_cfa_sf */
        row->cfa_register = (uint32_t)cfi_unsigned(r);
        row->cfa_offset = op == 0x0c ? (int32_t)cfi_unsigned(r) : scaled(m, cfi_signed(r));
        break;
    case 0x0d: /* def_cfa_register */
        row->cfa_register = (uint32_t)cfi_unsigned(r);
        break;
    case 0x0e: /* def_cfa_offset */
        row->cfa_offset = (int32_t)cfi_unsigned(r);
        break;
    case 0x13: /* def_cfa_offset_sf */
        row->cfa_offset = scaled(m, cfi_signed(r));
        break;
    case 0x0f: /* def_cfa_expression */
        row->cfa_block = take_block(r, &row->cfa_block_bytes);
        return true;
    default:
        return false;
    }
    row->cfa_block = NULL;
    return true;
}

/* Runs an instruction that defines where a register is saved. False: not one of those. */
static bool define_register(struct machine *m, uint8_t op, struct bytes *r)
{
    static const enum rule_kind kinds[] = {
        [0x05] = RULE_AT,       [0x07] = RULE_UNDEFINED, [0x08] = RULE_SAME,
        [0x09] = RULE_REGISTER, [0x10] = RULE_AT_BLOCK,  [0x11] = RULE_AT,
        [0x14] = RULE_VALUE,    [0x15] = RULE_VALUE,     [0x16] = RULE_VALUE_BLOCK};
    if (op == 0x2f) { /* GNU_negative_offset_extended */
        uint64_t reg = cfi_unsigned(r);
        set_rule(m, reg, (struct rule){.kind = RULE_AT, .n = scaled(m, -(int64_t)cfi_unsigned(r))});
        return true;
    }
    if (op >= COUNT_OF(kinds) || (kinds[op] == RULE_SAME && op != 0x08))
        return false;
    struct rule rule = {.kind = kinds[op]};
    uint64_t reg = cfi_unsigned(r);
    if (op == 0x05 || op == 0x14)
        rule.n = scaled(m, (int64_t)cfi_unsigned(r));
    else if (op == 0x11 || op == 0x15)
        rule.n = scaled(m, cfi_signed(r));
    else if (op == 0x09)
        rule.n = (int32_t)cfi_unsigned(r);
    else if (op == 0x10 || op == 0x16)
        rule.block = take_block(r, &rule.block_bytes);
    set_rule(m, reg, rule);
    return true;
}

static void advance(struct machine *m, uint32_t units)
{
    m->at_rva += units * m->entry->code_align;
}

static void run_other(struct machine *m, uint8_t op, struct bytes *r)
{
    switch (op) {
    case 0x00: /* nop */
        break;
    case 0x02: /* advance_loc1, 2, 4 */
        advance(m, bytes_u8(r));
        break;
    case 0x03:
        advance(m, bytes_u16(r));
        break;
    case 0x04:
        advance(m, bytes_u32(r));
        break;
    case 0x06: /* restore_extended */
        restore(m, cfi_unsigned(r));
        break;
    case 0x0a: /* remember_state */
        if (m->saved_count < CFI_SAVED_MAX)
            m->saved[m->saved_count++] = m->row;
        else
            m->unknown = true;
        break;
    case 0x0b: /* restore_state */
        if (m->saved_count > 0)
            m->row = m->saved[--m->saved_count];
        else
            m->unknown = true;
        break;
    case 0x2e: /* GNU_args_size: used only for exceptions */
        (void)cfi_unsigned(r);
        break;
    default:
        if (!define_cfa(m, op, r) && !define_register(m, op, r))
            m->unknown = true;
    }
}

/* Runs instructions up to the target.  False: damaged or not understood. */
static bool run(struct machine *m, struct bytes r)
{
    while (r.left > 0 && !m->unknown && !bytes_failed(&r)) {
        uint8_t byte = bytes_u8(&r), low = byte & 0x3f;
        switch (byte >> 6) {
        case 1: /* advance_loc */
            advance(m, low);
            break;
        case 2: /* offset */
            set_rule(m, low,
                     (struct rule){.kind = RULE_AT, .n = scaled(m, (int64_t)cfi_unsigned(&r))});
            break;
        case 3: /* restore */
            restore(m, low);
            break;
        default:
            run_other(m, byte, &r);
        }
        if (m->at_rva > m->target_rva)
            break;
    }
    return !m->unknown && !bytes_failed(&r);
}

/* The operations that compilers and hand-written code use in these expressions: registers plus
 * offsets, constants, memory reads, and simple arithmetic. */
static bool push_word(const struct registers *regs, uint8_t op, struct bytes *r, uint32_t *out)
{
    if (op >= 0x30 && op <= 0x4f) { /* lit0 .. lit31 */
        *out = op - 0x30u;
    } else if (op >= 0x70 && op < 0x70 + REGISTERS) { /* breg */
        uint32_t reg = op - 0x70u;
        uint64_t value = reg == STACK_POINTER ? regs->sp : reg < 8 ? regs->r[reg] : regs->pc;
        *out = (uint32_t)value + (uint32_t)cfi_signed(r);
    } else if (op == 0x03 || op == 0x0c || op == 0x0d) { /* addr, const4u, const4s */
        *out = bytes_u32(r);
    } else if (op == 0x08) { /* const1u */
        *out = bytes_u8(r);
    } else if (op == 0x09) { /* const1s */
        *out = (uint32_t)(int8_t)bytes_u8(r);
    } else if (op == 0x0a) { /* const2u */
        *out = bytes_u16(r);
    } else if (op == 0x0b) { /* const2s */
        *out = (uint32_t)(int16_t)bytes_u16(r);
    } else if (op == 0x10) { /* constu */
        *out = (uint32_t)cfi_unsigned(r);
    } else if (op == 0x11) { /* consts */
        *out = (uint32_t)cfi_signed(r);
    } else {
        return false;
    }
    return true;
}

static bool combine(uint8_t op, uint32_t a, uint32_t b, uint32_t *out)
{
    switch (op) {
    case 0x1a:
        *out = a & b;
        return true;
    case 0x1c:
        *out = a - b;
        return true;
    case 0x1e:
        *out = a * b;
        return true;
    case 0x21:
        *out = a | b;
        return true;
    case 0x22:
        *out = a + b;
        return true;
    case 0x24:
        *out = b < 32 ? a << b : 0;
        return true;
    default:
        return false;
    }
}

/* FIRST is on the stack at the start.  Source: DWARF 5, 2.5 and 6.4.2. */
static bool evaluate(const struct unwind_walker *w, const uint8_t *block, uint32_t bytes,
                     uint32_t first, uint32_t *out)
{
    struct fault fault = FAULT_INIT;
    struct bytes r = bytes_over(block, bytes, &fault);
    uint32_t stack[STACK_MAX] = {first}, depth = 1;
    while (r.left > 0 && !bytes_failed(&r)) {
        uint8_t op = bytes_u8(&r);
        uint32_t *top = &stack[depth - 1], word;
        if (push_word(&w->regs, op, &r, &word)) {
            if (depth == STACK_MAX)
                return false;
            stack[depth++] = word;
        } else if (op == 0x06) { /* deref */
            if (!unwind_read_u32(w->process, *top, top))
                return false;
        } else if (op == 0x23) { /* plus_uconst */
            *top += (uint32_t)cfi_unsigned(&r);
        } else if (op != 0x96) { /* nop */
            if (depth < 2 || !combine(op, stack[depth - 2], *top, &stack[depth - 2]))
                return false;
            depth--;
        }
    }
    *out = stack[depth - 1];
    return !bytes_failed(&r);
}

static bool find_cfa(const struct unwind_walker *w, const struct row *row, uint32_t *out)
{
    if (row->cfa_block != NULL)
        return evaluate(w, row->cfa_block, row->cfa_block_bytes, 0, out);
    if (row->cfa_register >= 8)
        return false;
    uint64_t from = row->cfa_register == STACK_POINTER ? w->regs.sp : w->regs.r[row->cfa_register];
    *out = (uint32_t)from + (uint32_t)row->cfa_offset;
    return true;
}

/* The caller's value of register INDEX; *slot_va: the address it was read from, or 0. */
static bool find_register(const struct unwind_walker *w, const struct row *row, uint32_t index,
                          uint32_t cfa, uint64_t *out, uint64_t *slot_va)
{
    const struct rule *rule = &row->r[index];
    uint32_t va = cfa + (uint32_t)rule->n, value = 0;
    *slot_va = 0;
    switch (rule->kind) {
    case RULE_SAME:
        *out = index < 8 ? w->regs.r[index] : 0;
        return index < 8;
    case RULE_UNDEFINED:
        *out = 0;
        return true;
    case RULE_REGISTER:
        *out = (uint32_t)rule->n < 8 ? w->regs.r[rule->n] : 0;
        return (uint32_t)rule->n < 8 && rule->n != STACK_POINTER;
    case RULE_VALUE:
        *out = va;
        return true;
    case RULE_VALUE_BLOCK:
        if (!evaluate(w, rule->block, rule->block_bytes, cfa, &value))
            return false;
        *out = value;
        return true;
    case RULE_AT_BLOCK:
        if (!evaluate(w, rule->block, rule->block_bytes, cfa, &va))
            return false;
        break;
    case RULE_AT:
        break;
    }
    *slot_va = va;
    *out = 0;
    if (!unwind_read_u32(w->process, va, &value))
        return false;
    *out = value;
    return true;
}

static bool apply(struct unwind_walker *w, const struct machine *m)
{
    struct registers caller = w->regs;
    uint64_t slot_va = 0;
    uint32_t cfa;
    if (!find_cfa(w, &m->row, &cfa))
        return false;
    for (uint32_t i = 0; i < 8; i++)
        if (i != STACK_POINTER && !find_register(w, &m->row, i, cfa, &caller.r[i], &slot_va))
            return false;
    if (m->entry->pc_register >= REGISTERS ||
        !find_register(w, &m->row, m->entry->pc_register, cfa, &caller.pc, &slot_va))
        return false;
    caller.sp = cfa;
    if (m->row.r[STACK_POINTER].kind != RULE_SAME) {
        uint64_t unused;
        if (!find_register(w, &m->row, STACK_POINTER, cfa, &caller.sp, &unused))
            return false;
    }
    bool lands = m->entry->interrupts ? unwind_is_code(w, caller.pc)
                                      : caller.pc == 0 || unwind_is_return(w, caller.pc);
    if (!lands || (caller.sp <= w->regs.sp && !m->entry->interrupts))
        return false;
    w->regs = caller;
    w->frame->return_slot_va = slot_va;
    return true;
}

/* The row of rules that applies at RVA. */
static bool row_at(const struct cfi_entry *entry, uint32_t rva, struct machine *m)
{
    *m = (struct machine){.entry = entry, .at_rva = entry->begin_rva, .target_rva = rva};
    if (!run(m, entry->initial))
        return false;
    m->initial = m->row;
    return run(m, entry->own);
}

/* How many bytes of arguments the function removes: the n of a `ret n` in it. The frame data of its
 * caller counts from above them. */
static uint32_t params_bytes(const struct unwind_walker *w, const struct cfi_entry *entry)
{
    uint8_t code[CODE_BYTES];
    uint64_t base_va = w->frame->module->base_va;
    uint32_t bytes = 0;
    for (uint32_t at = entry->begin_rva; at + 3 <= entry->end_rva; at += bytes - 2) {
        bytes = entry->end_rva - at < CODE_BYTES ? entry->end_rva - at : CODE_BYTES;
        if (at - entry->begin_rva > FUNCTION_BYTES_MAX ||
            !w->process->read(w->process->self, base_va + at, code, bytes))
            return 0;
        for (uint32_t i = 0; i + 3 <= bytes; i++) {
            struct machine m;
            if (code[i] != 0xc2 || code[i + 1] % 4 != 0 || code[i + 2] != 0 ||
                !row_at(entry, at + i, &m))
                continue;
            if (m.row.cfa_block == NULL && m.row.cfa_register == STACK_POINTER &&
                m.row.cfa_offset == 4) /* only the return address is left */
                return code[i + 1];
        }
    }
    return 0;
}

bool unwind_x86_cfi(struct unwind_walker *w)
{
    const struct module *module = w->frame->module;
    const struct cfi_table *table = unwind_cfi_of(w->process, module);
    uint32_t rva = (uint32_t)(w->regs.pc - module->base_va) - (w->frame->kind == PC_RETURN);
    struct fault fault = FAULT_INIT;
    struct cfi_entry entry;
    struct machine m;
    if (table == NULL || !cfi_find(table, rva, &fault, &entry) || !row_at(&entry, rva, &m) ||
        !apply(w, &m))
        return false;
    w->frame->function_begin_rva = entry.begin_rva;
    w->frame->function_end_rva = entry.end_rva;
    w->frame->unwind_data_va = entry.entry_va;
    w->callee_params_bytes = params_bytes(w, &entry);
    w->callee_takes_params = w->callee_params_bytes > 0;
    if (entry.interrupts)
        w->caller_kind = PC_INTERRUPTED;
    w->caller_found = FOUND_UNWIND;
    return true;
}
