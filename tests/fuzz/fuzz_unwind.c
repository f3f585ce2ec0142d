/* Fuzzes the unwinders of all processors: the input is a processor, registers, an image with its
 * headers and unwind data, and a stack. */
#include <string.h>

#include "base/array.h"
#include "base/bytes.h"
#include "fuzz.h"
#include "unwind/tables.h"
#include "unwind/unwind.h"

enum { HEAD_BYTES = 24, IMAGE_SHARE = 4096 };
#define IMAGE_VA ((uint64_t)0x10000000)
#define STACK_VA ((uint64_t)0x200000)

struct input {
    const uint8_t *image, *stack;
    size_t image_bytes, stack_bytes;
    struct module module;
};

static bool read_input(void *self, uint64_t va, void *out, size_t bytes)
{
    const struct input *in = self;
    uint64_t base = va >= IMAGE_VA ? IMAGE_VA : STACK_VA;
    const uint8_t *from = va >= IMAGE_VA ? in->image : in->stack;
    size_t have = va >= IMAGE_VA ? in->image_bytes : in->stack_bytes;
    if (va < base || va - base > have || bytes > have - (va - base))
        return false;
    memcpy(out, from + (va - base), bytes);
    return true;
}

static const struct module *module_of(void *self, uint64_t va)
{
    const struct input *in = self;
    return va >= IMAGE_VA && va - IMAGE_VA < in->module.image_bytes ? &in->module : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const enum cpu cpus[] = {CPU_X86, CPU_X64, CPU_ARM64, CPU_ARM};
    struct arena arena;
    struct fault fault = FAULT_INIT;
    struct unwind_stack stack;
    if (size < HEAD_BYTES)
        return 0;
    struct input in = {.image = data + HEAD_BYTES};
    size_t left = size - HEAD_BYTES;
    in.image_bytes = left < IMAGE_SHARE ? left : IMAGE_SHARE;
    in.stack = in.image + in.image_bytes;
    in.stack_bytes = left - in.image_bytes;
    in.module = (struct module){.name = (data[1] & 1) != 0 ? "ntdll.dll" : "a.exe",
                                .base_va = IMAGE_VA,
                                .image_bytes = IMAGE_SHARE};
    arena_init(&arena, (size_t)64 << 20);
    struct unwind_process process = {.self = &in,
                                     .read = read_input,
                                     .module_at = module_of,
                                     .tables = unwind_tables_new(&arena)};
    struct registers regs = {.cpu = cpus[data[0] % COUNT_OF(cpus)]};
    regs.pc = IMAGE_VA + load_u16(data + 2);
    regs.sp = STACK_VA + load_u16(data + 4);
    for (int i = 0; i < REG_COUNT; i++)
        regs.r[i] = STACK_VA + load_u16(data + 6 + (i % 8) * 2);
    if (process.tables != NULL)
        (void)unwind_walk(&process, &regs, (data[1] & 2) != 0 ? PC_RETURN : PC_INTERRUPTED, &arena,
                          &stack, &fault);
    arena_free(&arena);
    return 0;
}
