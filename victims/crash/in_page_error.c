#include "victims/victim.h"

static int read_page(void)
{
    const ULONG_PTR arguments[3] = {0, (ULONG_PTR)&victim_zero, 0xC000009C};
    HERE_DO(RaiseException(0xC0000006, EXCEPTION_NONCONTINUABLE, 3, arguments));
    return 1;
}

SCENARIO(in_page_error, .kind = KIND_CRASH, .group = "A1", .code = 0xC0000006,
         .sentence = "A page that could not be read from disk; raised, since a real one cannot be "
                     "forced.")
{
    return HERE(read_page()) + 1;
}
