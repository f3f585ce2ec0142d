#include "victims/plugins/plugin_attach.h"
#include "victims/victim.h"

#define PUSH_DLL_MAIN TRUTH_PUSH("DllMain", PLUGIN_ATTACH_FILE, PLUGIN_ATTACH_SLEEP_LINE, 0)

static int load(const wchar_t *path)
{
    return HERE_SYSTEM((PUSH_DLL_MAIN, LoadLibraryW(path) != NULL)) + 1;
}

SCENARIO(loader_lock, .kind = KIND_HANG, .group = "A5",
         .sentence =
             "DllMain sleeps with the loader lock held: whoever asks the system for a module "
             "or makes a thread hangs too.")
{
    wchar_t path[VICTIM_PATH_UNITS];
    victim_plugin_path("plugin-attach", path);
    SetEnvironmentVariableW(L"PLUGIN_ATTACH", L"sleep");
    victim_ready();
    return HERE(load(path)) + 1;
}
