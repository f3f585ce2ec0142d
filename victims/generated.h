/* Code made at run time: a function that calls its argument from a frame of its own.
 *     x64: push rbp; mov rbp, rsp; sub rsp, 32; mov rax, rcx; mov rcx, rdx; call rax;
 *          add rsp, 32; pop rbp; ret
 *     x86: push ebp; mov ebp, esp; push [ebp+12]; call [ebp+8]; add esp, 4; pop ebp; ret
 * Linked into the program. */
#ifndef VICTIMS_GENERATED_H
#define VICTIMS_GENERATED_H

#include <windows.h>

#include <stdint.h>

typedef int (*generated_function)(int (*call)(volatile int *), volatile int *p);

struct generated {
    uint8_t *memory; /* 64 KB: code at 0, on x64 unwind data at GENERATED_UNWIND_RVA */
    generated_function call;
#if defined(_WIN64)
    RUNTIME_FUNCTION *table; /* one entry, in the same memory */
#endif
};

#if defined(_WIN64)
#define TABLES_NOT_BUILT NULL
enum { GENERATED_CODE_BYTES = 23 };
#else
#define TABLES_NOT_BUILT "function tables are of x64: on x86 generated code announces nothing"
enum { GENERATED_CODE_BYTES = 14 };
#endif

/* As HERE_GENERATED, and nothing leads from that code to the frames below it: they cannot be
 * known. */
#define HERE_HOLE(expr)                                                                            \
    (TRUTH_SELF, TRUTH_PUSH(0, 0, 0, TRUTH_FLAG_LOST), TRUTH_PUSH(0, 0, 0, TRUTH_FLAG_GENERATED),  \
     TRUTH_VALUE(expr, 3))

enum { GENERATED_UNWIND_RVA = 256, GENERATED_BYTES = 65536 };

struct generated generated_make(void);

#endif
