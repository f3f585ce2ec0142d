#include "victims/victim.h"

static int throw_like_cpp(void)
{
    const ULONG_PTR arguments[4] = {0x19930520, (ULONG_PTR)&victim_zero, 0, 0};
    HERE_DO(RaiseException(0xE06D7363, EXCEPTION_NONCONTINUABLE, 4, arguments));
    return 1;
}

SCENARIO(raise_cpp, .kind = KIND_CRASH, .group = "A2", .code = 0xE06D7363,
         .sentence = "What an uncaught C++ throw of Microsoft's compiler looks like to a reporter.")
{
    return HERE(throw_like_cpp()) + 1;
}
