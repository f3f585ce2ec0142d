#include "victims/crash/unwind_shape.h"

/* Its unwind data is written by hand: the assembler's own directives would let the two
 * pieces overlap, which no compiler does. */
int unwind_chained(int (*call)(volatile int *), volatile int *p);

#if HAVE_NAKED
enum { LINE_OF_SHAPE = __LINE__ + 3 };
NAKED int unwind_chained(int (*call)(volatile int *), volatile int *p)
{
    __asm__("pushq %rbx\n"
            "subq $32, %rsp\n"
            "unwind_chained_second:\n"
            "subq $48, %rsp\n" CALL_IT "ud2\n"
            "unwind_chained_end:\n"
            ".section .xdata, \"dr\"\n"
            ".balign 4\n"
            "unwind_chained_parent:\n"
            ".byte 0x01, 5, 2, 0\n"    /* version 1, prologue of 5 bytes, 2 codes  */
            ".byte 5, 0x32, 1, 0x30\n" /* at 5 alloc 32, at 1 push rbx             */
            "unwind_chained_child:\n"
            ".byte 0x21, 4, 1, 0\n" /* chained, prologue of 4 bytes, 1 code     */
            ".byte 4, 0x52, 0, 0\n" /* at 4 alloc 48; padding                   */
            ".rva unwind_chained, unwind_chained_second, unwind_chained_parent\n"
            ".section .pdata, \"dr\"\n"
            ".balign 4\n"
            ".rva unwind_chained, unwind_chained_second, unwind_chained_parent\n"
            ".rva unwind_chained_second, unwind_chained_end, unwind_chained_child\n"
            ".text\n");
}
#else
UNWIND_SHAPE(unwind_chained, "")
enum { LINE_OF_SHAPE = 0 };
#endif

SCENARIO(unwind_chained, .kind = KIND_CRASH, .group = "A3", .code = 0xC0000005,
         .not_built = SHAPE_NOT_BUILT,
         .sentence =
             "Unwind data in two chained pieces, as shrink-wrapped functions have them: the "
             "name comes from the parent.")
{
    return HERE_SHAPE(unwind_chained) + 1;
}
