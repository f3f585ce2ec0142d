#include "victims/victim.h"

/* The worker notices by the clock that it was made to stand still, and crashes as soon as it
 * runs again: the hang is on disk by then, and the capture still at work. */
enum { STOOD_STILL_MS = 100 };

static ULONGLONG before, now;

static int watch_clock(void)
{
    now = before = GetTickCount64();
    /* clang-format off */
    HERE_BLOCK(while (now - before < STOOD_STILL_MS) { before = now; Sleep(1); now = GetTickCount64(); } now = (ULONGLONG)*victim_null;);
    /* clang-format on */
    return (int)now;
}

static DWORD WINAPI worker(void *argument)
{
    (void)argument;
    truth_thread("worker", false);
    return (DWORD)HERE(watch_clock()) + 1;
}

SCENARIO(crash_meanwhile, .kind = KIND_HANG, .group = "A4",
         .sentence = "Another thread crashes while a hang is being captured: the first record, "
                     "that of the hang, stays whole.")
{
    CloseHandle(CreateThread(NULL, 0, worker, NULL, 0, NULL));
    victim_ready();
    return HERE_SYSTEM((Sleep(INFINITE), 1)) + 1;
}
