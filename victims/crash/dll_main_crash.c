#include "victims/victim.h"

SCENARIO(dll_main_crash, .kind = KIND_CRASH, .group = "A4", .exit_code = EXIT_SURVIVED,
         .no_case = true,
         .sentence = "A crash in DllMain: the loader swallows it, the load fails, the program goes "
                     "on; only the vectored handler saw it.")
{
    SetEnvironmentVariableW(L"PLUGIN_ATTACH", L"crash");
    return victim_load("plugin-attach") == NULL;
}
