#include "victims/victim.h"

static volatile int rounds;

static int hold_heap(void)
{
    HERE_BLOCK(while (victim_zero == 0) rounds++;);
    return rounds;
}

SCENARIO(heap_locked, .kind = KIND_HANG, .group = "A5", .limit_ms = 60000,
         .sentence = "Spins with the heap locked: a walker that allocates while this thread stands "
                     "still waits for ever.")
{
    HeapLock(GetProcessHeap());
    capture_heartbeat();
    return HERE(hold_heap()) + 1;
}
