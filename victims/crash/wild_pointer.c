#include "victims/victim.h"

static int peek(uintptr_t va)
{
    return HERE(*(volatile int *)va) + 1;
}

SCENARIO(wild_pointer, .kind = KIND_CRASH, .group = "A1", .code = 0xC0000005,
         .sentence = "A load from a non-canonical address: the processor does not say which, the "
                     "address field reads -1, and who keys on it is wrong.")
{
    return HERE(peek((uintptr_t)0xF0F0F0F0F0F0F0F0u + (uintptr_t)victim_zero)) + 1;
}
