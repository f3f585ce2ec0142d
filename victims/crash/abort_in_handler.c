#include "victims/victim.h"

static int poke(volatile int *p)
{
    return HERE(*p = 1) + 1;
}

static void give_up(void)
{
    abort();
}

SCENARIO(abort_in_handler, .kind = KIND_CRASH, .group = "A4", .code = 0xC0000005, .exit_code = 3,
         .on_crash = give_up,
         .sentence = "The host's own crash handler gives up with abort(): the first record stays "
                     "whole, and the process ends.")
{
    return HERE(poke(victim_null)) + 1;
}
