#include "victims/victim.h"

_Noreturn static void fatal(int value);

static void fatal(int value)
{
    HERE_DO(*victim_null = value);
    TerminateProcess(GetCurrentProcess(), EXIT_SURVIVED);
    UNREACHABLE();
}

static int check(int value)
{
    if (value == victim_zero)
        HERE_DO(fatal(value));
    return value + 1;
}

SCENARIO(noreturn_padded, .kind = KIND_CRASH, .group = "A3", .code = 0xC0000005,
         .sentence = "The same from C: compilers for x64 pad after a call that never returns, so "
                     "the return address still lies in its function.")
{
    return HERE(check(0)) + 1;
}
