#include "victims/victim.h"

static int complain(void)
{
    const ULONG_PTR arguments[2] = {1, 2};
    HERE_DO(RaiseException(0xE0001234, EXCEPTION_NONCONTINUABLE, 2, arguments));
    return 1;
}

SCENARIO(raise_custom, .kind = KIND_CRASH, .group = "A1", .code = 0xE0001234,
         .sentence = "RaiseException with a code of our own: the top frame is always the system's.")
{
    return HERE(complain()) + 1;
}
