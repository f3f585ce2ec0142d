#include "victims/victim.h"

int _purecall(void);

static int call_nothing(void)
{
    return HERE(_purecall()) + 1;
}

SCENARIO(pure_call, .kind = KIND_CRASH, .group = "A2", .code = 0x40000015, .exit_code = 255,
         .hooks = RECORD_HOOK_PURE_CALL,
         .not_on_wine = "msvcrt has no handler for pure virtual calls",
         .sentence = "A pure virtual call, as its table entry makes it.")
{
    return HERE(call_nothing()) + 1;
}
