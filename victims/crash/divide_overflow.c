#include "victims/victim.h"

static volatile int most_negative = -2147483647 - 1, minus_one = -1;

static int divide(void)
{
    return HERE(most_negative / minus_one) + 1;
}

SCENARIO(
    divide_overflow, .kind = KIND_CRASH, .group = "A1", .code = 0xC0000095, .wine_code = 0xC0000094,
    .sentence = "The smallest int divided by -1: the processor's divide error again, but Windows "
                "calls it overflow.")
{
    return HERE(divide()) + 1;
}
