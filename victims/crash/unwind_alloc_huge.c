#include "victims/crash/unwind_shape.h"

int unwind_alloc_huge(int (*call)(volatile int *), volatile int *p);

enum { LINE_OF_SHAPE = __LINE__ + 2 };
/* clang-format off */
UNWIND_SHAPE(unwind_alloc_huge, "subq $524296, %rsp\n.seh_stackalloc 524296\n.seh_endprologue\n" CALL_IT)
/* clang-format on */

SCENARIO(unwind_alloc_huge, .kind = KIND_CRASH, .group = "A3", .code = 0xC0000005,
         .not_built = SHAPE_NOT_BUILT,
         .sentence = "A stack allocation in the three-slot form, more than 512 KB less eight.")
{
    return HERE_SHAPE(unwind_alloc_huge) + 1;
}
