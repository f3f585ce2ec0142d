#include "victims/victim.h"

static CRITICAL_SECTION section;
static CONDITION_VARIABLE condition;

static int wait_for_word(void)
{
    return HERE_SYSTEM(SleepConditionVariableCS(&condition, &section, INFINITE)) + 1;
}

SCENARIO(condition_variable, .kind = KIND_HANG, .group = "A5",
         .sentence = "A wait on a condition variable that no thread wakes.")
{
    InitializeCriticalSection(&section);
    InitializeConditionVariable(&condition);
    EnterCriticalSection(&section);
    victim_ready();
    return HERE(wait_for_word()) + 1;
}
