#include "victims/crash/cpp.h"

static NOINLINE int thrower(int value)
{
    truth_scope scope;
    throw value;
}

SCENARIO(throw_caught, .kind = KIND_CALM, .group = "calm",
         .sentence = "C++ exceptions thrown and caught: the vectored handler sees each, and no "
                     "case may come of it.")
{
    int sum = 0;
    for (int i = 0; i < 10; i++) {
        try {
            sum += thrower(i);
        } catch (int value) {
            sum += value;
        }
    }
    return sum == 45 ? 0 : 1;
}
