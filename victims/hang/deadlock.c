#include "victims/victim.h"

static CRITICAL_SECTION first, second;
static HANDLE has_second, has_first;

static int take(CRITICAL_SECTION *lock)
{
    HERE_DO(EnterCriticalSection(lock));
    return 1;
}

static int hold_second_want_first(void)
{
    EnterCriticalSection(&second);
    SetEvent(has_second);
    WaitForSingleObject(has_first, INFINITE);
    return HERE(take(&first)) + 1;
}

static DWORD WINAPI other(void *argument)
{
    (void)argument;
    truth_thread("other", false);
    return (DWORD)HERE(hold_second_want_first()) + 1;
}

static int hold_first_want_second(void)
{
    EnterCriticalSection(&first);
    SetEvent(has_first);
    WaitForSingleObject(has_second, INFINITE);
    return HERE(take(&second)) + 1;
}

SCENARIO(deadlock, .kind = KIND_HANG, .group = "A5",
         .sentence = "Two threads, two critical sections, taken in opposite order: one stack alone "
                     "does not explain it.")
{
    InitializeCriticalSection(&first);
    InitializeCriticalSection(&second);
    has_first = CreateEventW(NULL, TRUE, FALSE, NULL);
    has_second = CreateEventW(NULL, TRUE, FALSE, NULL);
    CloseHandle(CreateThread(NULL, 0, other, NULL, 0, NULL));
    victim_ready();
    return HERE(hold_first_want_second()) + 1;
}
