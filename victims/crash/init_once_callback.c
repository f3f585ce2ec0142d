#include "victims/victim.h"

static INIT_ONCE once = INIT_ONCE_STATIC_INIT;

static BOOL CALLBACK first_time(INIT_ONCE *which, void *parameter, void **context)
{
    (void)which, (void)parameter, (void)context;
    return HERE(*victim_null) + 1;
}

SCENARIO(init_once_callback, .kind = KIND_CRASH, .group = "A3", .code = 0xC0000005,
         .sentence = "A crash in a one-time initialisation, which is left half done.")
{
    return HERE_SYSTEM(InitOnceExecuteOnce(&once, first_time, NULL, NULL)) + 1;
}
