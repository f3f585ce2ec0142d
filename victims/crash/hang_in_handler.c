#include "victims/victim.h"

static int poke(volatile int *p)
{
    return HERE(*p = 1) + 1;
}

static void never_return(void)
{
    Sleep(INFINITE);
}

SCENARIO(hang_in_handler, .kind = KIND_CRASH, .group = "A4", .code = 0xC0000005,
         .on_crash = never_return,
         .sentence = "The host's own crash handler never returns: the process is ended all the "
                     "same, after a while.")
{
    return HERE(poke(victim_null)) + 1;
}
