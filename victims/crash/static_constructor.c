#include "victims/victim.h"

SCENARIO(static_constructor, .kind = KIND_CRASH, .group = "A4", .exit_code = EXIT_SURVIVED,
         .no_case = true,
         .sentence = "The constructor of a plugin's global object crashes: like DllMain, under the "
                     "loader lock, and swallowed by the loader.")
{
    SetEnvironmentVariableW(L"PLUGIN_STATIC", L"crash");
    return victim_load("plugin-static") == NULL;
}
