#include "victims/victim.h"

static NOINLINE int risky(volatile int *p)
{
    return *p + 1;
}

static int guarded(void)
{
    __try {
        return risky(victim_null);
    } __except (EXCEPTION_EXECUTE_HANDLER) {
        return 0;
    }
}

SCENARIO(handled_exception, .kind = KIND_CALM, .group = "calm",
         .sentence = "Two access violations that the program handles itself: the vectored handler "
                     "sees them, and no case may come of it.")
{
    return guarded() + guarded();
}
