#include "victims/victim.h"

static int scribble(volatile char *p)
{
    return HERE(*p = 0) + 1;
}

SCENARIO(write_code, .kind = KIND_CRASH, .group = "A1", .code = 0xC0000005,
         .sentence = "A store into code: the faulting address lies in a function that is innocent.")
{
    return HERE(scribble((volatile char *)(uintptr_t)&GetTickCount + victim_zero)) + 1;
}
