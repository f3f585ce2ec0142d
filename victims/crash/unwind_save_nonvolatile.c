#include "victims/crash/unwind_shape.h"

int unwind_save_nonvolatile(int (*call)(volatile int *), volatile int *p);

enum { LINE_OF_SHAPE = __LINE__ + 2 };
/* clang-format off */
UNWIND_SHAPE(unwind_save_nonvolatile, "subq $72, %rsp\n.seh_stackalloc 72\nmovq %rbx, 40(%rsp)\n.seh_savereg %rbx, 40\nmovq %rbp, 48(%rsp)\n.seh_savereg %rbp, 48\nmovq %rsi, 56(%rsp)\n.seh_savereg %rsi, 56\n.seh_endprologue\nxorl %ebp, %ebp\nxorl %ebx, %ebx\n" CALL_IT)
/* clang-format on */

SCENARIO(
    unwind_save_nonvolatile, .kind = KIND_CRASH, .group = "A3", .code = 0xC0000005,
    .not_built = SHAPE_NOT_BUILT,
    .sentence = "Registers saved by moves, not pushes; the caller needs one of them to be right.")
{
    return HERE_SHAPE(unwind_save_nonvolatile) + 1;
}
