#include "victims/victim.h"

static int poke(volatile int *p)
{
    return HERE(*p = 1) + 1;
}

static void raise_again(void)
{
    RaiseException(0xE0001236, EXCEPTION_NONCONTINUABLE, 0, NULL);
}

SCENARIO(raise_in_handler, .kind = KIND_CRASH, .group = "A4", .code = 0xC0000005,
         .on_crash = raise_again,
         .sentence =
             "The host's own crash handler raises an exception of its own: the first one is "
             "what the record tells.")
{
    return HERE(poke(victim_null)) + 1;
}
