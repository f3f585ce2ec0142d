#include "victims/victim.h"

SCENARIO(stack_cookie, .kind = KIND_CRASH, .group = "A2", .code = 0xC0000409, .no_case = true,
         .not_on_wine = "needs the cookie check of Microsoft's compiler",
         .sentence = "A smashed stack cookie: found at the return, ended past all handlers.")
{
    volatile char room[8];
    for (int i = 0; i < 64 + victim_zero; i++)
        room[i] = (char)i;
    return room[victim_zero];
}
