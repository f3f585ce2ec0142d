#include "victims/crash/unwind_shape.h"

int unwind_frame_register(int (*call)(volatile int *), volatile int *p);

enum { LINE_OF_SHAPE = __LINE__ + 2 };
/* clang-format off */
UNWIND_SHAPE(unwind_frame_register, "pushq %rbp\n.seh_pushreg %rbp\nsubq $48, %rsp\n.seh_stackalloc 48\nleaq 32(%rsp), %rbp\n.seh_setframe %rbp, 32\n.seh_endprologue\nsubq $320, %rsp\n" CALL_IT)
/* clang-format on */

SCENARIO(unwind_frame_register, .kind = KIND_CRASH, .group = "A3", .code = 0xC0000005,
         .not_built = SHAPE_NOT_BUILT,
         .sentence = "A frame register set in the middle of the frame, and the stack pointer moved "
                     "afterwards by an unknown amount.")
{
    return HERE_SHAPE(unwind_frame_register) + 1;
}
