/* Windows CONTEXT records of four processors.
 *
 *   x86 (716)        OFFSET    x64 (1232)      OFFSET    arm64 (912)    OFFSET
 *   flags              0x00    flags             0x30    flags            0x00
 *   edi esi ebx        0x9c    EFlags            0x44    cpsr             0x04
 *   edx ecx eax        0xa8    rax .. r15        0x78    x0 .. x28, fp    0x08
 *   ebp eip            0xb4    rip               0xf8    lr               0xf8
 *   EFlags             0xc0    st0              0x120    sp              0x100
 *   esp                0xc4    xmm0 .. xmm15    0x1a0    pc              0x108
 *                                                        v0 .. v31       0x110
 *   arm (416)        OFFSET    arm of Breakpad (368): the same up to d31
 *   flags              0x00
 *   r0 .. r12          0x04
 *   sp lr pc           0x38
 *   cpsr               0x44
 *   fpscr              0x48
 *   d0 .. d31          0x50
 */
#include "format/context/registers.h"

#include <stddef.h>

static enum status read_x86(struct bytes *r, struct registers *out)
{
    static const uint8_t order[] = {7, 6, 3, 2, 1, 0}; /* edi esi ebx edx ecx eax */
    out->context_flags = bytes_u32(r);
    bytes_skip(r, 0x9c - 4);
    for (size_t i = 0; i < sizeof(order); i++)
        out->r[order[i]] = bytes_u32(r);
    out->r[REG_X86_EBP] = bytes_u32(r);
    out->pc = bytes_u32(r);
    bytes_skip(r, 4); /* cs */
    out->flags = bytes_u32(r);
    out->sp = bytes_u32(r);
    return r->fault->code;
}

static enum status read_x64(struct bytes *r, struct registers *out)
{
    bytes_skip(r, 0x30);
    out->context_flags = bytes_u32(r);
    bytes_skip(r, 0x44 - 0x34);
    out->flags = bytes_u32(r);
    bytes_skip(r, 0x78 - 0x48);
    for (int i = 0; i < 16; i++)
        out->r[i] = bytes_u64(r);
    out->sp = out->r[4];
    out->pc = bytes_u64(r);
    if (r->left < 0x1a0 - 0x100 + 256)
        return r->fault->code;
    bytes_skip(r, 0x120 - 0x100);
    out->ec_lr = bytes_u64(r); /* st0 */
    bytes_skip(r, 0x1a0 - 0x128);
    for (int i = 0; i < 16; i++) {
        out->vector[i][0] = bytes_u64(r);
        out->vector[i][1] = bytes_u64(r);
    }
    return r->fault->code;
}

/* Breakpad's older form has wider flags in front and the cpsr after the pc; its size identifies
 * it. */
enum { ARM64_OLD_BYTES = 796 };

static enum status read_arm64(struct bytes *r, struct registers *out)
{
    const bool old = r->left == ARM64_OLD_BYTES;
    out->context_flags = bytes_u32(r);
    out->flags = bytes_u32(r);
    for (int i = 0; i <= REG_ARM64_LR; i++)
        out->r[i] = bytes_u64(r);
    out->sp = bytes_u64(r);
    out->pc = bytes_u64(r);
    if (old) {
        out->flags = bytes_u32(r);
        bytes_skip(r, 8);
    }
    if (r->left < sizeof out->vector)
        return r->fault->code;
    for (int i = 0; i < 32; i++) {
        out->vector[i][0] = bytes_u64(r);
        out->vector[i][1] = bytes_u64(r);
    }
    return r->fault->code;
}

static enum status read_arm(struct bytes *r, struct registers *out)
{
    out->context_flags = bytes_u32(r);
    for (int i = 0; i < 13; i++)
        out->r[i] = bytes_u32(r);
    out->sp = bytes_u32(r);
    out->r[REG_ARM_LR] = bytes_u32(r);
    out->pc = bytes_u32(r) & ~(uint32_t)1; /* bit 0 is Thumb mode, which cpsr states, too */
    out->flags = bytes_u32(r);
    if (r->left < 8 + 32 * sizeof(uint64_t))
        return r->fault->code;
    bytes_skip(r, 8);
    for (int i = 0; i < 32; i++)
        out->vector[i][0] = bytes_u64(r);
    return r->fault->code;
}

enum status registers_read(struct bytes r, enum cpu cpu, struct registers *out)
{
    *out = (struct registers){.cpu = cpu};
    switch (cpu) {
    case CPU_X86:
        return read_x86(&r, out);
    case CPU_X64:
        return read_x64(&r, out);
    case CPU_ARM64:
        return read_arm64(&r, out);
    case CPU_ARM:
        return read_arm(&r, out);
    case CPU_UNKNOWN:
        break;
    }
    return fault_set(r.fault, ERR_UNSUPPORTED, r.offset,
                     "thread context of a processor that is not read");
}

uint32_t cpu_pointer_bytes(enum cpu cpu)
{
    return cpu == CPU_X86 || cpu == CPU_ARM ? 4 : 8;
}

uint32_t register_count(enum cpu cpu)
{
    switch (cpu) {
    case CPU_X86:
        return 8;
    case CPU_X64:
        return 16;
    case CPU_ARM64:
        return 31;
    case CPU_ARM:
        return 15;
    case CPU_UNKNOWN:
        break;
    }
    return 0;
}

const char *register_name(enum cpu cpu, uint32_t index)
{
    static const char *const arm[] = {"r0", "r1", "r2",  "r3", "r4",  "r5", "r6", "r7",
                                      "r8", "r9", "r10", "fp", "r12", "sp", "lr"};
    static const char *const x86[] = {"eax", "ecx", "edx", "ebx", "esp", "ebp", "esi", "edi"};
    static const char *const x64[] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
                                      "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};
    static const char *const arm64[] = {"x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",  "x7",
                                        "x8",  "x9",  "x10", "x11", "x12", "x13", "x14", "x15",
                                        "x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23",
                                        "x24", "x25", "x26", "x27", "x28", "fp",  "lr"};
    if (index >= register_count(cpu))
        return NULL;
    switch (cpu) {
    case CPU_X86:
        return x86[index];
    case CPU_X64:
        return x64[index];
    case CPU_ARM:
        return arm[index];
    default:
        return arm64[index];
    }
}

bool register_is_sp(enum cpu cpu, uint32_t index)
{
    return cpu == CPU_ARM ? index == 13 : cpu != CPU_ARM64 && index == 4;
}
