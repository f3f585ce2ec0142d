#include "victims/victim.h"

enum { DEPTH = 60 };

static int down(volatile int *p, int left)
{
    if (left == 0)
        return HERE(*p = left) + 1;
    return HERE(down(p, left - 1)) + left;
}

SCENARIO(recursion, .kind = KIND_CRASH, .group = "A3", .code = 0xC0000005,
         .sentence = "Sixty frames of one function, which may be inlined into itself: each must be "
                     "counted, and the innermost has another line.")
{
    return HERE(down(victim_null, DEPTH)) + 1;
}
