#include "victims/victim.h"

enum { DECOYS = 64 };

static int innocent(int value)
{
    return HERE(value * victim_zero) + 1;
}

static int poke(volatile int *p, volatile uintptr_t *decoys)
{
    return HERE(*p = (int)decoys[0]) + 1;
}

static int among_decoys(volatile int *p)
{
    volatile uintptr_t decoys[DECOYS];
    for (int i = 0; i < DECOYS; i++)
        decoys[i] = (uintptr_t)innocent + 1 + (uintptr_t)(i % 8);
    return HERE(poke(p, decoys)) + (int)decoys[DECOYS - 1];
}

SCENARIO(decoys, .kind = KIND_CRASH, .group = "A3", .code = 0xC0000005,
         .sentence =
             "The stack is full of addresses in functions that are not active: a scanner shows "
             "them, an unwinder does not.")
{
    return HERE(innocent(3) + among_decoys(victim_null)) + 1;
}
