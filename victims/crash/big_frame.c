#include "victims/victim.h"

#include <string.h>

enum { ROOM_BYTES = 70000 };

static int poke(volatile int *p, volatile char *room)
{
    return HERE(*p = room[7]) + 1;
}

static int roomy(volatile int *p)
{
    volatile char room[ROOM_BYTES];
    room[7] = 1;
    room[ROOM_BYTES - 1] = 2;
    return HERE(poke(p, room)) + room[ROOM_BYTES - 1];
}

SCENARIO(big_frame, .kind = KIND_CRASH, .group = "A3", .code = 0xC0000005,
         .sentence =
             "A frame of 70,000 bytes in the middle: the large form of the stack allocation "
             "code, and a stack probe before it.")
{
    return HERE(roomy(victim_null)) + 1;
}
