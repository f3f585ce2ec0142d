#include "victims/victim.h"

static HANDLE never, second_ran;

static VOID CALLBACK occupy(PTP_CALLBACK_INSTANCE instance, void *context)
{
    (void)instance, (void)context;
    truth_thread("pool", false);
    HERE_DO(WaitForSingleObject(never, INFINITE));
}

static VOID CALLBACK run_second(PTP_CALLBACK_INSTANCE instance, void *context)
{
    (void)instance, (void)context;
    SetEvent(second_ran);
}

static int wait_for_second(void)
{
    return HERE_SYSTEM(WaitForSingleObject(second_ran, INFINITE)) + 1;
}

SCENARIO(pool_starved, .kind = KIND_HANG, .group = "A5",
         .sentence = "Waits for work that a thread pool of one thread cannot begin, as that thread "
                     "waits itself.")
{
    TP_CALLBACK_ENVIRON environment = {
        .Version = 3, .CallbackPriority = TP_CALLBACK_PRIORITY_NORMAL, .Size = sizeof environment};
    never = CreateEventW(NULL, TRUE, FALSE, NULL);
    second_ran = CreateEventW(NULL, TRUE, FALSE, NULL);
    environment.Pool = CreateThreadpool(NULL); /* by hand: the headers' helpers inline by force */
    SetThreadpoolThreadMaximum(environment.Pool, 1);
    TrySubmitThreadpoolCallback(occupy, NULL, &environment);
    Sleep(50);
    TrySubmitThreadpoolCallback(run_second, NULL, &environment);
    victim_ready();
    return HERE(wait_for_second()) + 1;
}
