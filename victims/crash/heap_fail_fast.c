#include "victims/victim.h"

static int report(void)
{
    HERE_DO(RaiseException(0xC0000374, EXCEPTION_NONCONTINUABLE, 0, NULL));
    return 1;
}

SCENARIO(heap_fail_fast, .kind = KIND_CRASH, .group = "A2", .code = 0xC0000374,
         .sentence = "Heap corruption as Windows raises it; raised by hand, so that it is the same "
                     "everywhere.")
{
    return HERE(report()) + 1;
}
