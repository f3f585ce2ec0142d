/* The registers of one thread that an unwinder needs, for every supported processor.
 *
 * r[] uses the register numbers of the processor's own encoding, because unwind data uses them too:
 *   x86    eax ecx edx ebx esp ebp esi edi
 *   x64    rax rcx rdx rbx rsp rbp rsi rdi r8 .. r15
 *   arm64  x0 .. x28, x29 (frame pointer), x30 (return address)
 *   arm    r0 .. r12, r13 (stack pointer), r14 (return address)
 * The stack pointer is only in `sp`: r[4] of x86 and x64 and r[13] of arm are never read or
 * written. */
#ifndef FORMAT_REGISTERS_H
#define FORMAT_REGISTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "model/cpu.h"

enum {
    REG_X86_EBX = 3,
    REG_X86_EBP = 5,
    REG_X86_ESI = 6,
    REG_X86_EDI = 7,
    REG_X64_RBP = 5,
    REG_ARM64_FP = 29,
    REG_ARM64_LR = 30,
    REG_ARM_FP_THUMB = 7,
    REG_ARM_FP = 11,
    REG_ARM_LR = 14,
    REG_COUNT = 32,
    REG_VECTOR_COUNT = 32,
};

struct registers {
    enum cpu cpu;
    uint64_t pc, sp;
    uint64_t r[REG_COUNT];
    uint64_t vector[REG_VECTOR_COUNT][2]; /* xmm0-15; arm64, arm: d0-31 in [0] */
    uint32_t flags;                       /* eflags or cpsr */
    uint32_t context_flags;               /* from the CONTEXT: which register groups it holds */
    uint64_t ec_lr;                       /* x64: low 64 bits of st0, which ARM64EC has as x30 */
    uint64_t shadow_sp;                   /* x64 with CET: the shadow stack pointer; 0: none */
};

/* Reads a Windows CONTEXT of CPU at R, with or without extended state after it. Breakpad's own
 * forms for arm64 and arm are also accepted. Fails: ERR_TRUNCATED, ERR_UNSUPPORTED. */
enum status registers_read(struct bytes r, enum cpu cpu, struct registers *out);

uint32_t cpu_pointer_bytes(enum cpu cpu);

/* Name of r[INDEX]: "rax", "x29"; NULL past the processor's last. */
const char *register_name(enum cpu cpu, uint32_t index);
uint32_t register_count(enum cpu cpu);

/* True when number INDEX is the stack pointer, whose value is in `sp`. */
bool register_is_sp(enum cpu cpu, uint32_t index);

#endif
