#include "victims/victim.h"

static int poke(volatile int *p)
{
    return HERE(*p = 1) + 1;
}

SCENARIO(null_write_watched, .kind = KIND_CRASH, .group = "A2", .code = 0xC0000005,
         .hooks = RECORD_HOOK_WATCHER, .watched = true,
         .sentence =
             "An ordinary crash, taken from outside by a watcher: nothing runs in the dying "
             "process.")
{
    return HERE(poke(victim_null)) + 1;
}
