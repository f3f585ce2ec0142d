#include "victims/victim.h"

#include <wchar.h>

SCENARIO(killed, .kind = KIND_CRASH, .group = "A2", .exit_code = 1, .no_case = true,
         .sentence = "Another process ends this one: nothing in it gets to run, and not captured "
                     "is the right answer.")
{
    wchar_t command[64];
    STARTUPINFOW startup = {.cb = sizeof startup};
    PROCESS_INFORMATION killer;
    swprintf(command, 64, L"taskkill /F /PID %lu", GetCurrentProcessId());
    if (!CreateProcessW(NULL, command, NULL, NULL, FALSE, 0, NULL, NULL, &startup, &killer))
        return 1;
    HERE_DO(Sleep(INFINITE));
    return 1;
}
