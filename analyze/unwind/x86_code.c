/* x86 prologues and epilogues by their code bytes.
 *
 * Frame data describes function bodies: at a `ret` it still counts locals that are already gone. So
 * the rest of an epilogue is executed, from any pc, as the processor would: [add esp, n | lea esp,
 * [ebp + n] | mov esp, ebp | leave] pop reg ... ret | jmp out In a function that has no PDB, the
 * first two instructions of a frame are also recognised. */
#include "unwind/x86_code.h"

#include <string.h>

#include "format/breakpad/breakpad.h"
#include "format/pdb/pdb.h"
#include "format/pdb/pdb_module.h"
#include "unwind/symbol_rules.h"

enum { WINDOW_BYTES = 32 };

/* The code bytes at the pc. */
struct window {
    uint8_t code[WINDOW_BYTES + 8]; /* zeros at the end, so that short reads need no check */
    uint32_t bytes, at;
};

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

/* The function at the pc: its procedure, or that of its frame data, which assemblers write alone.
 */
static bool function_range(const struct unwind_walker *w, struct pdb *pdb, uint64_t *begin_rva,
                           uint64_t *end_rva)
{
    const uint32_t rva = (uint32_t)(w->regs.pc - w->frame->module->base_va);
    const struct breakpad *file = unwind_breakpad_of(w);
    struct pdb_frame_proc proc;
    struct pdb_frame_data data;
    if (pdb != NULL && pdb_frame_proc_at(pdb, rva, &proc)) {
        *begin_rva = proc.start_rva;
        *end_rva = *begin_rva + proc.code_bytes;
        return true;
    }
    if (pdb != NULL && pdb_frame_function_at(pdb, rva, &data)) {
        *begin_rva = data.start_rva;
        *end_rva = *begin_rva + data.code_bytes;
        return true;
    }
    return file != NULL && breakpad_range_at(file, rva, begin_rva, end_rva);
}

/* A jump leaves the function if its target is in another one than the pc, or its start. */
static bool jump_leaves(const struct unwind_walker *w, struct pdb *pdb, uint64_t target_va)
{
    uint64_t begin_rva, end_rva;
    if (!function_range(w, pdb, &begin_rva, &end_rva))
        return false;
    const uint64_t rva = target_va - w->frame->module->base_va;
    return rva <= begin_rva || rva >= end_rva;
}

/* True when the instruction before the pc frees the frame: `pop reg`, `add esp, n`, `leave`. */
static bool follows_release(const struct unwind_walker *w)
{
    uint8_t code[6];
    const uint64_t pc = w->regs.pc;
    if (!w->process->read(w->process->self, pc - sizeof code, code, sizeof code))
        return false;
    return (code[5] & 0xf8) == 0x58 || code[5] == 0xc9 || (code[3] == 0x83 && code[4] == 0xc4) ||
           (code[0] == 0x81 && code[1] == 0xc4);
}

/* A jump through a pointer is a tail call if the stack was just unwound; else it may be a jump
 * table, but not one of a fixed place. */
static bool pointer_jump_leaves(const struct unwind_walker *w, const struct window *win,
                                const uint8_t *p)
{
    enum { FIXED_PLACE = 0x25 };
    return win->at > 0 || p[1] == FIXED_PLACE || follows_release(w);
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
    return left >= 2 && p[0] == 0xff && (p[1] & 0x38) == 0x20 && pointer_jump_leaves(w, win, p);
}

/* Skips what sets the result: `mov reg, n`, `xor reg, reg`, `nop`.  Compilers place a short way
 * out, without a frame, after the function's end, where the frame data still counts the frame. */
static void skip_results(struct window *win)
{
    for (;;) {
        const uint8_t *p = win->code + win->at;
        const bool is_same = (p[1] & 0xc0) == 0xc0 && (p[1] & 7) == (p[1] >> 3 & 7);
        if ((p[0] == 0x31 || p[0] == 0x33) && is_same && (p[1] & 7) != 4)
            win->at += 2;
        else if ((p[0] & 0xf8) == 0xb8 && p[0] != 0xbc && p[0] != 0xbd)
            win->at += 5;
        else if (p[0] == 0x90)
            win->at++;
        else
            return;
        if (win->at >= win->bytes)
            return;
    }
}

/* A stack probe that already uses the new stack: the return address is at the old one's top, which
 * eax points to.  mingw's and ours: `mov ecx, [eax]; jmp [eax + 4]`; Microsoft's: `mov eax, [eax];
 * mov [esp], eax; ret`. */
static bool leave_probe(struct unwind_walker *w, const struct window *win)
{
    static const uint8_t jump[] = {0x8b, 0x08, 0xff, 0x60, 0x04};
    static const uint8_t copy[] = {0x8b, 0x00, 0x89, 0x04, 0x24, 0xc3};
    const uint32_t eax = (uint32_t)w->regs.r[0];
    struct registers after = w->regs;
    uint32_t slot = eax, pc = eax;
    if (memcmp(win->code, jump, sizeof jump) == 0 || memcmp(win->code, jump + 2, 3) == 0)
        slot += 4;
    else if (memcmp(win->code, copy, sizeof copy) == 0)
        after.sp += 4;
    else if (memcmp(win->code, copy + 2, 4) == 0)
        after.sp += 4, slot = 0;
    else
        return false;
    if ((slot != 0 && !unwind_read_u32(w->process, slot, &pc)) || !unwind_is_return(w, pc))
        return false;
    w->frame->where = WHERE_EPILOGUE;
    w->frame->return_slot_va = slot;
    after.pc = pc;
    w->regs = after;
    return true;
}

bool unwind_x86_epilogue(struct unwind_walker *w, struct pdb *pdb)
{
    struct window win = {0};
    struct registers after = w->regs;
    uint32_t pc, arguments;
    win.bytes = unwind_read_code(w->process, w->regs.pc, win.code, WINDOW_BYTES);
    if (win.bytes == 0)
        return false;
    if (leave_probe(w, &win))
        return true;
    skip_results(&win);
    if (win.at >= win.bytes || !take_release(w, &win, &after) || !take_pops(w, &win, &after) ||
        win.at >= win.bytes || !takes_leave(w, pdb, &win, &arguments) || after.sp < w->regs.sp ||
        !unwind_read_u32(w->process, after.sp, &pc) || (pc != 0 && !unwind_is_return(w, pc)))
        return false;
    w->frame->where = WHERE_EPILOGUE;
    w->frame->return_slot_va = after.sp;
    after.pc = pc;
    after.sp += 4 + (uint64_t)arguments;
    w->regs = after;
    return true;
}

/* True at the first instruction of a function, as the call that returns to RETURN_VA shows: it
 * names the pc, or it goes through a register or memory and the first instruction, FIRST, saves
 * ebp. */
static bool is_entry(const struct unwind_walker *w, uint8_t first, uint32_t return_va)
{
    uint8_t call[5];
    if (!unwind_is_return(w, return_va) ||
        !w->process->read(w->process->self, return_va - sizeof call, call, sizeof call))
        return false;
    return call[0] == 0xe8 ? return_va + load_u32(call + 1) == (uint32_t)w->regs.pc : first == 0x55;
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
        pushes = true;
    }
    if (!unwind_read_u32(process, slot, &pc) ||
        (pushes ? pc != 0 && !unwind_is_return(w, pc) : !is_entry(w, code[0], pc)))
        return false;
    w->frame->where = WHERE_PROLOGUE;
    w->frame->return_slot_va = slot;
    w->regs.r[REG_X86_EBP] = ebp;
    w->regs.pc = pc;
    w->regs.sp = slot + 4;
    w->caller_found = FOUND_LEAF;
    return true;
}

/* Bytes of the `push` that ends at END, the longest that fits; 0: there is none. */
static uint32_t push_before(const uint8_t *end)
{
    const bool by_sib_32 = end[-7] == 0xff && end[-6] == 0xb4 && end[-5] == 0x24;
    const bool by_32 = end[-6] == 0xff && ((end[-5] & 0xf8) == 0xb0 || end[-5] == 0x35);
    const bool by_sib_8 = end[-4] == 0xff && end[-3] == 0x74 && end[-2] == 0x24;
    const bool by_8 = end[-3] == 0xff && (end[-2] & 0xf8) == 0x70;
    const bool by_sib = end[-3] == 0xff && end[-2] == 0x34;
    const bool by_register = end[-2] == 0xff && (end[-1] & 0x38) == 0x30;
    if (by_sib_32)
        return 7;
    if (by_32)
        return 6;
    if (end[-5] == 0x68)
        return 5;
    if (by_sib_8)
        return 4;
    if (by_8 || by_sib)
        return 3;
    if (end[-2] == 0x6a || by_register)
        return 2;
    return (end[-1] >> 3) == 10 ? 1 : 0;
}

uint32_t unwind_x86_pushes(const struct unwind_walker *w, uint64_t from_va)
{
    enum { PUSHES_MAX = 16, LONGEST = 7 };
    uint8_t code[PUSHES_MAX * LONGEST + LONGEST] = {0};
    uint64_t pc = w->regs.pc;
    uint32_t count = 0, known = sizeof code - LONGEST;
    if (pc - from_va < known)
        known = pc > from_va ? (uint32_t)(pc - from_va) : 0;
    /* LONGEST zeros come first, so that a look back stays inside */
    if (known == 0 || !w->process->read(w->process->self, pc - known, code + LONGEST, known))
        return 0;
    for (uint32_t at = LONGEST + known, bytes; count < PUSHES_MAX; at -= bytes, count++) {
        bytes = at > LONGEST ? push_before(code + at) : 0;
        if (bytes == 0 || bytes > at - LONGEST)
            break;
    }
    return count;
}

bool unwind_x86_pushed(const struct unwind_walker *w, uint64_t start_va, uint32_t *bytes,
                       uint32_t *ebp_at)
{
    uint8_t code[WINDOW_BYTES + 8] = {0};
    const uint64_t left = w->regs.pc - start_va;
    uint32_t at = 0, ebp_below = 0;
    *bytes = 0;
    if (left > WINDOW_BYTES || !w->process->read(w->process->self, start_va, code, (size_t)left))
        return false;
    while (at < left) {
        const uint8_t *p = code + at;
        if ((p[0] & 0xf8) == 0x50) {
            *bytes += 4;
            ebp_below = p[0] == 0x55 ? *bytes : ebp_below;
            at += 1;
        } else if (p[0] == 0x83 && p[1] == 0xec) {
            *bytes += p[2];
            at += 3;
        } else if (p[0] == 0x81 && p[1] == 0xec) {
            *bytes += load_u32(p + 2);
            at += 6;
        } else if (p[0] == 0x8b && p[1] == 0xff) { /* mov edi, edi: room for a patch */
            at += 2;
        } else {
            return false;
        }
    }
    *ebp_at = ebp_below != 0 ? *bytes - ebp_below : UINT32_MAX;
    return at == left;
}
