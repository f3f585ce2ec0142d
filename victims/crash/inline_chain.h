/* Two of the four levels that inline_chain.c inlines live in this header. */
#ifndef VICTIMS_CRASH_INLINE_CHAIN_H
#define VICTIMS_CRASH_INLINE_CHAIN_H

#include "victims/crash/inline_chain_inner.h"

static int chain_two(volatile int *p, int v)
{
    return HERE(chain_three(p, v + 1)) * 2;
}

#endif
