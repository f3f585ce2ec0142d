/* Functions whose prologues compilers do not write, one unwind code apiece.  A shape is
 * called with a C function and its argument, sets its frame up as PROLOGUE says, calls, and
 * never comes back.  On entry: rcx the function, rdx the argument, rsp = 16 n + 8. */
#ifndef VICTIMS_CRASH_UNWIND_SHAPE_H
#define VICTIMS_CRASH_UNWIND_SHAPE_H

#include "victims/victim.h"

#if HAVE_NAKED
#define UNWIND_SHAPE(name, body)                                                                   \
    NAKED int name(int (*call)(volatile int *), volatile int *p)                                   \
    {                                                                                              \
        __asm__(".seh_proc " #name "\n" body "ud2\n.seh_endproc\n");                               \
    }
/* For the end of every body. */
#define CALL_IT                                                                                    \
    "movq %rcx, %rax\n"                                                                            \
    "movq %rdx, %rcx\n"                                                                            \
    "callq *%rax\n"
#define SHAPE_NOT_BUILT NULL
#else
#define UNWIND_SHAPE(name, body)                                                                   \
    int name(int (*call)(volatile int *), volatile int *p)                                         \
    {                                                                                              \
        return call(p);                                                                            \
    }
#define CALL_IT ""
#define SHAPE_NOT_BUILT                                                                            \
    (sizeof(void *) == 4 ? "unwind codes are of x64: x86 images have none"                         \
                         : "this compiler has no naked functions")
#endif

/* A scenario's way to its shape, on one line. */
#define HERE_SHAPE(name) HERE_LEAF(name, LINE_OF_SHAPE, name(poke, victim_null))

static int poke(volatile int *p)
{
    return HERE(*p = 1) + 1;
}

#endif
