#include "victims/victim.h"

static HANDLE start_together;

static int poke(volatile int *p)
{
    return HERE(*p = 1) + 1;
}

static DWORD WINAPI worker(void *argument)
{
    truth_thread(argument != NULL ? "second" : "first", argument == NULL);
    WaitForSingleObject(start_together, INFINITE);
    return (DWORD)HERE(poke(victim_null)) + 1;
}

SCENARIO(two_threads, .kind = KIND_CRASH, .group = "A4", .code = 0xC0000005,
         .sentence = "Two threads crash at the same moment: one is taken, the other waits, and the "
                     "record stays whole.")
{
    start_together = CreateEventW(NULL, TRUE, FALSE, NULL);
    HANDLE threads[2] = {CreateThread(NULL, 0, worker, NULL, 0, NULL),
                         CreateThread(NULL, 0, worker, &start_together, 0, NULL)};
    Sleep(20);
    SetEvent(start_together);
    return HERE_SYSTEM(WaitForMultipleObjects(2, threads, TRUE, INFINITE)) + 1;
}
