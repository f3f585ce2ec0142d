#include "victims/victim.h"

static volatile int rounds;

static int hold_heap(void)
{
    HERE_BLOCK(while (victim_zero == 0) rounds++;);
    return rounds;
}

SCENARIO(heap_locked_watched, .kind = KIND_HANG, .group = "A5", .limit_ms = 60000,
         .hooks = RECORD_HOOK_WATCHER, .watched = true,
         .sentence = "Spins with the heap locked, and is watched from outside: there neither "
                     "walker nor dump needs that heap.")
{
    victim_ready();
    HeapLock(GetProcessHeap());
    return HERE(hold_heap()) + 1;
}
