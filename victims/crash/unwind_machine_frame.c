#include "victims/crash/unwind_shape.h"

int unwind_machine_frame(int (*call)(volatile int *), volatile int *p);

enum { LINE_OF_SHAPE = __LINE__ + 2 };
/* clang-format off */
UNWIND_SHAPE(unwind_machine_frame, "movq (%rsp), %r10\nleaq 8(%rsp), %r11\npushq $0x2b\npushq %r11\npushfq\npushq $0x33\npushq %r10\n.seh_pushframe\nsubq $32, %rsp\n.seh_stackalloc 32\n.seh_endprologue\n" CALL_IT)
/* clang-format on */

SCENARIO(unwind_machine_frame, .kind = KIND_CRASH, .group = "A3", .code = 0xC0000005,
         .not_built = SHAPE_NOT_BUILT,
         .sentence = "A machine frame, as an interrupt leaves it: the caller was interrupted and "
                     "is looked up at its own address.")
{
    return HERE_SHAPE(unwind_machine_frame) + 1;
}
