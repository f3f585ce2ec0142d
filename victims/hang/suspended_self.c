#include "victims/victim.h"

static int stop_myself(void)
{
    return HERE_SYSTEM(SuspendThread(GetCurrentThread())) + 1;
}

SCENARIO(suspended_self, .kind = KIND_HANG, .group = "A5",
         .sentence =
             "The thread suspended itself: it is suspended once more for the walk, and resumed "
             "once, not twice.")
{
    victim_ready();
    return HERE(stop_myself()) + 1;
}
