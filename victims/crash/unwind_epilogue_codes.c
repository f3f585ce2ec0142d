#include "victims/crash/unwind_shape.h"

/* Version 2 of the unwind data, which also describes where the epilogues are. */
int unwind_epilogue_codes(int (*call)(volatile int *), volatile int *p);

#if HAVE_NAKED
enum { LINE_OF_SHAPE = __LINE__ + 3 };
NAKED int unwind_epilogue_codes(int (*call)(volatile int *), volatile int *p)
{
    __asm__("unwind_epilogue_start:\n"
            "pushq %rbx\n"
            "subq $32, %rsp\n" CALL_IT "addq $32, %rsp\n"
            "popq %rbx\n"
            "ret\n"
            "unwind_epilogue_end:\n"
            ".section .xdata, \"dr\"\n"
            ".balign 4\n"
            "unwind_epilogue_data:\n"
            ".byte 0x02, 5, 4, 0\n"    /* version 2, prologue of 5 bytes, 4 codes      */
            ".byte 2, 0x16, 0, 0x06\n" /* one epilogue of 2 bytes, at the end; padding */
            ".byte 5, 0x32, 1, 0x30\n" /* at 5 alloc 32, at 1 push rbx                 */
            ".section .pdata, \"dr\"\n"
            ".balign 4\n"
            ".rva unwind_epilogue_start, unwind_epilogue_end, unwind_epilogue_data\n"
            ".text\n");
}
#else
UNWIND_SHAPE(unwind_epilogue_codes, "")
enum { LINE_OF_SHAPE = 0 };
#endif

SCENARIO(unwind_epilogue_codes, .kind = KIND_CRASH, .group = "A3", .code = 0xC0000005,
         .not_built = SHAPE_NOT_BUILT,
         .sentence =
             "Unwind data in its second version, with codes for the epilogues, as Microsoft's "
             "compilers and system DLLs have it.")
{
    return HERE_SHAPE(unwind_epilogue_codes) + 1;
}
