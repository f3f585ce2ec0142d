#include "victims/crash/unwind_shape.h"

/* Code 7 is not assigned: how many slots it takes and what it did cannot be known. */
int unwind_unknown_code(int (*call)(volatile int *), volatile int *p);

#if HAVE_NAKED
enum { LINE_OF_SHAPE = __LINE__ + 3 };
NAKED int unwind_unknown_code(int (*call)(volatile int *), volatile int *p)
{
    __asm__("unwind_unknown_start:\n"
            "pushq %rbx\n"
            "subq $1328, %rsp\n" /* and only zeros in it, so that a scan finds nothing */
            "movq %rcx, %r8\n"
            "movq %rsp, %rdi\n"
            "movl $166, %ecx\n"
            "xorl %eax, %eax\n"
            "rep stosq\n"
            "movq %r8, %rcx\n" CALL_IT "ud2\n"
            "unwind_unknown_end:\n"
            ".section .xdata, \"dr\"\n"
            ".balign 4\n"
            "unwind_unknown_data:\n"
            ".byte 0x01, 8, 4, 0\n"    /* version 1, prologue of 8 bytes, 4 slots      */
            ".byte 8, 0x37, 8, 0x01\n" /* unknown, then alloc 166 times 8,             */
            ".byte 166, 0, 1, 0x30\n"  /* push rbx                                     */
            ".section .pdata, \"dr\"\n"
            ".balign 4\n"
            ".rva unwind_unknown_start, unwind_unknown_end, unwind_unknown_data\n"
            ".text\n");
}
#else
UNWIND_SHAPE(unwind_unknown_code, "")
enum { LINE_OF_SHAPE = 0 };
#endif

SCENARIO(unwind_unknown_code, .kind = KIND_CRASH, .group = "A3", .code = 0xC0000005,
         .not_built = SHAPE_NOT_BUILT,
         .sentence =
             "Unwind data with a code that is not assigned: what is below cannot be known, and "
             "a guess must be marked as one.")
{
    return HERE_LOST(unwind_unknown_code, LINE_OF_SHAPE, unwind_unknown_code(poke, victim_null)) +
           1;
}
