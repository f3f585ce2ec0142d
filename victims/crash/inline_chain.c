#include "victims/crash/inline_chain.h"

static int chain_one(volatile int *p, int v)
{
    return HERE(chain_two(p, v ^ 5)) + 1;
}

SCENARIO(inline_chain, .kind = KIND_CRASH, .group = "A3", .code = 0xC0000005,
         .sentence = "Four inlined levels from three files: one address, five functions, and each "
                     "line but the innermost comes from a call site.")
{
    return HERE(chain_one(victim_null, 3)) + 1;
}
