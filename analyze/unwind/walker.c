/* See walker.h. */
#include "unwind/walker.h"

#include "unwind/tables.h"

enum {
    SCAN_WORDS_FIRST = 160, /* words that a scan searches from the innermost frame */
    SCAN_WORDS = 40,        /* and from any other frame                        */
    CALL_BYTES_MAX = 7      /* longest call instruction that ends at a return */
};

/* x86 and x64: instructions have any length, and functions start at multiples of 16. */
static bool has_variable_codes(const struct unwind_walker *w)
{
    return w->regs.cpu == CPU_X86 || w->regs.cpu == CPU_X64;
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

/* True when VA lies in registered generated code. */
static bool unwind_is_generated(const struct unwind_walker *w, uint64_t va)
{
    struct unwind_entry entry;
    return w->process->generated != NULL && w->process->generated(w->process->self, va, &entry);
}

bool unwind_is_code(const struct unwind_walker *w, uint64_t va)
{
    const struct module *module = w->process->module_at(w->process->self, va);
    if (module == NULL)
        return unwind_is_generated(w, va);
    const struct unwind_module *facts = unwind_module_of(w->process, module);
    if (facts == NULL || !facts->has_headers || !facts->knows_code)
        return true;
    uint64_t rva = va - module->base_va;
    for (uint32_t i = 0; i < facts->code_count; i++)
        if (unwind_in_range(&facts->code[i], rva))
            return true;
    return false;
}

/* True when an FF /2 instruction, with its addressing bytes, ends exactly at END. */
static bool is_indirect_call(const uint8_t *at, const uint8_t *end)
{
    if (at[0] != 0xff || (at[1] & 0x38) != 0x10)
        return false;
    unsigned mode = at[1] >> 6, rm = at[1] & 7;
    bool has_sib = mode != 3 && rm == 4;
    ptrdiff_t bytes = has_sib ? 3 : 2;
    if (end - at < bytes)
        return false;
    if (mode == 1)
        bytes += 1;
    else if (mode == 2 || (mode == 0 && rm == 5) || (mode == 0 && has_sib && (at[2] & 7) == 5))
        bytes += 4;
    return end - at == bytes;
}

/* True when the bytes before a return address end in a call. Works for x86 and x64. */
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

/* True when the halfwords or the word before VA are a call in Thumb or ARM code, or unknown. */
static bool follows_call_arm(const struct unwind_walker *w, uint64_t va)
{
    uint32_t code;
    if (!unwind_read_u32(w->process, va - 4, &code))
        return true;
    if ((code & 0xff870000) == 0x47800000 || /* Thumb: blx register */
        (code & 0xd000f800) == 0xd000f000 || /* bl                  */
        (code & 0xd001f800) == 0xc000f000)   /* blx                 */
        return true;
    if ((code & 0x0f000000) == 0x0b000000 || /* ARM: bl             */
        (code & 0xfe000000) == 0xfa000000 || /* blx                 */
        (code & 0x0ffffff0) == 0x012fff30)   /* blx register        */
        return va % 4 == 0;
    return unwind_read_u32(w->process, va - 8, &code) && code == 0xe1a0e00f; /* mov lr, pc */
}

static bool follows_call(const struct unwind_walker *w, uint64_t va)
{
    uint8_t before[CALL_BYTES_MAX];
    enum cpu cpu = w->regs.cpu;
    if (cpu == CPU_ARM)
        return follows_call_arm(w, va);
    if (cpu != CPU_X86) {
        const enum cpu code =
            unwind_code_cpu(w->process, w->process->module_at(w->process->self, va - 1), va - 1);
        cpu = code != CPU_UNKNOWN ? code : cpu;
    }
    if (cpu == CPU_ARM64) {
        uint32_t code;
        if (!unwind_read_u32(w->process, va - 4, &code))
            return true;
        return (code & 0xfc000000) == 0x94000000 || /* bl    */
               (code & 0xfffffc1f) == 0xd63f0000 || /* blr   */
               (code & 0xfefff800) == 0xd63f0800;   /* blraa */
    }
    if (!w->process->read(w->process->self, va - CALL_BYTES_MAX, before, sizeof(before)))
        return true; /* bytes unknown: assume a call */
    return ends_in_call(before);
}

bool unwind_is_return(const struct unwind_walker *w, uint64_t va)
{
    return va > 0x10000 && unwind_is_code(w, va - 1) && follows_call(w, va);
}

void unwind_note_unchecked(struct unwind_walker *w)
{
    uint8_t before[CALL_BYTES_MAX];
    const uint64_t pc = w->regs.pc;
    const size_t bytes = has_variable_codes(w) ? sizeof before : sizeof(uint32_t);
    const struct module *module = w->process->module_at(w->process->self, pc - 1);
    const struct unwind_module *facts =
        module != NULL ? unwind_module_of(w->process, module) : NULL;
    if (w->caller_note == NOTE_NONE && facts != NULL &&
        !(facts->has_headers && facts->knows_code) &&
        !w->process->read(w->process->self, pc - bytes, before, bytes))
        w->caller_note = NOTE_RETURN_UNCHECKED;
}

enum stop_reason unwind_pop(struct unwind_walker *w, enum found_by found_by, enum frame_note note)
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
    if (w->regs.cpu == CPU_ARM)
        return va & 0xfffffffe;
    return w->regs.cpu == CPU_ARM64 ? va & 0x0000ffffffffffffull : va; /* 48 bits for users */
}

bool unwind_frame_pointer(struct unwind_walker *w, uint32_t fp_register)
{
    uint32_t word = cpu_pointer_bytes(w->regs.cpu);
    uint64_t fp = w->regs.r[fp_register], next, pc;
    if (fp < w->regs.sp || fp % word != 0 || fp > UINT64_MAX - 2 * (uint64_t)word ||
        !unwind_read_pointer(w, fp, &next) || !unwind_read_pointer(w, fp + word, &pc))
        return false;
    pc = unwind_strip(w, pc);
    /* The chain ends with 0. Until then each link must point further up the stack, and each return
     * address into code. */
    if (pc != 0 && (next == fp || !unwind_is_return(w, pc)))
        return false;
    w->frame->return_slot_va = fp + word;
    w->regs.r[fp_register] = next;
    w->regs.pc = pc;
    w->regs.sp = fp + 2 * (uint64_t)word;
    w->caller_found = FOUND_FRAME_POINTER;
    return true;
}

/* Functions start at multiples of 16, and every stack holds pointers to functions. Such an address
 * is taken as a function pointer, not a return address, when the bytes before it, which could show
 * a call, are unknown. */
static bool looks_like_pointer(const struct unwind_walker *w, uint64_t pc)
{
    uint8_t byte;
    return pc % 16 == 0 && has_variable_codes(w) &&
           !w->process->read(w->process->self, pc - CALL_BYTES_MAX, &byte, 1);
}

enum stop_reason unwind_scan(struct unwind_walker *w)
{
    /* After a generated frame of unknown size, half of the return addresses that a scan finds are
     * stale. */
    if (w->frame->module == NULL &&
        unwind_is_generated(w, w->regs.pc - (w->frame->kind == PC_RETURN)))
        return STOP_GENERATED_CODE;
    uint32_t word = cpu_pointer_bytes(w->regs.cpu);
    uint32_t words = w->frame->kind == PC_INTERRUPTED ? SCAN_WORDS_FIRST : SCAN_WORDS;
    uint64_t va = w->regs.sp & ~(uint64_t)(word - 1);
    for (uint32_t i = 0; i < words; i++, va += word) {
        uint64_t pc;
        if (va < w->regs.sp || (w->regs.cpu == CPU_X64 && va % 16 != 8))
            continue; /* x64 aligns the stack to 16 at a call, so the slot's address ends in 8 */
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
