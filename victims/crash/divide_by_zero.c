#include "victims/victim.h"

static int share(int total)
{
    return HERE(total / victim_zero) + 1;
}

SCENARIO(divide_by_zero, .kind = KIND_CRASH, .group = "A1", .code = 0xC0000094,
         .sentence = "An integer division by zero: an exception of the processor that is no access "
                     "violation.")
{
    return HERE(share(7)) + 1;
}
