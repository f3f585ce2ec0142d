#include "victims/victim.h"

static const volatile int constant = 3;

static int scribble(volatile int *p)
{
    return HERE(*p = 4) + 1;
}

SCENARIO(write_read_only, .kind = KIND_CRASH, .group = "A1", .code = 0xC0000005,
         .sentence = "A store into read-only data: the address is valid, the access is not.")
{
    return HERE(scribble((volatile int *)(uintptr_t)&constant)) + 1;
}
