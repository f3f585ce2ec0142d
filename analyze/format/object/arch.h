/* Architectures of image, object and debug files, of any container. These are more than the
 * processors whose dumps are unwound (model/cpu.h): the slices of a fat Mach-O file also differ by
 * variants of one processor. */
#ifndef FORMAT_OBJECT_ARCH_H
#define FORMAT_OBJECT_ARCH_H

enum object_arch {
    ARCH_NONE,  /* a file without code, or none is asked for */
    ARCH_OTHER, /* not in this list */
    ARCH_X86,
    ARCH_I386, /* x86, as Mach-O calls it */
    ARCH_X86_64,
    ARCH_X86_64H,
    ARCH_ARM64,
    ARCH_ARM64E,
    ARCH_ARM64_32,
    ARCH_ARM,
    ARCH_ARMV7,
    ARCH_ARMV7S,
    ARCH_ARMV7K,
    ARCH_RISCV,
    ARCH_PPC64,
    ARCH_S390X,
    ARCH_MIPS,
    ARCH_COUNT
};

/* "x86_64", "arm64e", ...; "?" for ARCH_OTHER, NULL for ARCH_NONE. */
const char *object_arch_name(enum object_arch arch);

/* The reverse: ARCH_NONE for NULL, ARCH_OTHER for any other text. */
enum object_arch object_arch_parse(const char *text);

#endif
