#include "victims/victim.h"

static int poke(volatile int *p)
{
    return HERE(*p = 1) + 1;
}

static void crash_again(void)
{
    *victim_null = 2;
}

SCENARIO(crash_in_handler, .kind = KIND_CRASH, .group = "A4", .code = 0xC0000005,
         .on_crash = crash_again,
         .sentence =
             "The host's own crash handler crashes too: the first record stays whole and the "
             "process ends.")
{
    return HERE(poke(victim_null)) + 1;
}
