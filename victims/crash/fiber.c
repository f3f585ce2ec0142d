#include "victims/victim.h"

static void *back;

static int poke(volatile int *p)
{
    return HERE(*p = 1) + 1;
}

static VOID CALLBACK on_fiber(void *argument)
{
    (void)argument;
    truth_thread("fiber", true); /* a stack of its own, which ends here */
    HERE_DO(poke(victim_null));
    SwitchToFiber(back);
}

SCENARIO(fiber, .kind = KIND_CRASH, .group = "A4", .code = 0xC0000005,
         .sentence = "A crash on a fiber: the stack's limits have changed, and its bottom is not a "
                     "thread's start.")
{
    back = ConvertThreadToFiber(NULL);
    void *other = CreateFiber(0, on_fiber, NULL);
    SwitchToFiber(other);
    return 1;
}
