/* The walk itself: emits frames, takes steps, checks progress and limits. The steps of each
 * processor are in x64.c, x86.c, arm64.c and arm.c. */
#include "unwind/unwind.h"

#include <string.h>

#include "base/limits.h"
#include "unwind/arm.h"
#include "unwind/arm64.h"
#include "unwind/hybrid.h"
#include "unwind/tables.h"
#include "unwind/walker.h"
#include "unwind/x64.h"
#include "unwind/x86.h"

enum {
    WALK_STEPS_MAX = 1 << 20, /* frames walked, of which LIMIT_FRAMES are kept     */
    CROSSINGS_MAX = 64        /* nested exceptions; only these may lower sp */
};

/* The frames so far: the first LIMIT_FRAMES_HEAD, then a ring with the last LIMIT_FRAMES_TAIL of
 * the others. */
struct frame_list {
    struct arena *keep;
    struct unwind_frame *frames;
    uint32_t room;
    uint64_t seen;
};

static struct unwind_frame *add_frame(struct frame_list *list)
{
    uint64_t at = list->seen;
    if (at >= LIMIT_FRAMES_HEAD)
        at = LIMIT_FRAMES_HEAD + (at - LIMIT_FRAMES_HEAD) % LIMIT_FRAMES_TAIL;
    if (!ARENA_ROOM(list->keep, list->frames, list->room, at + 1))
        return NULL;
    list->seen++;
    list->frames[at] = (struct unwind_frame){0};
    return &list->frames[at];
}

static void reverse(struct unwind_frame *frames, uint64_t from, uint64_t to)
{
    while (from + 1 < to) {
        struct unwind_frame swap = frames[from];
        frames[from++] = frames[--to];
        frames[to] = swap;
    }
}

/* Rotates the ring so that its frames are in order. */
static void finish_frames(struct frame_list *list, struct unwind_stack *out)
{
    out->frames = list->frames;
    if (list->seen <= LIMIT_FRAMES) {
        out->frame_count = (uint32_t)list->seen;
        return;
    }
    uint64_t first = (list->seen - LIMIT_FRAMES_HEAD) % LIMIT_FRAMES_TAIL;
    struct unwind_frame *ring = list->frames + LIMIT_FRAMES_HEAD;
    reverse(ring, 0, first);
    reverse(ring, first, LIMIT_FRAMES_TAIL);
    reverse(ring, 0, LIMIT_FRAMES_TAIL);
    out->frame_count = LIMIT_FRAMES;
    out->left_out = (uint32_t)(list->seen - LIMIT_FRAMES);
}

/* Takes the registers as those of the processor whose code is at the pc: in a process with ARM64EC
 * code that changes along the stack. USUAL: where no header says it. */
static void enter_code(struct unwind_walker *w, enum cpu usual)
{
    w->frame->cpu = w->regs.cpu;
    if (w->regs.cpu != CPU_X64 && w->regs.cpu != CPU_ARM64)
        return;
    const enum cpu cpu =
        unwind_code_cpu(w->process, w->frame->module, w->regs.pc - (w->frame->kind == PC_RETURN));
    hybrid_registers_as(&w->regs, cpu != CPU_UNKNOWN ? cpu : usual);
    w->frame->cpu = w->regs.cpu;
}

static enum stop_reason step(struct unwind_walker *w)
{
    switch (w->regs.cpu) {
    case CPU_X64:
        return unwind_step_x64(w);
    case CPU_X86:
        return unwind_step_x86(w);
    case CPU_ARM64:
        return unwind_step_arm64(w);
    case CPU_ARM:
        return unwind_step_arm(w);
    case CPU_UNKNOWN:
        break;
    }
    return STOP_NO_UNWINDER;
}

/* The caller of a frame in ntdll!KiUserExceptionDispatcher was interrupted. */
static void look_for_dispatcher(struct unwind_walker *w, const struct unwind_frame *frame)
{
    const struct unwind_module *facts =
        frame->module != NULL ? unwind_module_of(w->process, frame->module) : NULL;
    if (facts == NULL)
        return;
    if (unwind_in_range(&facts->exceptions, frame->pc_va - frame->module->base_va))
        w->caller_kind = PC_INTERRUPTED;
    else if (facts->lacks_exports && w->caller_kind == PC_RETURN && w->caller_note == NOTE_NONE)
        w->caller_note = NOTE_EXPORTS_UNREADABLE;
}

/* Leaves one frame. STOP_NONE: the caller is in w->regs; otherwise why the walk ends. */
static enum stop_reason leave_frame(struct unwind_walker *w, enum cpu usual)
{
    struct unwind_frame *frame = w->frame;
    uint64_t pc = w->regs.pc, sp = w->regs.sp;
    w->caller_kind = PC_RETURN;
    w->caller_found = FOUND_UNWIND;
    w->caller_note = NOTE_NONE;
    enter_code(w, usual);
    enum stop_reason stop = step(w);
    if (stop != STOP_NONE)
        return stop;
    frame->caller_sp_va = w->regs.sp;
    look_for_dispatcher(w, frame);
    if (w->caller_kind == PC_INTERRUPTED && ++w->crossings > CROSSINGS_MAX)
        return STOP_NESTED_EXCEPTIONS;
    if (w->regs.pc == 0)
        return w->caller_kind == PC_INTERRUPTED ? STOP_NONE : STOP_END;
    if (w->caller_kind == PC_INTERRUPTED)
        return w->regs.sp == sp && w->regs.pc == pc ? STOP_NO_PROGRESS : STOP_NONE;
    /* leaf functions of arm64 and arm return through a register, and stack probes of x86 from
     * another place: the stack pointer may stay the same once */
    bool may_stay = w->regs.cpu != CPU_X64;
    bool still = may_stay && frame->kind == PC_INTERRUPTED && w->regs.sp == sp;
    return w->regs.sp > sp || (still && w->regs.pc != pc) ? STOP_NONE : STOP_NO_PROGRESS;
}

enum status unwind_walk(const struct unwind_process *process, const struct registers *start,
                        enum pc_kind kind, struct arena *keep, struct unwind_stack *out,
                        struct fault *fault)
{
    struct unwind_walker w = {.process = process, .regs = *start};
    struct frame_list list = {.keep = keep};
    *out = (struct unwind_stack){.stop = STOP_NO_REGISTERS};
    if (start->cpu == CPU_UNKNOWN)
        return fault_set(fault, ERR_UNSUPPORTED, FAULT_NO_OFFSET, "unwinding this processor");
    enum found_by found_by = FOUND_CONTEXT;
    enum frame_note note = NOTE_NONE;
    for (;;) {
        struct unwind_frame *frame = add_frame(&list);
        if (frame == NULL)
            return fault_no_memory(fault, "frames");
        frame->pc_va = w.regs.pc;
        frame->sp_va = w.regs.sp;
        frame->module = process->module_at(process->self, w.regs.pc - (kind == PC_RETURN));
        frame->kind = kind;
        frame->found_by = found_by;
        frame->note = note;
        w.frame = frame;
        out->stop = list.seen < WALK_STEPS_MAX ? leave_frame(&w, start->cpu) : STOP_LIMIT;
        if (out->stop != STOP_NONE)
            break;
        kind = w.caller_kind;
        found_by = w.caller_found;
        note = w.caller_note;
    }
    finish_frames(&list, out);
    return ERR_NONE;
}
