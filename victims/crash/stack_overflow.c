#include "victims/victim.h"

static int fall(int depth)
{
    volatile char room[200];
    if (depth < 0)
        return depth;
    room[depth % 200] = (char)depth;
    return HERE(fall(depth + 1)) + room[(depth + 1) % 200];
}

SCENARIO(stack_overflow, .kind = KIND_CRASH, .group = "A3", .code = 0xC00000FD,
         .doors = RECORD_DOOR_VECTORED, .limit_ms = 40000,
         .sentence = "Recursion until the stack is used up: no room for a handler, thousands of "
                     "equal frames, and nobody is called after the vectored handlers.")
{
    return HERE(fall(victim_zero)) + 1;
}
