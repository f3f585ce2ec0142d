#include "victims/crash/unwind_shape.h"

int unwind_save_xmm(int (*call)(volatile int *), volatile int *p);

enum { LINE_OF_SHAPE = __LINE__ + 2 };
/* clang-format off */
UNWIND_SHAPE(unwind_save_xmm, "subq $72, %rsp\n.seh_stackalloc 72\nmovaps %xmm6, 32(%rsp)\n.seh_savexmm %xmm6, 32\nmovaps %xmm7, 48(%rsp)\n.seh_savexmm %xmm7, 48\n.seh_endprologue\n" CALL_IT)
/* clang-format on */

SCENARIO(unwind_save_xmm, .kind = KIND_CRASH, .group = "A3", .code = 0xC0000005,
         .not_built = SHAPE_NOT_BUILT, .sentence = "Vector registers saved near by.")
{
    return HERE_SHAPE(unwind_save_xmm) + 1;
}
