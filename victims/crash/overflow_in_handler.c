#include "victims/victim.h"

static int poke(volatile int *p)
{
    return HERE(*p = 1) + 1;
}

static int fall(int depth)
{
    volatile char room[200];
    if (depth < 0)
        return depth;
    room[depth % 200] = (char)depth;
    return fall(depth + 1) + room[(depth + 1) % 200];
}

static void overflow(void)
{
    victim_zero = fall(victim_zero);
}

SCENARIO(
    overflow_in_handler, .kind = KIND_CRASH, .group = "A4", .code = 0xC0000005,
    .on_crash = overflow,
    .sentence = "The host's own crash handler uses up the stack: the first record stays whole.")
{
    return HERE(poke(victim_null)) + 1;
}
