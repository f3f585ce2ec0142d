#include "victims/victim.h"

static CRITICAL_SECTION lock;

static DWORD WINAPI owner(void *argument)
{
    (void)argument;
    EnterCriticalSection(&lock);
    return 0;
}

static int take(void)
{
    HERE_DO(EnterCriticalSection(&lock));
    return 1;
}

SCENARIO(orphaned_lock, .kind = KIND_HANG, .group = "A5",
         .sentence = "A wait for a lock whose owner has ended: the thread to blame has no stack "
                     "any more.")
{
    InitializeCriticalSection(&lock);
    WaitForSingleObject(CreateThread(NULL, 0, owner, NULL, 0, NULL), INFINITE);
    victim_ready();
    return HERE(take()) + 1;
}
