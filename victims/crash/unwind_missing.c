#include "victims/crash/unwind_shape.h"

/* Moves the stack pointer without unwind data: an unwinder takes it for a leaf and pops a local. */
int unwind_missing(int (*call)(volatile int *), volatile int *p);

#if HAVE_NAKED
enum { LINE_OF_SHAPE = __LINE__ + 3 };
NAKED int unwind_missing(int (*call)(volatile int *), volatile int *p)
{
    __asm__("subq $1320, %rsp\n" /* and only zeros in it */
            "movq %rcx, %r8\n"
            "movq %rsp, %rdi\n"
            "movl $165, %ecx\n"
            "xorl %eax, %eax\n"
            "rep stosq\n"
            "movq %r8, %rcx\n" CALL_IT "ud2\n");
}
#else
UNWIND_SHAPE(unwind_missing, "")
enum { LINE_OF_SHAPE = 0 };
#endif

SCENARIO(unwind_missing, .kind = KIND_CRASH, .group = "A3", .code = 0xC0000005,
         .not_built = SHAPE_NOT_BUILT,
         .sentence =
             "A function with a frame and without unwind data: it passes for a leaf, but at the "
             "top lies a zero, and whoever shows more makes it up.")
{
    return HERE_LOST(unwind_missing, LINE_OF_SHAPE, unwind_missing(poke, victim_null)) + 1;
}
