/* x86 prologues and epilogues by their code bytes.
 *
 * Frame data describes function bodies: at a `ret` it still counts locals that are already gone. So
 * the rest of an epilogue is executed, from any pc, as the processor would: [add esp, n | lea esp,
 * [ebp + n] | mov esp, ebp | leave] pop reg ... ret | jmp out In a function that has no PDB, the
 * first two instructions of a frame are also recognised. */
#include "unwind/x86_code.h"

#include "format/pdb/module.h"

enum { WINDOW_BYTES = 32 };

/* The code bytes at the pc. */
struct window {
    uint8_t code[WINDOW_BYTES + 8]; /* zeros at the end, so that short reads need no check */
    uint32_t bytes, at;
};

static bool read_window(const struct unwind_process *process, uint64_t va, struct window *out)
{
    *out = (struct window){0};
    for (uint32_t bytes = WINDOW_BYTES; bytes > 0; bytes /= 2) {
        if (process->read(process->self, va, out->code, bytes)) {
            out->bytes = bytes;
            return true;
        }
    }
    return false;
}

static uint32_t plus_i8(uint64_t value, uint8_t byte)
{
    return (uint32_t)value + (uint32_t)(int32_t)(int8_t)byte;
}

/* Executes the instruction that frees the locals, if there is one; false when the stack cannot be
 * read. */
static bool take_release(const struct unwind_walker *w, struct window *win, struct registers *regs)
{
    const uint8_t *p = win->code + win->at;
    if (p[0] == 0x83 && p[1] == 0xc4) {
        regs->sp = plus_i8(regs->sp, p[2]);
        win->at += 3;
    } else if (p[0] == 0x81 && p[1] == 0xc4) {
        regs->sp = (uint32_t)(regs->sp + load_u32(p + 2));
        win->at += 6;
    } else if (p[0] == 0x8d && p[1] == 0x65) {
        regs->sp = plus_i8(regs->r[REG_X86_EBP], p[2]);
        win->at += 3;
    } else if (p[0] == 0x8d && p[1] == 0xa5) {
        regs->sp = (uint32_t)(regs->r[REG_X86_EBP] + load_u32(p + 2));
        win->at += 6;
    } else if ((p[0] == 0x8b && p[1] == 0xe5) || (p[0] == 0x89 && p[1] == 0xec)) {
        regs->sp = regs->r[REG_X86_EBP];
        win->at += 2;
    } else if (p[0] == 0xc9) { /* leave */
        uint32_t ebp;
        regs->sp = regs->r[REG_X86_EBP];
        if (!unwind_read_u32(w->process, regs->sp, &ebp))
            return false;
        regs->r[REG_X86_EBP] = ebp;
        regs->sp += 4;
        win->at++;
    }
    return true;
}

static bool take_pops(const struct unwind_walker *w, struct window *win, struct registers *regs)
{
    for (; (win->code[win->at] & 0xf8) == 0x58 && win->code[win->at] != 0x5c; win->at++) {
        uint32_t value;
        if (!unwind_read_u32(w->process, regs->sp, &value))
            return false;
        regs->r[win->code[win->at] & 7] = value;
        regs->sp += 4;
    }
    return true;
}

/* A jump leaves the function if its target is in another procedure than the pc. */
static bool jump_leaves(const struct unwind_walker *w, struct pdb *pdb, uint64_t target_va)
{
    const struct module *module = w->frame->module;
    struct pdb_frame_proc proc;
    if (pdb == NULL || !pdb_frame_proc_at(pdb, (uint32_t)(w->regs.pc - module->base_va), &proc))
        return false;
    uint64_t rva = target_va - module->base_va;
    return rva == proc.start_rva || rva < proc.start_rva ||
           rva >= (uint64_t)proc.start_rva + proc.code_bytes;
}

/* *ARGUMENTS: the number of bytes that a `ret n` removes. */
static bool takes_leave(const struct unwind_walker *w, struct pdb *pdb, const struct window *win,
                        uint32_t *arguments)
{
    const uint8_t *p = win->code + win->at;
    uint32_t left = win->bytes - win->at, here = (uint32_t)w->regs.pc + win->at;
    *arguments = 0;
    if (left >= 1 && p[0] == 0xc3)
        return true;
    if (left >= 2 && (p[0] == 0xf3 || p[0] == 0xf2) && p[1] == 0xc3)
        return true;
    if (left >= 3 && p[0] == 0xc2) {
        *arguments = load_u16(p + 1);
        return true;
    }
    if (left >= 5 && p[0] == 0xe9)
        return jump_leaves(w, pdb, here + 5u + load_u32(p + 1));
    if (left >= 2 && p[0] == 0xeb)
        return jump_leaves(w, pdb, plus_i8(here + 2u, p[1]));
    /* a jump through a pointer: a tail call if the stack was just unwound, otherwise a jump
     * table */
    return win->at > 0 && left >= 2 && p[0] == 0xff && (p[1] & 0x38) == 0x20;
}

bool unwind_x86_epilogue(struct unwind_walker *w, struct pdb *pdb)
{
    struct window win;
    struct registers after = w->regs;
    uint32_t pc, arguments;
    if (!read_window(w->process, w->regs.pc, &win) || !take_release(w, &win, &after) ||
        !take_pops(w, &win, &after) || win.at >= win.bytes ||
        !takes_leave(w, pdb, &win, &arguments) || after.sp < w->regs.sp ||
        !unwind_read_u32(w->process, after.sp, &pc) || (pc != 0 && !unwind_is_return(w, pc)))
        return false;
    w->frame->where = WHERE_EPILOGUE;
    w->frame->return_slot_va = after.sp;
    after.pc = pc;
    after.sp += 4 + (uint64_t)arguments;
    w->regs = after;
    return true;
}

bool unwind_x86_prologue(struct unwind_walker *w)
{
    uint8_t code[3] = {0}, before = 0;
    const struct unwind_process *process = w->process;
    uint32_t pc, ebp = (uint32_t)w->regs.r[REG_X86_EBP];
    uint64_t slot = w->regs.sp;
    (void)process->read(process->self, w->regs.pc - 1, &before, 1);
    if (!process->read(process->self, w->regs.pc, code, sizeof(code)))
        return false;
    bool moves = (code[0] == 0x8b && code[1] == 0xec) || (code[0] == 0x89 && code[1] == 0xe5);
    bool pushes = code[0] == 0x55 &&
                  ((code[1] == 0x8b && code[2] == 0xec) || (code[1] == 0x89 && code[2] == 0xe5));
    if (moves && before == 0x55) {
        if (!unwind_read_u32(process, slot, &ebp))
            return false;
        slot += 4;
    } else if (!pushes) {
        return false;
    }
    if (!unwind_read_u32(process, slot, &pc) || (pc != 0 && !unwind_is_return(w, pc)))
        return false;
    w->frame->where = WHERE_PROLOGUE;
    w->frame->return_slot_va = slot;
    w->regs.r[REG_X86_EBP] = ebp;
    w->regs.pc = pc;
    w->regs.sp = slot + 4;
    w->caller_found = FOUND_LEAF;
    return true;
}
