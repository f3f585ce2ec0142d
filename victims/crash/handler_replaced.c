#include "victims/victim.h"

static LONG WINAPI other_filter(EXCEPTION_POINTERS *pointers)
{
    TerminateProcess(GetCurrentProcess(), pointers->ExceptionRecord->ExceptionCode);
    return EXCEPTION_EXECUTE_HANDLER;
}

static int poke(volatile int *p)
{
    return HERE(*p = 1) + 1;
}

SCENARIO(handler_replaced, .kind = KIND_CRASH, .group = "A2", .code = 0xC0000005, .no_case = true,
         .sentence =
             "Somebody replaces the unhandled-exception filter after us and ends the process: "
             "only the vectored handler saw it.")
{
    SetUnhandledExceptionFilter(other_filter);
    return HERE(poke(victim_null)) + 1;
}
