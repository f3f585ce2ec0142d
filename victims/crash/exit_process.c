#include "victims/victim.h"

SCENARIO(exit_process, .kind = KIND_CRASH, .group = "A2", .exit_code = 43, .no_case = true,
         .sentence = "ExitProcess in the middle of things: not captured is the right answer.")
{
    HERE_DO(ExitProcess(43));
    return 1;
}
