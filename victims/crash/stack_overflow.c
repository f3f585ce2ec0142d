#include "victims/victim.h"

/* Touches the stack below the next call, so that it overflows here and not on the way into
 * a function that has not noted itself yet. */
#if defined(__clang__) && defined(__i386__)
#define TOUCH_BELOW() __asm__ volatile("orl $0, -1024(%%esp)" ::: "memory", "cc")
#elif defined(__clang__)
#define TOUCH_BELOW() __asm__ volatile("orq $0, -1024(%%rsp)" ::: "memory", "cc")
#else
#define TOUCH_BELOW() ((void)0)
#endif

static int fall(int depth)
{
    volatile char room[200];
    int below = 0;
    if (depth < 0)
        return depth;
    room[depth % 200] = (char)depth;
    HERE_BLOCK(TOUCH_BELOW(); below = fall(depth + 1););
    return below + room[(depth + 1) % 200];
}

SCENARIO(stack_overflow, .kind = KIND_CRASH, .group = "A3", .code = 0xC00000FD,
         .hooks = RECORD_HOOK_VECTORED, .limit_ms = 40000,
         .sentence = "Recursion until the stack is used up: no room for a handler, thousands of "
                     "equal frames, and nothing is called after the vectored handlers.")
{
    return HERE(fall(victim_zero)) + 1;
}
