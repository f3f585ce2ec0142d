#include "victims/victim.h"

static DWORD WINAPI never(void *argument)
{
    (void)argument;
    return 0;
}

static int poke(volatile int *p)
{
    return HERE(*p = 1) + 1;
}

SCENARIO(suspended_thread, .kind = KIND_CRASH, .group = "A4", .code = 0xC0000005,
         .sentence = "A crash while another thread exists that has never run: its stack is the "
                     "system's start code and nothing else.")
{
    CreateThread(NULL, 0, never, NULL, CREATE_SUSPENDED, NULL);
    return HERE(poke(victim_null)) + 1;
}
