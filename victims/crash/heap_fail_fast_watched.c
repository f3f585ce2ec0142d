#include "victims/victim.h"

static int report(void)
{
    HERE_DO(RaiseException(0xC0000374, EXCEPTION_NONCONTINUABLE, 0, NULL));
    return 1;
}

SCENARIO(heap_fail_fast_watched, .kind = KIND_CRASH, .group = "A2", .code = 0xC0000374,
         .hooks = RECORD_HOOK_WATCHER, .watched = true,
         .sentence = "Heap corruption, taken from outside by a watcher, who has a heap of his own.")
{
    return HERE(report()) + 1;
}
