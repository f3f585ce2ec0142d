#include "victims/victim.h"

static int poke(volatile int *p)
{
    return HERE(*p = 1) + 1;
}

SCENARIO(after_uninstall, .kind = KIND_CRASH, .group = "A4", .code = 0xC0000005, .no_case = true,
         .sentence = "A crash after the capture was taken out: our choice is to leave it to the "
                     "system, and the program must end, not hang.")
{
    capture_uninstall();
    return HERE(poke(victim_null)) + 1;
}
