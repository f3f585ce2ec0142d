#include "victims/crash/unwind_shape.h"

int unwind_push_nonvolatile(int (*call)(volatile int *), volatile int *p);

enum { LINE_OF_SHAPE = __LINE__ + 2 };
/* clang-format off */
UNWIND_SHAPE(unwind_push_nonvolatile, "pushq %rbx\n.seh_pushreg %rbx\npushq %rbp\n.seh_pushreg %rbp\npushq %rsi\n.seh_pushreg %rsi\npushq %rdi\n.seh_pushreg %rdi\npushq %r12\n.seh_pushreg %r12\npushq %r13\n.seh_pushreg %r13\npushq %r14\n.seh_pushreg %r14\n.seh_endprologue\n" CALL_IT)
/* clang-format on */

SCENARIO(unwind_push_nonvolatile, .kind = KIND_CRASH, .group = "A3", .code = 0xC0000005,
         .not_built = SHAPE_NOT_BUILT,
         .sentence = "Every nonvolatile register pushed, nothing else.")
{
    return HERE_SHAPE(unwind_push_nonvolatile) + 1;
}
