#include "victims/victim.h"

static VOID CALLBACK on_apc(ULONG_PTR value)
{
    HERE_DO(*victim_null = (int)value);
}

SCENARIO(apc_callback, .kind = KIND_CRASH, .group = "A4", .code = 0xC0000005,
         .sentence =
             "A crash in an asynchronous procedure call: delivered by the kernel in the middle "
             "of a wait.")
{
    QueueUserAPC(on_apc, GetCurrentThread(), 3);
    return HERE_SYSTEM(SleepEx(INFINITE, TRUE)) + 1;
}
