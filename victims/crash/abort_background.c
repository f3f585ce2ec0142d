#include "victims/victim.h"

static int give_up(int value)
{
    if (value == 0)
        HERE_DO(abort());
    return 1;
}

static DWORD WINAPI worker(void *argument)
{
    (void)argument;
    truth_thread("worker", true);
    return (DWORD)HERE(give_up(victim_zero)) + 1;
}

SCENARIO(abort_background, .kind = KIND_CRASH, .group = "A2", .code = 0x40000015, .exit_code = 3,
         .hooks = RECORD_HOOK_SIGABRT,
         .sentence = "abort() on another thread than the one that set the handler.")
{
    HANDLE thread = CreateThread(NULL, 0, worker, NULL, 0, NULL);
    return HERE_SYSTEM(WaitForSingleObject(thread, INFINITE)) + 1;
}
