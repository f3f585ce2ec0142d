/* One step on 32-bit arm, in ARM or Thumb code. The minidumps of Android, Linux and iOS hold no
 * unwind data, so a caller is found by STACK CFI of a Breakpad file, through the link register of
 * an interrupted leaf, by a frame pointer, or by a scan, in this order.
 *
 * Frame pointers: iOS uses r7, other systems r7 in Thumb code and r11 in ARM code. They point to
 * {caller's frame pointer, return address}; those of ARM code from GCC point to the return address.
 * Source: Breakpad's StackwalkerARM; AAPCS32, 6.2.1.4; GCC's -mapcs-frame. */
#include "unwind/arm.h"

#include "base/array.h"
#include "unwind/symbol_rules.h"

enum { CPSR_THUMB = 0x20, WORD = 4 };

/* Where the return address is. */
struct chain {
    uint32_t fp_register, distance; /* from the frame pointer */
};

/* IS_GUESS: the code at the pc need not use this register as a frame pointer. */
static bool follow(struct unwind_walker *w, const struct chain *chain, bool is_guess)
{
    const uint64_t fp = w->regs.r[chain->fp_register], slot = fp + chain->distance;
    uint64_t next, pc;
    if (fp % WORD != 0 || fp > UINT32_MAX - 2 * WORD || slot < w->regs.sp + WORD ||
        !unwind_read_pointer(w, slot - WORD, &next) || !unwind_read_pointer(w, slot, &pc))
        return false;
    const uint64_t raw = pc;
    pc = unwind_strip(w, pc);
    /* The chain ends with 0. Until then each link must point further up the stack, and each return
     * address into code. */
    const bool ends = next == 0 && pc == 0 && !is_guess;
    if (!ends && ((next != 0 && next <= fp) || !unwind_is_return(w, pc)))
        return false;
    w->frame->return_slot_va = slot;
    w->regs.r[chain->fp_register] = next;
    w->regs.flags = (w->regs.flags & ~(uint32_t)CPSR_THUMB) | ((raw & 1) != 0 ? CPSR_THUMB : 0);
    w->regs.pc = pc;
    w->regs.sp = slot + WORD;
    w->caller_found = FOUND_FRAME_POINTER;
    unwind_note_unchecked(w);
    return true;
}

static bool follow_any(struct unwind_walker *w)
{
    static const struct chain arm[] = {{REG_ARM_FP, WORD}, {REG_ARM_FP, 0}};
    static const struct chain thumb[] = {{REG_ARM_FP_THUMB, WORD}};
    const bool is_thumb = (w->regs.flags & CPSR_THUMB) != 0;
    for (int pass = 0; pass < 2; pass++) {
        const bool use_thumb = is_thumb == (pass == 0);
        const struct chain *rows = use_thumb ? thumb : arm;
        for (size_t i = 0; i < (use_thumb ? COUNT_OF(thumb) : COUNT_OF(arm)); i++)
            if (follow(w, &rows[i], pass > 0))
                return true;
    }
    return false;
}

/* True when the function at the pc saved LR in a frame that a frame pointer points to, so it is not
 * a leaf. */
static bool is_in_frame(const struct unwind_walker *w, uint64_t lr)
{
    static const struct chain rows[] = {
        {REG_ARM_FP_THUMB, WORD}, {REG_ARM_FP, WORD}, {REG_ARM_FP, 0}};
    uint64_t saved;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const uint64_t slot = w->regs.r[rows[i].fp_register] + rows[i].distance;
        if (slot >= w->regs.sp && slot <= UINT32_MAX && unwind_read_pointer(w, slot, &saved) &&
            unwind_strip(w, saved) == lr)
            return true;
    }
    return false;
}

enum stop_reason unwind_step_arm(struct unwind_walker *w)
{
    const uint64_t link = w->regs.r[REG_ARM_LR], lr = unwind_strip(w, link);
    const bool interrupted = w->frame->kind == PC_INTERRUPTED;
    if (unwind_symbol_rules(w))
        return STOP_NONE;
    if (interrupted && unwind_is_return(w, lr) && !is_in_frame(w, lr) &&
        !unwind_is_own_call(w, lr)) {
        w->regs.pc = lr;
        w->regs.flags =
            (w->regs.flags & ~(uint32_t)CPSR_THUMB) | ((link & 1) != 0 ? CPSR_THUMB : 0);
        w->caller_found = FOUND_LEAF;
        unwind_note_unchecked(w);
        return STOP_NONE;
    }
    if (follow_any(w))
        return STOP_NONE;
    if (interrupted && lr == 0)
        return STOP_END;
    return unwind_scan(w);
}
