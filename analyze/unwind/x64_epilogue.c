/* x64 epilogues by their code bytes.
 *
 * Version 1 unwind data does not say where epilogues are; the calling convention says what they
 * look like instead:
 *     [add rsp, n | lea rsp, [fp + n]]   pop reg ...   ret | iretq | jmp out of the function
 * So the rest of an epilogue can be recognised and executed from any pc. A direct jump ends an
 * epilogue if it leaves the function and its chained parts, or goes to the function's first byte (a
 * tail call to itself). A jump through a register ends one only with a REX.W prefix, which
 * compilers set for this purpose. iretq pops the machine frame and resumes the interrupted code;
 * Windows' own unwinders do not recognise it.
 *
 * A function at 0x1100 to 0x1200 that pushed r12 and rbx and has 32 bytes of locals:
 *
 *   pc                               rsp       return address, rbx and r12   caller's rsp
 *   0x11f0  48 83 c4 20  add rsp, 32 S         at S + 48, 32, 40             S + 56
 *   0x11f4  5b           pop rbx     S + 32    same                          same
 *   0x11f5  41 5c        pop r12     S + 40    S + 48, popped already, 40    same
 *   0x11f7  c3           ret         S + 48    S + 48, both popped already   same
 *
 * With e9 24 01 00 00 in place of ret, the jump goes to 0x11f7 + 5 + 0x124 = 0x1320: another
 * function, so the same holds. With e9 54 ff ff ff it goes to 0x1150, in this function: all four
 * are its body, and the unwind data's prologue is undone whole. With e9 04 ff ff ff it goes to
 * 0x1100, the first byte: an epilogue again.
 * Source: https://learn.microsoft.com/cpp/build/prolog-and-epilog */
#include "unwind/x64_epilogue.h"

#include "base/limits.h"
#include "unwind/tables.h"

enum { WINDOW_BYTES = 64 };

/* The code bytes at the pc; zero where unknown, which matches no epilogue. */
struct window {
    uint8_t code[WINDOW_BYTES];
    uint32_t bytes, at;
};

static const uint8_t *peek(struct window *win, uint32_t bytes)
{
    static const uint8_t none[16];
    if (bytes > win->bytes - win->at)
        return none;
    return win->code + win->at;
}

static int32_t signed_u32(const uint8_t *p)
{
    return (int32_t)load_u32(p);
}

/* add rsp, n */
static bool take_add(struct window *win, struct registers *regs)
{
    const uint8_t *p = peek(win, 7);
    if (win->bytes - win->at < 7)
        p = peek(win, 4);
    if (p[0] != 0x48 || (p[1] != 0x83 && p[1] != 0x81) || p[2] != 0xc4)
        return false;
    if (p[1] == 0x83) {
        regs->sp += (uint64_t)(int64_t)(int8_t)p[3];
        win->at += 4;
    } else {
        regs->sp += (uint64_t)(int64_t)signed_u32(p + 3);
        win->at += 7;
    }
    return true;
}

/* lea rsp, [fp + n], with FP the frame register of the unwind data */
static bool take_lea(struct window *win, const struct x64_info *info, struct registers *regs)
{
    const uint8_t *p = peek(win, 7);
    if (win->bytes - win->at < 7)
        p = peek(win, 4);
    uint8_t fp = info->frame_register;
    if (fp == 0 || (p[0] & 0xfe) != 0x48 || p[1] != 0x8d || (p[2] & 0x38) != 0x20)
        return false;
    if ((p[2] & 7) != (fp & 7) || (p[2] & 7) == 4 || (p[0] & 1) != fp >> 3)
        return false;
    switch (p[2] >> 6) {
    case 0:
        if ((p[2] & 7) == 5)
            return false; /* relative to rip */
        regs->sp = regs->r[fp];
        win->at += 3;
        return true;
    case 1:
        regs->sp = regs->r[fp] + (uint64_t)(int64_t)(int8_t)p[3];
        win->at += 4;
        return true;
    case 2:
        regs->sp = regs->r[fp] + (uint64_t)(int64_t)signed_u32(p + 3);
        win->at += 7;
        return true;
    default:
        return false;
    }
}

/* pop reg; false at the first other instruction, or when the stack cannot be read (*lost). */
static bool take_pop(struct window *win, const struct unwind_process *process,
                     struct registers *regs, bool *lost)
{
    const uint8_t *p = peek(win, 2);
    uint8_t high = (p[0] & 0xf8) == 0x40 ? 1 : 0;
    uint8_t opcode = p[high], number = (uint8_t)(opcode & 7);
    if ((opcode & 0xf8) != 0x58)
        return false;
    if (high == 1 && (p[0] & 1) != 0)
        number = (uint8_t)(number + 8);
    uint64_t value;
    if (!unwind_read_u64(process, regs->sp, &value)) {
        *lost = true;
        return false;
    }
    if (number != 4)
        regs->r[number] = value;
    regs->sp += 8;
    win->at += 1u + high;
    return true;
}

/* The function that ENTRY is a part of: the end of its chain. */
static struct unwind_entry primary(const struct unwind_process *process, struct unwind_entry entry)
{
    struct x64_info info;
    for (uint32_t i = 0; i < LIMIT_UNWIND_CHAIN; i++) {
        if (x64_info_read(process, entry.base_va, entry.unwind_rva & ~1u, &info) != STOP_NONE ||
            (info.flags & X64_CHAINED) == 0)
            break;
        entry = info.chained;
    }
    return entry;
}

static bool find_entry(const struct unwind_process *process, uint64_t va, struct unwind_entry *out)
{
    const struct module *module = process->module_at(process->self, va);
    if (module == NULL)
        return process->generated != NULL && process->generated(process->self, va, out) &&
               out->unwind_rva != 0;
    const struct unwind_module *facts = unwind_module_of(process, module);
    return facts != NULL && unwind_pdata_find(process, facts, (uint32_t)(va - module->base_va), 12,
                                              out) == UNWIND_ROW_FOUND;
}

static bool jump_leaves(const struct unwind_process *process, const struct unwind_entry *entry,
                        const struct x64_info *info, uint64_t target_va)
{
    uint64_t rva = target_va - entry->base_va;
    if (rva >= entry->begin_rva && rva < entry->end_rva)
        return rva == entry->begin_rva && (info->flags & X64_CHAINED) == 0;
    struct unwind_entry other;
    if (!find_entry(process, target_va, &other))
        return true;
    struct unwind_entry ours = primary(process, *entry), theirs = primary(process, other);
    return theirs.base_va != ours.base_va || theirs.begin_rva != ours.begin_rva ||
           rva == ours.begin_rva;
}

/* The instruction that ends an epilogue: any form of ret, or a jump out of the function. */
static bool takes_leave(const struct window *win, const struct unwind_process *process,
                        const struct unwind_entry *entry, const struct x64_info *info,
                        uint64_t pc_va)
{
    struct window copy = *win;
    const uint8_t *p = peek(&copy, 5);
    uint32_t have = win->bytes - win->at;
    if (have < 5)
        p = peek(&copy, have < 1 ? 1 : have);
    uint64_t here = pc_va + win->at;
    if (p[0] == 0xc3 || (p[0] == 0xc2 && have >= 3) || (p[0] == 0xf3 && have >= 2 && p[1] == 0xc3))
        return true;
    if (p[0] == 0xf2 && have >= 2 && p[1] == 0xc3) /* bnd ret */
        return true;
    if (p[0] == 0xeb && have >= 2)
        return jump_leaves(process, entry, info, here + 2 + (uint64_t)(int64_t)(int8_t)p[1]);
    if (p[0] == 0xe9 && have >= 5)
        return jump_leaves(process, entry, info, here + 5 + (uint64_t)(int64_t)signed_u32(p + 1));
    if (p[0] == 0xff && have >= 2 && p[1] == 0x25)
        return true;
    return (p[0] & 0xf8) == 0x48 && have >= 3 && p[1] == 0xff && (p[2] & 0x38) == 0x20;
}

static bool is_interrupt_return(const struct window *win)
{
    struct window copy = *win;
    const uint8_t *p = peek(&copy, 2);
    return p[0] == 0x48 && p[1] == 0xcf;
}

enum x64_place x64_epilogue(const struct unwind_process *process, const struct unwind_entry *entry,
                            const struct x64_info *info, struct registers *regs,
                            uint64_t *return_slot_va, bool *interrupted)
{
    struct window win = {0};
    struct registers after = *regs;
    bool lost = false;
    win.bytes = unwind_read_code(process, regs->pc, win.code, WINDOW_BYTES);
    if (!take_add(&win, &after))
        (void)take_lea(&win, info, &after);
    while (take_pop(&win, process, &after, &lost)) {
    }
    *interrupted = is_interrupt_return(&win);
    if (lost)
        return X64_EPILOGUE_LOST;
    if (!*interrupted && !takes_leave(&win, process, entry, info, regs->pc))
        return X64_BODY;
    uint64_t pc, sp = after.sp + 8;
    if (!unwind_read_u64(process, after.sp, &pc) ||
        (*interrupted && !unwind_read_u64(process, after.sp + 24, &sp)))
        return X64_EPILOGUE_LOST;
    *return_slot_va = after.sp;
    after.pc = pc;
    after.sp = sp;
    *regs = after;
    return X64_EPILOGUE;
}
