#include "victims/victim.h"

typedef int (*function)(void);

static int call(function f)
{
    return HERE(f()) + 1;
}

SCENARIO(call_non_canonical, .kind = KIND_CRASH, .group = "A1", .code = 0xC0000005,
         .sentence =
             "A call to a non-canonical address: here the fault is in the caller, at the call "
             "itself, and popping would lose it.")
{
    return HERE(call((function)((uintptr_t)0x1234567812345678u + (uintptr_t)victim_zero))) + 1;
}
