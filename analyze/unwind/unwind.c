/* The walk itself: frames are emitted, steps taken, progress and limits watched.  What a step
 * is depends on the processor: x64.c, x86.c, arm64.c. */
#include "unwind/unwind.h"

#include <string.h>

#include "base/bytes.h"
#include "base/limits.h"
#include "unwind/unwind_parts.h"

enum {
    WALK_STEPS_MAX = 1 << 20, /* frames walked, of which LIMIT_FRAMES are kept     */
    SCAN_WORDS_FIRST = 160,   /* how far a scan looks from the innermost frame     */
    SCAN_WORDS = 40,          /* and from the others                               */
    CROSSINGS_MAX = 64,       /* exceptions inside exceptions: only there sp may fall */
    CALL_BYTES_MAX = 7        /* longest call instruction that ends at a return    */
};

const char unwind_note_pdata[] = "pdata unreadable";

const char *unwind_where_name(enum unwind_where where)
{
    static const char *const names[] = {"unknown", "prologue", "body", "epilogue"};
    return (size_t)where < sizeof(names) / sizeof(names[0]) ? names[where] : names[0];
}

bool unwind_read_pointer(const struct unwind_walker *w, uint64_t va, uint64_t *out)
{
    uint32_t narrow;
    if (cpu_pointer_bytes(w->regs.cpu) == 8)
        return unwind_read_u64(w->process, va, out);
    if (!unwind_read_u32(w->process, va, &narrow))
        return false;
    *out = narrow;
    return true;
}

bool unwind_in_range(const struct unwind_range *range, uint64_t rva)
{
    return rva >= range->begin_rva && rva < range->end_rva;
}

static bool is_generated(const struct unwind_walker *w, uint64_t va)
{
    struct unwind_entry entry;
    return w->process->generated != NULL && w->process->generated(w->process->self, va, &entry);
}

bool unwind_is_code(const struct unwind_walker *w, uint64_t va)
{
    const struct module *module = w->process->module_at(w->process->self, va);
    if (module == NULL)
        return is_generated(w, va);
    const struct unwind_module *facts = unwind_module_of(w->process, module);
    if (facts == NULL || !facts->has_headers || !facts->knows_code)
        return true;
    uint64_t rva = va - module->base_va;
    for (uint32_t i = 0; i < facts->code_count; i++)
        if (unwind_in_range(&facts->code[i], rva))
            return true;
    return false;
}

/* FF /2 with its addressing bytes ends exactly at END? */
static bool is_indirect_call(const uint8_t *at, const uint8_t *end)
{
    if (at[0] != 0xff || (at[1] & 0x38) != 0x10)
        return false;
    unsigned mode = at[1] >> 6, rm = at[1] & 7, bytes = 2;
    if (mode != 3 && rm == 4)
        bytes++; /* SIB */
    if (mode == 1)
        bytes += 1;
    else if (mode == 2 || (mode == 0 && rm == 5) || (mode == 0 && rm == 4 && (at[2] & 7) == 5))
        bytes += 4;
    return at + bytes == end;
}

/* Do the bytes before a return address end in a call?  x86 and x64 alike. */
static bool ends_in_call(const uint8_t before[CALL_BYTES_MAX])
{
    const uint8_t *end = before + CALL_BYTES_MAX;
    if (end[-5] == 0xe8)
        return true;
    for (int back = 2; back <= CALL_BYTES_MAX; back++)
        if (is_indirect_call(end - back, end))
            return true;
    return false;
}

static bool follows_call(const struct unwind_walker *w, uint64_t va)
{
    uint8_t before[CALL_BYTES_MAX];
    if (w->regs.cpu == CPU_ARM64) {
        uint32_t code;
        if (!unwind_read_u32(w->process, va - 4, &code))
            return true;
        return (code & 0xfc000000) == 0x94000000 || /* bl    */
               (code & 0xfffffc1f) == 0xd63f0000 || /* blr   */
               (code & 0xfefff800) == 0xd63f0800;   /* blraa */
    }
    if (!w->process->read(w->process->self, va - CALL_BYTES_MAX, before, sizeof(before)))
        return true; /* bytes unknown: cannot be held against it */
    return ends_in_call(before);
}

bool unwind_is_return(const struct unwind_walker *w, uint64_t va)
{
    return va > 0x10000 && unwind_is_code(w, va - 1) && follows_call(w, va);
}

enum stop_reason unwind_pop(struct unwind_walker *w, enum found_by found_by, const char *note)
{
    uint64_t pc;
    if (!unwind_read_pointer(w, w->regs.sp, &pc))
        return STOP_MEMORY;
    w->frame->return_slot_va = w->regs.sp;
    w->regs.pc = pc;
    w->regs.sp += cpu_pointer_bytes(w->regs.cpu);
    w->caller_found = found_by;
    w->caller_note = note;
    return STOP_NONE;
}

uint64_t unwind_strip(const struct unwind_walker *w, uint64_t va)
{
    return w->regs.cpu == CPU_ARM64 ? va & 0x0000ffffffffffffull : va; /* users have 48 bits */
}

bool unwind_frame_pointer(struct unwind_walker *w, uint32_t fp_register)
{
    uint32_t word = cpu_pointer_bytes(w->regs.cpu);
    uint64_t fp = w->regs.r[fp_register], next, pc;
    if (fp < w->regs.sp || fp % word != 0 || fp > UINT64_MAX - 2 * (uint64_t)word ||
        !unwind_read_pointer(w, fp, &next) || !unwind_read_pointer(w, fp + word, &pc))
        return false;
    pc = unwind_strip(w, pc);
    /* The chain ends in 0; before that it must lead up the stack and into code. */
    if (pc != 0 && (next == fp || !unwind_is_return(w, pc)))
        return false;
    w->frame->return_slot_va = fp + word;
    w->regs.r[fp_register] = next;
    w->regs.pc = pc;
    w->regs.sp = fp + 2 * (uint64_t)word;
    w->caller_found = FOUND_FRAME_POINTER;
    return true;
}

/* Functions start at multiples of 16, and pointers to them lie about on every stack.  Where no
 * bytes can tell whether a call stands before such an address, it is taken for a pointer. */
static bool looks_like_pointer(const struct unwind_walker *w, uint64_t pc)
{
    uint8_t byte;
    return pc % 16 == 0 && w->regs.cpu != CPU_ARM64 &&
           !w->process->read(w->process->self, pc - CALL_BYTES_MAX, &byte, 1);
}

enum stop_reason unwind_scan(struct unwind_walker *w)
{
    /* What is found behind a generated frame of unknown size is as often stale as not. */
    if (w->frame->module == NULL && is_generated(w, w->regs.pc - (w->frame->kind == PC_RETURN)))
        return STOP_GENERATED_CODE;
    uint32_t word = cpu_pointer_bytes(w->regs.cpu);
    uint32_t words = w->frame->kind == PC_INTERRUPTED ? SCAN_WORDS_FIRST : SCAN_WORDS;
    uint64_t va = w->regs.sp & ~(uint64_t)(word - 1);
    for (uint32_t i = 0; i < words; i++, va += word) {
        uint64_t pc;
        if (va < w->regs.sp || (w->regs.cpu == CPU_X64 && va % 16 != 8))
            continue; /* x64 calls with the stack aligned to 16: the slot is 8 off */
        if (!unwind_read_pointer(w, va, &pc))
            return va == w->regs.sp ? STOP_MEMORY : STOP_SCAN_STACK_END;
        pc = unwind_strip(w, pc);
        if (!unwind_is_return(w, pc) || looks_like_pointer(w, pc))
            continue;
        w->frame->return_slot_va = va;
        w->regs.pc = pc;
        w->regs.sp = va + word;
        w->caller_found = FOUND_SCAN;
        return STOP_NONE;
    }
    return STOP_SCAN_REACH;
}

/* The frames so far: the head as it comes, of the rest the last LIMIT_FRAMES_TAIL in a ring. */
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
    if (at >= list->room) {
        uint32_t room = list->room == 0 ? 64 : list->room * 4;
        if (room > LIMIT_FRAMES)
            room = LIMIT_FRAMES;
        struct unwind_frame *frames = ARENA_ARRAY(list->keep, room, struct unwind_frame);
        if (frames == NULL)
            return NULL;
        if (list->room > 0)
            memcpy(frames, list->frames, list->room * sizeof(*frames));
        list->frames = frames;
        list->room = room;
    }
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

/* Turns the ring so that its frames stand in order. */
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

static enum stop_reason step(struct unwind_walker *w)
{
    switch (w->regs.cpu) {
    case CPU_X64:
        return unwind_step_x64(w);
    case CPU_X86:
        return unwind_step_x86(w);
    case CPU_ARM64:
        return unwind_step_arm64(w);
    case CPU_UNKNOWN:
        break;
    }
    return STOP_NO_UNWINDER;
}

/* True while the frame's pc lies in ntdll!KiUserExceptionDispatcher: its caller was interrupted. */
static bool in_dispatcher(const struct unwind_walker *w, const struct unwind_frame *frame)
{
    if (frame->module == NULL)
        return false;
    const struct unwind_module *facts = unwind_module_of(w->process, frame->module);
    uint64_t rva = frame->pc_va - frame->module->base_va;
    return facts != NULL && unwind_in_range(&facts->exceptions, rva);
}

/* Leaves one frame.  NULL: the caller is in w->regs; else why the walk ends. */
static enum stop_reason leave_frame(struct unwind_walker *w)
{
    struct unwind_frame *frame = w->frame;
    uint64_t pc = w->regs.pc, sp = w->regs.sp;
    w->caller_kind = PC_RETURN;
    w->caller_found = FOUND_UNWIND;
    w->caller_note = NULL;
    enum stop_reason stop = step(w);
    if (stop != STOP_NONE)
        return stop;
    frame->caller_sp_va = w->regs.sp;
    if (in_dispatcher(w, frame))
        w->caller_kind = PC_INTERRUPTED;
    if (w->caller_kind == PC_INTERRUPTED && ++w->crossings > CROSSINGS_MAX)
        return STOP_NESTED_EXCEPTIONS;
    if (w->regs.pc == 0)
        return w->caller_kind == PC_INTERRUPTED ? STOP_NONE : STOP_END;
    if (w->caller_kind == PC_INTERRUPTED)
        return w->regs.sp == sp && w->regs.pc == pc ? STOP_NO_PROGRESS : STOP_NONE;
    /* arm64 leaves return through a register: the stack pointer may stand still once */
    bool still = w->regs.cpu == CPU_ARM64 && frame->kind == PC_INTERRUPTED && w->regs.sp == sp;
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
    const char *note = NULL;
    for (;;) {
        struct unwind_frame *frame = add_frame(&list);
        if (frame == NULL)
            return fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "frames");
        frame->pc_va = w.regs.pc;
        frame->sp_va = w.regs.sp;
        frame->module = process->module_at(process->self, w.regs.pc - (kind == PC_RETURN));
        frame->kind = kind;
        frame->found_by = found_by;
        frame->note = note;
        w.frame = frame;
        out->stop = list.seen < WALK_STEPS_MAX ? leave_frame(&w) : STOP_LIMIT;
        if (out->stop != STOP_NONE)
            break;
        kind = w.caller_kind;
        found_by = w.caller_found;
        note = w.caller_note;
    }
    finish_frames(&list, out);
    return ERR_NONE;
}
