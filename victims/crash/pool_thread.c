#include "victims/victim.h"

static VOID CALLBACK work(PTP_CALLBACK_INSTANCE instance, void *context)
{
    (void)instance, (void)context;
    truth_thread("pool", true);
    HERE_DO(*victim_null = 1);
}

SCENARIO(pool_thread, .kind = KIND_CRASH, .group = "A4", .code = 0xC0000005,
         .sentence = "A crash in a thread-pool callback: the thread is the system's, and so is "
                     "everything below one frame.")
{
    TrySubmitThreadpoolCallback(work, NULL, NULL);
    return HERE_SYSTEM(SleepEx(INFINITE, FALSE)) + 1;
}
