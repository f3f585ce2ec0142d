#include "victims/victim.h"

static int give_up(int value)
{
    if (value != 0)
        return value;
    HERE_DO(abort());
    return 1;
}

SCENARIO(abort_call, .kind = KIND_CRASH, .group = "A2", .code = 0x40000015, .exit_code = 3,
         .hooks = RECORD_HOOK_SIGABRT,
         .sentence = "abort(): no exception at all; only a handler of SIGABRT sees it, and the "
                     "frames of that handler stand on top.")
{
    return HERE(give_up(victim_zero)) + 1;
}
