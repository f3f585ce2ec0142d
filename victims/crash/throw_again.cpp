#include "victims/crash/cpp.h"

static NOINLINE int thrower(int value)
{
    truth_scope scope;
    HERE_DO(throw value);
    return value;
}

static int passer(int value)
{
    try {
        return HERE(thrower(value)) + 1;
    } catch (int) {
        TRUTH_POP(1);
        HERE_DO(throw);
    }
    return value;
}

#if defined(_MSC_VER) || !defined(_WIN64)
#define THROWN_AGAIN NOBODY_CATCHES
#else /* GNU's runtime for x64, finding no handler, does not call std::terminate here */
#define THROWN_AGAIN .code = 0x40000015, .exit_code = 3, .hooks = RECORD_HOOK_SIGABRT
#endif

SCENARIO(throw_again, .kind = KIND_CRASH, .group = "A4", THROWN_AGAIN,
         .sentence = "An exception caught and thrown again: the stack of the first throw is gone, "
                     "and no tool may show it.")
{
    return HERE(passer(3)) + 1;
}
