#include "victims/victim.h"

typedef int (*function)(void);

static int call(function f)
{
    return HERE(f()) + 1;
}

SCENARIO(call_unmapped, .kind = KIND_CRASH, .group = "A1", .code = 0xC0000005,
         .sentence = "A call to an address where nothing is mapped, in no module.")
{
    return HERE(call((function)((uintptr_t)0x7FF012340000u + (uintptr_t)victim_zero))) + 1;
}
