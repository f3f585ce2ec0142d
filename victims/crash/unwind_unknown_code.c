#include "victims/crash/unwind_shape.h"

/* Code 7 is not given out: nobody can know how many slots it takes or what it did. */
int unwind_unknown_code(int (*call)(volatile int *), volatile int *p);

#if HAVE_NAKED
enum { LINE_OF_SHAPE = __LINE__ + 3 };
NAKED int unwind_unknown_code(int (*call)(volatile int *), volatile int *p)
{
    __asm__("unwind_unknown_start:\n"
            "pushq %rbx\n"
            "subq $32, %rsp\n" CALL_IT "ud2\n"
            "unwind_unknown_end:\n"
            ".section .xdata, \"dr\"\n"
            ".balign 4\n"
            "unwind_unknown_data:\n"
            ".byte 0x01, 5, 3, 0\n"             /* version 1, prologue of 5 bytes, 3 codes */
            ".byte 5, 0x37, 5, 0x32, 1, 0x30\n" /* unknown, alloc 32, push rbx            */
            ".byte 0, 0\n"
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
             "Unwind data with a code that nobody gave out: what is below cannot be known, and "
             "nobody may guess without saying so.")
{
    return HERE_LOST(unwind_unknown_code, LINE_OF_SHAPE, unwind_unknown_code(poke, victim_null)) +
           1;
}
