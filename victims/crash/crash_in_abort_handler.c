#include "victims/victim.h"

static int give_up(int value)
{
    if (value == 0)
        HERE_DO(abort());
    return value;
}

static void crash_again(void)
{
    *victim_null = 2;
}

SCENARIO(crash_in_abort_handler, .kind = KIND_CRASH, .group = "A4", .code = 0x40000015,
         .hooks = RECORD_HOOK_SIGABRT, .on_crash = crash_again,
         .sentence = "abort(), and then the host's own handler crashes: two hooks, one record.")
{
    return HERE(give_up(victim_zero)) + 1;
}
