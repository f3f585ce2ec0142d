#include "victims/victim.h"

#include <string.h>

static int copy_too_much(const char *from)
{
    char room[4] = "";
    return HERE(strcpy_s(room, 2, from)) + room[0];
}

SCENARIO(invalid_parameter, .kind = KIND_CRASH, .group = "A2", .code = 0xC0000417,
         .hooks = RECORD_HOOK_INVALID_PARAMETER,
         .not_on_wine = "Wine's msvcrt takes no handler for invalid parameters",
         .sentence = "A C runtime function gets a parameter that it refuses: no exception, only a "
                     "handler of the runtime's own.")
{
    return HERE(copy_too_much("far too long")) + 1;
}
