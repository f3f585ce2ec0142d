/* Registers from a minidump, including 32-bit threads in a 64-bit dump.
 *
 * A WoW64 thread has two contexts. A 64-bit dump writer stores the 64-bit one. While the thread
 * runs 32-bit code (code segment 0x23), it holds the 32-bit registers. Otherwise the 32-bit context
 * is where WoW64 keeps it: slot 1 of the 64-bit TEB's TLS array points to WOW64_CPURESERVED, two
 * 16-bit words and then a 32-bit CONTEXT. */
#include <string.h>

#include "format/minidump/core.h"

enum {
    TEB64_TLS_SLOT_1 = 0x1480 + 8,
    WOW64_CONTEXT_OFFSET = 4,
    X86_CONTEXT_BYTES = 0xcc,
    X64_CONTEXT_CS = 0x38,
    SEGMENT_WOW64 = 0x23,
    CONTEXT_XSTATE = 0x40,
    X64_CONTEXT_BYTES = 1232,
    XSAVE_LEGACY_BYTES = 512, /* before the header, where the CONTEXT's part starts */
};

static void narrow(struct registers *regs)
{
    regs->cpu = CPU_X86;
    regs->pc &= UINT32_MAX;
    regs->sp &= UINT32_MAX;
    for (int i = 0; i < REG_COUNT; i++)
        regs->r[i] = i < 8 ? regs->r[i] & UINT32_MAX : 0;
}

static bool read_wow64_context(const struct minidump *dump, uint64_t teb_va, struct registers *out)
{
    uint8_t pointer[8], context[X86_CONTEXT_BYTES];
    if (teb_va == 0 ||
        !minidump_memory_read(dump, teb_va + TEB64_TLS_SLOT_1, pointer, sizeof(pointer)) ||
        !minidump_memory_read(dump, load_u64(pointer) + WOW64_CONTEXT_OFFSET, context,
                              sizeof(context)))
        return false;
    struct fault fault = FAULT_INIT;
    return registers_read(bytes_over(context, sizeof(context), &fault), CPU_X86, out) == ERR_NONE;
}

/* The shadow stack's pointer.  CONTEXT_EX follows a CONTEXT with extended state; its third (offset,
 * length) pair is the XSAVE area from its header on, and CET_U in that area is {msr, pointer}. */
static uint64_t shadow_pointer(const struct minidump *dump, struct minidump_place place)
{
    struct fault fault = FAULT_INIT;
    struct bytes whole = minidump_at(dump, place, &fault);
    struct bytes ex = bytes_window(&whole, X64_CONTEXT_BYTES + 16, 8);
    uint64_t start = (uint64_t)X64_CONTEXT_BYTES + bytes_u32(&ex);
    uint32_t length = bytes_u32(&ex), offset = dump->misc.xstate_cet_offset;
    if (offset < XSAVE_LEGACY_BYTES || bytes_failed(&ex))
        return 0;
    struct bytes area = bytes_window(&whole, start, length);
    struct bytes cet = bytes_window(&area, offset - XSAVE_LEGACY_BYTES + 8u, 8);
    uint64_t pointer = bytes_u64(&cet);
    return bytes_failed(&cet) ? 0 : pointer;
}

static enum status read_place(const struct minidump *dump, struct minidump_place place,
                              uint64_t teb_va, struct registers *out, bool *wow64,
                              struct fault *fault)
{
    *wow64 = false;
    *out = (struct registers){.cpu = dump->dump_cpu};
    if (place.bytes == 0)
        return fault_set(fault, ERR_ABSENT, FAULT_NO_OFFSET, "thread context");
    struct fault cut = FAULT_INIT;
    struct bytes r = minidump_at(dump, place, &cut);
    enum status status = registers_read(r, dump->dump_cpu, out);
    if (status != ERR_NONE)
        return fault_set_lasting(
            fault, status, place.foff,
            status == ERR_TRUNCATED ? "thread context, which is too short" : cut.what, NULL);
    if (dump->dump_cpu == CPU_X64 && (out->context_flags & CONTEXT_XSTATE) != 0)
        out->shadow_sp = shadow_pointer(dump, place);
    if (dump->cpu != CPU_X86 || dump->dump_cpu != CPU_X64)
        return ERR_NONE;
    struct registers inner;
    if (load_u16(r.at + X64_CONTEXT_CS) == SEGMENT_WOW64) {
        narrow(out);
        *wow64 = true;
    } else if (read_wow64_context(dump, teb_va, &inner)) {
        *out = inner;
        *wow64 = true;
    }
    return ERR_NONE;
}

enum cpu minidump_context_cpu(const struct minidump *dump, struct minidump_place place)
{
    static const struct {
        enum cpu cpu;
        uint32_t flags_at, mask, mark, bytes;
    } rows[] = {
        {CPU_X64, 0x30, 0xff0000, 0x100000, X64_CONTEXT_BYTES},
        {CPU_ARM64, 0, 0xff0000, 0x400000, 912},
        {CPU_X86, 0, 0xff0000, 0x10000, 716},
        {CPU_ARM, 0, 0xff0000, 0x200000, 416},
        {CPU_ARM, 0, 0xffff0000, 0x40000000, 368}, /* of Breakpad */
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fault fault = FAULT_INIT;
        struct bytes r = minidump_at(dump, place, &fault);
        bytes_skip(&r, rows[i].flags_at);
        uint32_t flags = bytes_u32(&r);
        if (place.bytes >= rows[i].bytes && (flags & rows[i].mask) == rows[i].mark)
            return rows[i].cpu;
    }
    return CPU_UNKNOWN;
}

enum status minidump_thread_registers(const struct minidump *dump,
                                      const struct minidump_thread *thread, struct registers *out,
                                      bool *wow64, struct fault *fault)
{
    return read_place(dump, thread->context, thread->teb_va, out, wow64, fault);
}

enum status minidump_exception_registers(const struct minidump *dump, struct registers *out,
                                         bool *wow64, struct fault *fault)
{
    *wow64 = false;
    *out = (struct registers){.cpu = dump->dump_cpu};
    if (!dump->exception.present)
        return fault_set(fault, ERR_ABSENT, FAULT_NO_OFFSET, "exception stream");
    const struct minidump_thread *thread = minidump_thread_find(dump, dump->exception.thread_id);
    return read_place(dump, dump->exception.context, thread != NULL ? thread->teb_va : 0, out,
                      wow64, fault);
}
