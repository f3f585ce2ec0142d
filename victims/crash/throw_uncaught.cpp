#include "victims/crash/cpp.h"

static int thrower(int value)
{
    HERE_DO(throw value);
    return value;
}

static int middle(int value)
{
    return HERE(thrower(value)) + 1;
}

SCENARIO(throw_uncaught, .kind = KIND_CRASH, .group = "A2", NOBODY_CATCHES,
         .sentence = "A C++ exception that is not caught: the throwing frames have to be there "
                     "still.")
{
    return HERE(middle(3)) + 1;
}
