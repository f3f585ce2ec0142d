#include "victims/victim.h"

static int rest(DWORD ms)
{
    HERE_DO(Sleep(ms));
    return 1;
}

static int nap(void)
{
    return HERE(rest(INFINITE)) + 1;
}

SCENARIO(sleep_forever, .kind = KIND_HANG, .group = "A5",
         .sentence =
             "The main thread sleeps for ever: the top frames are system stubs, the cause is "
             "the first frame of ours.")
{
    victim_ready();
    return HERE(nap()) + 1;
}
