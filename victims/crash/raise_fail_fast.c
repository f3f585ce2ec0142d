#include "victims/victim.h"

static int fail(void)
{
    HERE_DO(RaiseFailFastException(NULL, NULL, 0));
    return 1;
}

SCENARIO(raise_fail_fast, .kind = KIND_CRASH, .group = "A2", .code = 0xC0000602, .no_case = true,
         .sentence = "RaiseFailFastException: bypasses every handler, frame or vector based.")
{
    return HERE(fail()) + 1;
}
