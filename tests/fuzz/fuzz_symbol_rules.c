/* Fuzzes walks by the STACK records of a Breakpad file: the input is a processor and the file. */
#include <string.h>

#include "base/array.h"
#include "format/breakpad/breakpad.h"
#include "fuzz.h"
#include "unwind/tables.h"
#include "unwind/unwind.h"

enum { HEAD_BYTES = 8 };
#define IMAGE_VA ((uint64_t)0x10000000)
#define STACK_VA ((uint64_t)0x200000)

struct input {
    struct breakpad file;
    struct module module;
};

static bool read_stack(void *self, uint64_t va, void *out, size_t bytes)
{
    (void)self;
    if (va < STACK_VA || va > STACK_VA + 4096)
        return false;
    const uint64_t value = (va & 8) != 0 ? IMAGE_VA + 0x1000 + (va & 0xfff) : va + 32;
    memset(out, 0, bytes);
    memcpy(out, &value, bytes < sizeof value ? bytes : sizeof value);
    return true;
}

static const struct module *module_of(void *self, uint64_t va)
{
    const struct input *in = self;
    return va >= IMAGE_VA && va - IMAGE_VA < in->module.image_bytes ? &in->module : NULL;
}

static const struct breakpad *breakpad_of(void *self, const struct module *module)
{
    const struct input *in = self;
    (void)module;
    return &in->file;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const enum cpu cpus[] = {CPU_X86, CPU_X64, CPU_ARM64, CPU_ARM};
    struct input in = {.module = {.name = "a", .base_va = IMAGE_VA, .image_bytes = 0x10000}};
    struct fault fault = FAULT_INIT;
    struct unwind_stack stack;
    struct arena arena;
    if (size < HEAD_BYTES)
        return 0;
    arena_init(&arena, (size_t)64 << 20);
    if (breakpad_read(data + HEAD_BYTES, size - HEAD_BYTES, &in.file, &fault) == ERR_NONE) {
        const struct unwind_process process = {.self = &in,
                                               .read = read_stack,
                                               .module_at = module_of,
                                               .breakpad = breakpad_of,
                                               .tables = unwind_tables_new(&arena)};
        struct registers regs = {.cpu = cpus[data[0] % COUNT_OF(cpus)], .sp = STACK_VA + data[1]};
        regs.pc = IMAGE_VA + 0x1000 + data[2];
        for (int i = 0; i < REG_COUNT; i++)
            regs.r[i] = STACK_VA + (uint64_t)data[3 + i % 5] * 4;
        if (process.tables != NULL)
            (void)unwind_walk(&process, &regs, PC_INTERRUPTED, &arena, &stack, &fault);
    }
    breakpad_close(&in.file);
    arena_free(&arena);
    return 0;
}
