#include "victims/crash/unwind_shape.h"

int unwind_alloc_small(int (*call)(volatile int *), volatile int *p);

enum { LINE_OF_SHAPE = __LINE__ + 2 };
/* clang-format off */
UNWIND_SHAPE(unwind_alloc_small, "subq $40, %rsp\n.seh_stackalloc 40\n.seh_endprologue\n" CALL_IT)
/* clang-format on */

SCENARIO(unwind_alloc_small, .kind = KIND_CRASH, .group = "A3", .code = 0xC0000005,
         .not_built = SHAPE_NOT_BUILT, .sentence = "The smallest stack allocation that has a code.")
{
    return HERE_SHAPE(unwind_alloc_small) + 1;
}
