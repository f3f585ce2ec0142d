#include "victims/victim.h"

static VOID CALLBACK on_timer(void *context, BOOLEAN fired)
{
    (void)context, (void)fired;
    truth_thread("timer", true);
    HERE_DO(*victim_null = 1);
}

SCENARIO(timer_callback, .kind = KIND_CRASH, .group = "A4", .code = 0xC0000005,
         .sentence = "A crash in a timer callback, on a thread that we did not start.")
{
    HANDLE timer;
    CreateTimerQueueTimer(&timer, NULL, on_timer, NULL, 10, 0, 0);
    return HERE_SYSTEM(SleepEx(INFINITE, FALSE)) + 1;
}
