#include "victims/victim.h"

typedef int (*function)(void);
static volatile unsigned char bytes[16] = {0xB8, 1, 0, 0, 0, 0xC3};

static int call(function f)
{
    return HERE(f()) + 1;
}

SCENARIO(call_data, .kind = KIND_CRASH, .group = "A1", .code = 0xC0000005,
         .sentence =
             "A call into data that may not be executed: the program counter is in our image "
             "but in no function, and the caller is one pop away.")
{
    return HERE(call((function)(uintptr_t)bytes)) + 1;
}
