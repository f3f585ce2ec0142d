#include "victims/victim.h"

static int work(volatile int *p)
{
    return HERE(*p = 1) + 1;
}

static DWORD WINAPI worker(void *argument)
{
    (void)argument;
    truth_thread("worker", true);
    return (DWORD)HERE(work(victim_null)) + 1;
}

static int join(HANDLE thread)
{
    return HERE_SYSTEM(WaitForSingleObject(thread, INFINITE)) + 1;
}

SCENARIO(second_thread, .kind = KIND_CRASH, .group = "A4", .code = 0xC0000005,
         .sentence = "A crash on a second thread while the main thread waits: the main thread is "
                     "innocent, and the stack ends in other start code.")
{
    HANDLE thread = CreateThread(NULL, 0, worker, NULL, 0, NULL);
    return HERE(join(thread)) + 1;
}
