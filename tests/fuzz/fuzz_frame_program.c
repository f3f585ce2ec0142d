/* Fuzzes the frame programs of x86 PDBs. */
#include <string.h>

#include "fuzz.h"
#include "unwind/x86_program.h"

static bool read_stack(void *self, uint64_t va, void *out, size_t bytes)
{
    (void)self;
    if (va < 0x1000 || va > 0x2000)
        return false;
    memset(out, (int)(va & 0xff), bytes);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char program[1024];
    struct unwind_process process = {.read = read_stack};
    struct registers regs = {.cpu = CPU_X86, .sp = 0x1100};
    const struct x86_frame_constants constants = {0x1120, 16, 8, 4, 4};
    size_t bytes = size < sizeof(program) - 1 ? size : sizeof(program) - 1;
    memcpy(program, data, bytes);
    program[bytes] = '\0';
    regs.r[REG_X86_EBP] = 0x1140;
    (void)x86_program_run(&process, program, bytes, &constants, &regs);
    return 0;
}
