#ifndef VICTIMS_CRASH_INLINE_CHAIN_INNER_H
#define VICTIMS_CRASH_INLINE_CHAIN_INNER_H

#include "victims/victim.h"

static int chain_four(volatile int *p, int v)
{
    return HERE(*p = v) + 4;
}

static int chain_three(volatile int *p, int v)
{
    return HERE(chain_four(p, v * 3)) - 1;
}

#endif
