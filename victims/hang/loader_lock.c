#include "victims/victim.h"

static int load(const char *name)
{
    return HERE(victim_load(name) != NULL) + 1;
}

SCENARIO(loader_lock, .kind = KIND_HANG, .group = "A5",
         .sentence =
             "DllMain sleeps with the loader lock held: whoever asks the system for a module "
             "or makes a thread hangs too.")
{
    SetEnvironmentVariableW(L"PLUGIN_ATTACH", L"sleep");
    victim_ready();
    return HERE(load("plugin-attach")) + 1;
}
