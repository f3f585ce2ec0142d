#include "victims/victim.h"

enum { DEPTH = 5000 };

static int down(volatile int *p, int left)
{
    volatile int keep = left;
    if (left == 0)
        return HERE(*p = left) + 1;
    return HERE(down(p, left - 1)) + keep;
}

SCENARIO(deep, .kind = KIND_CRASH, .group = "A3", .code = 0xC0000005,
         .sentence = "Five thousand frames deep: more than any report holds, so the middle must be "
                     "left out and counted.")
{
    return HERE(down(victim_null, DEPTH)) + 1;
}
