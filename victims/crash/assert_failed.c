#include "victims/victim.h"

#undef NDEBUG
#include <assert.h>

static int check(int value)
{
    HERE_DO(assert(value == 3));
    return value;
}

SCENARIO(assert_failed, .kind = KIND_CRASH, .group = "A2", .code = 0x40000015, .exit_code = 3,
         .hooks = RECORD_HOOK_SIGABRT, .sentence = "An assertion fails: a message, then abort().")
{
    return HERE(check(victim_zero)) + 1;
}
