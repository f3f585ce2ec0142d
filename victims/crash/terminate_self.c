#include "victims/victim.h"

static int leave(void)
{
    return HERE(TerminateProcess(GetCurrentProcess(), 42)) + 1;
}

SCENARIO(terminate_self, .kind = KIND_CRASH, .group = "A2", .exit_code = 42, .no_case = true,
         .sentence = "TerminateProcess on itself: not captured is the right answer.")
{
    return HERE(leave()) + 1;
}
