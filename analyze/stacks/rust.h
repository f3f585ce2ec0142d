/* rust-minidump's JSON schema: what its reader and its writer share, and the writer. */
#ifndef STACKS_RUST_H
#define STACKS_RUST_H

#include "base/json.h"
#include "format/minidump/minidump.h"
#include "model/stack.h"

/* Its names of processors. */
extern const char *const rust_cpus[CPU_COUNT];

/* The distance by which its address of a caller is below the return address. */
static inline uint64_t rust_back(enum cpu cpu)
{
    if (cpu == CPU_ARM64)
        return 4;
    return cpu == CPU_ARM ? 2 : 1;
}

/* STACKS are resolved, one for each thread of the dump in thread order; CRASHED is the index of the
 * crashed thread's stack, REGISTERS are those of its first frame. */
void rust_write(struct json *j, const struct minidump *dump, const struct stack *stacks,
                uint32_t stack_count, uint32_t crashed, const struct registers *registers);

#endif
