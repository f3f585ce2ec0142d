#include "victims/victim.h"

#include <malloc.h>

static int poke(volatile int *p, volatile char *room)
{
    return HERE(*p = room[0]) + 1;
}

static int varying(volatile int *p, size_t bytes)
{
    volatile char *room = _alloca(bytes);
    room[0] = 1;
    return HERE(poke(p, room)) + room[0];
}

SCENARIO(variable_frame, .kind = KIND_CRASH, .group = "A3", .code = 0xC0000005,
         .sentence =
             "A frame whose size is known at run time only: the caller is found by the frame "
             "register, not by the stack pointer.")
{
    return HERE(varying(victim_null, 300 + (size_t)victim_zero)) + 1;
}
