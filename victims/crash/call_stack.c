#include "victims/victim.h"

typedef int (*function)(void);

static int call_it(function f)
{
    return HERE(f()) + 1;
}

SCENARIO(call_stack, .kind = KIND_CRASH, .group = "A1", .code = 0xC0000005,
         .sentence = "A call to code on the stack, which may not be executed: the program counter "
                     "looks like a stack address, because it is one.")
{
    volatile unsigned char code[32] = {0xC3};
    return HERE(call_it((function)(uintptr_t)code)) + code[1];
}
