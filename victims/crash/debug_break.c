#include "victims/victim.h"

static int assert_in_vain(int value)
{
    if (value == 0)
        HERE_DO(DebugBreak());
    return value + 1;
}

SCENARIO(debug_break, .kind = KIND_CRASH, .group = "A1", .code = 0x80000003,
         .sentence = "DebugBreak(): the breakpoint lies in a system DLL, one frame above ours.")
{
    return HERE(assert_in_vain(victim_zero)) + 1;
}
