#include "victims/victim.h"

typedef BOOL(WINAPI *wait_function)(volatile void *, void *, SIZE_T, DWORD);

static int wait(wait_function wait_on)
{
    int same = victim_zero;
    HERE_DO(wait_on(&victim_zero, &same, sizeof same, INFINITE));
    return same;
}

SCENARIO(wait_on_address, .kind = KIND_HANG, .group = "A5",
         .sentence = "A wait until a number in memory changes: no object, no owner, nothing to "
                     "blame.")
{
    FARPROC wait_on = victim_function(GetModuleHandleW(L"kernelbase.dll"), "WaitOnAddress");
    victim_ready();
    return HERE(wait((wait_function)(void (*)(void))wait_on)) + 1;
}
