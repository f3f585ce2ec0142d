/* Crosses ntdll's two dispatchers on x86. They have no caller: the kernel interrupted other code
 * and left its registers on the stack as a CONTEXT.
 *
 * KiUserExceptionDispatcher gets {EXCEPTION_RECORD *, CONTEXT *}. KiUserApcDispatcher gets the
 * routine and its arguments followed by the CONTEXT, Wine's a pointer to it. No data states how
 * much either has pushed, so the first word up the stack that is such a pointer, or the start of a
 * CONTEXT, is used. The checks on a CONTEXT make a false match unlikely. */
#include "unwind/x86_dispatch.h"

enum {
    CONTEXT_BYTES = 0xcc, /* up to SegSs: the part that every form of CONTEXT has */
    CONTEXT_I386 = 0x10000,
    CONTEXT_CONTROL = 1,
    CONTEXT_KNOWN = 0x1007f,
    EFLAGS_ALWAYS = 0x202, /* bit 1 is always set, and interrupts are enabled */
    EFLAGS_NEVER = 0x8028,
    SEARCH_WORDS = 128,
    REACH_BYTES = 0x1000,
};

/* True when there is a CONTEXT at VA whose stack pointer is further up the stack. */
static bool read_context(const struct unwind_walker *w, uint64_t va, struct registers *out)
{
    uint8_t raw[CONTEXT_BYTES];
    struct fault fault = FAULT_INIT;
    uint32_t flags;
    if (!unwind_read_u32(w->process, va, &flags) ||
        (flags & (CONTEXT_I386 | CONTEXT_CONTROL)) != (CONTEXT_I386 | CONTEXT_CONTROL) ||
        (flags & ~(uint32_t)CONTEXT_KNOWN) != 0 ||
        !w->process->read(w->process->self, va, raw, sizeof(raw)))
        return false;
    *out = w->regs;
    if (registers_read(bytes_over(raw, sizeof(raw), &fault), CPU_X86, out) != ERR_NONE)
        return false;
    return out->sp > va && out->sp % 4 == 0 &&
           (out->flags & (EFLAGS_ALWAYS | EFLAGS_NEVER)) == EFLAGS_ALWAYS;
}

bool unwind_x86_dispatcher(struct unwind_walker *w)
{
    uint64_t va = w->regs.sp;
    for (uint32_t i = 0; i < SEARCH_WORDS; i++, va += 4) {
        struct registers caller;
        uint32_t pointer;
        if (!unwind_read_u32(w->process, va, &pointer))
            return false;
        bool points = pointer > va && pointer - va < REACH_BYTES && pointer % 4 == 0;
        uint64_t at = points ? pointer : va;
        if (!read_context(w, at, &caller))
            continue;
        w->regs = caller;
        w->frame->return_slot_va = at + 0xb8;
        w->callee_params_bytes = 0;
        w->caller_kind = PC_INTERRUPTED;
        w->caller_found = FOUND_UNWIND;
        return true;
    }
    return false;
}
