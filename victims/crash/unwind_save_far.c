#include "victims/crash/unwind_shape.h"

int unwind_save_far(int (*call)(volatile int *), volatile int *p);

enum { LINE_OF_SHAPE = __LINE__ + 2 };
/* clang-format off */
UNWIND_SHAPE(unwind_save_far, "subq $600008, %rsp\n.seh_stackalloc 600008\nmovq %rbx, 560000(%rsp)\n.seh_savereg %rbx, 560000\nmovq %rbp, 560008(%rsp)\n.seh_savereg %rbp, 560008\n.seh_endprologue\nxorl %ebp, %ebp\nxorl %ebx, %ebx\n" CALL_IT)
/* clang-format on */

SCENARIO(unwind_save_far, .kind = KIND_CRASH, .group = "A3", .code = 0xC0000005,
         .not_built = SHAPE_NOT_BUILT,
         .sentence = "Registers saved so far away that the offset takes two slots.")
{
    return HERE_SHAPE(unwind_save_far) + 1;
}
