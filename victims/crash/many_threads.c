#include "victims/victim.h"

enum { THREADS = 300 };

static DWORD WINAPI idle(void *argument)
{
    return WaitForSingleObject((HANDLE)argument, INFINITE);
}

static int poke(volatile int *p)
{
    return HERE(*p = 1) + 1;
}

SCENARIO(many_threads, .kind = KIND_CRASH, .group = "A4", .code = 0xC0000005, .limit_ms = 60000,
         .sentence = "A crash among three hundred idle threads: the report must not take for ever.")
{
    HANDLE never = CreateEventW(NULL, TRUE, FALSE, NULL);
    for (int i = 0; i < THREADS; i++)
        CloseHandle(
            CreateThread(NULL, 65536, idle, never, STACK_SIZE_PARAM_IS_A_RESERVATION, NULL));
    return HERE(poke(victim_null)) + 1;
}
