#include "victims/victim.h"

static int load_late(void)
{
    const ULONG_PTR arguments[1] = {0};
    HERE_DO(RaiseException(0xC06D007E, 0, 1, arguments));
    return 1;
}

SCENARIO(delay_load, .kind = KIND_CRASH, .group = "A1", .code = 0xC06D007E,
         .sentence = "A delay-loaded module is missing: raised as the loader's helper raises it.")
{
    return HERE(load_late()) + 1;
}
