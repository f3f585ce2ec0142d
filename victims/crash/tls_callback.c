#include "victims/victim.h"

static DWORD WINAPI worker(void *argument)
{
    (void)argument;
    return 0;
}

SCENARIO(tls_callback, .kind = KIND_CRASH, .group = "A4", .exit_code = EXIT_SURVIVED,
         .no_case = true,
         .sentence = "A thread-local storage callback of a plugin crashes when a thread starts: "
                     "the loader swallows it; only the vectored handler saw it.")
{
    HMODULE plugin = victim_load("plugin-tls");
    *(volatile LONG *)(void *)victim_function(plugin, "plugin_armed") = 1;
    WaitForSingleObject(CreateThread(NULL, 0, worker, NULL, 0, NULL), INFINITE);
    return plugin == NULL;
}
