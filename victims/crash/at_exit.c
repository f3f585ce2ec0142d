#include "victims/victim.h"

static int poke(volatile int *p)
{
    return HERE(*p = 1) + 1;
}

static void on_exit_crash(void)
{
    HERE_DO(poke(victim_null));
}

SCENARIO(at_exit, .kind = KIND_CRASH, .group = "A4", .code = 0xC0000005,
         .sentence = "A crash in an atexit function, when the program is already leaving.")
{
    atexit(on_exit_crash);
    HERE_DO(exit(0));
    return 1;
}
