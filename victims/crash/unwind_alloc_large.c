#include "victims/crash/unwind_shape.h"

int unwind_alloc_large(int (*call)(volatile int *), volatile int *p);

enum { LINE_OF_SHAPE = __LINE__ + 2 };
/* clang-format off */
UNWIND_SHAPE(unwind_alloc_large, "subq $1032, %rsp\n.seh_stackalloc 1032\n.seh_endprologue\n" CALL_IT)
/* clang-format on */

SCENARIO(unwind_alloc_large, .kind = KIND_CRASH, .group = "A3", .code = 0xC0000005,
         .not_built = SHAPE_NOT_BUILT, .sentence = "A stack allocation in the two-slot form.")
{
    return HERE_SHAPE(unwind_alloc_large) + 1;
}
