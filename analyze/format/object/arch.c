/* See arch.h. */
#include "format/object/arch.h"

#include <stddef.h>

#include "model/names.h"

static const char *const arch_names[ARCH_COUNT] = {
    [ARCH_OTHER] = "?",       [ARCH_X86] = "x86",           [ARCH_I386] = "i386",
    [ARCH_X86_64] = "x86_64", [ARCH_X86_64H] = "x86_64h",   [ARCH_ARM64] = "arm64",
    [ARCH_ARM64E] = "arm64e", [ARCH_ARM64_32] = "arm64_32", [ARCH_ARM] = "arm",
    [ARCH_ARMV7] = "armv7",   [ARCH_ARMV7S] = "armv7s",     [ARCH_ARMV7K] = "armv7k",
    [ARCH_RISCV] = "riscv",   [ARCH_PPC64] = "ppc64",       [ARCH_S390X] = "s390x",
    [ARCH_MIPS] = "mips",
};

const char *object_arch_name(enum object_arch arch)
{
    return arch_names[arch];
}

enum object_arch object_arch_parse(const char *text)
{
    const int found = name_index(arch_names, ARCH_COUNT, text);
    if (text == NULL)
        return ARCH_NONE;
    return found < 0 ? ARCH_OTHER : (enum object_arch)found;
}
