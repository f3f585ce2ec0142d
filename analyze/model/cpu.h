/* The processors whose dead processes are read. */
#ifndef MODEL_CPU_H
#define MODEL_CPU_H

enum cpu { CPU_UNKNOWN, CPU_X86, CPU_X64, CPU_ARM64, CPU_ARM };
enum { CPU_COUNT = CPU_ARM + 1 };

/* The order in which figures have them: its number, id, name; the last is CPU_UNKNOWN. */
#define CPU_ORDER(ROW)                                                                             \
    ROW(0, X64, "x64") ROW(1, X86, "x86") ROW(2, ARM64, "arm64") ROW(3, ARM, "arm")
extern const enum cpu cpu_order[CPU_COUNT];

/* "x86", "x64", "arm64", "arm", "unknown"; the reverse gives CPU_UNKNOWN for any other text and
 * NULL. */
const char *cpu_name(enum cpu cpu);
enum cpu cpu_parse(const char *text);

#endif
