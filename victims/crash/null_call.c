#include "victims/victim.h"

typedef int (*function)(int);

static int call(function f)
{
    return HERE(f(3)) + 1;
}

SCENARIO(null_call, .kind = KIND_CRASH, .group = "A1", .code = 0xC0000005,
         .sentence =
             "A call through null: the program counter is 0 and lies in no module; who does "
             "not pop the return address loses the caller.")
{
    return HERE(call((function)(uintptr_t)victim_null)) + 1;
}
