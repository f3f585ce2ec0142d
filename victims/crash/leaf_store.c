#include "victims/victim.h"

/* No frame, no saved register, no call: the compiler emits no unwind data. */
enum { LINE_OF_LEAF = __LINE__ + 3 };
static NOINLINE int leaf(volatile int *p)
{
    *p = 1;
    return 2;
}

SCENARIO(leaf_store, .kind = KIND_CRASH, .group = "A3", .code = 0xC0000005,
         .sentence = "A crash in a leaf function without unwind data: its caller is found by "
                     "popping the return address.")
{
    return HERE_LEAF(leaf, LINE_OF_LEAF, leaf(victim_null)) + 1;
}
