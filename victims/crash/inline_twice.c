#include "victims/victim.h"

static int store(volatile int *p, int v)
{
    return HERE(*p = v) + 1;
}

static int both(volatile int *good, volatile int *bad)
{
    int sum = HERE(store(good, 1));
    sum += HERE(store(bad, 2));
    return sum;
}

SCENARIO(inline_twice, .kind = KIND_CRASH, .group = "A3", .code = 0xC0000005,
         .sentence = "One function inlined twice into another, on different lines: only the second "
                     "call crashes, and only its line is right.")
{
    volatile int good = 0;
    return HERE(both(&good, victim_null)) + 1;
}
