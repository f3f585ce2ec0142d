#include "victims/plugins/plugin_attach.h"
#include "victims/victim.h"

#define PUSH_DLL_MAIN TRUTH_PUSH("DllMain", PLUGIN_ATTACH_FILE, PLUGIN_ATTACH_SLEEP_LINE, 0)

static int load(const wchar_t *path)
{
    return HERE_SYSTEM((PUSH_DLL_MAIN, LoadLibraryW(path) != NULL)) + 1;
}

SCENARIO(loader_lock_watched, .kind = KIND_HANG, .group = "A5", .limit_ms = 60000,
         .hooks = RECORD_HOOK_WATCHER, .watched = true,
         .sentence = "DllMain sleeps with the loader lock held, and is watched from outside: "
                     "it never asks that loader.")
{
    wchar_t path[VICTIM_PATH_UNITS];
    victim_plugin_path("plugin-attach", path);
    SetEnvironmentVariableW(L"PLUGIN_ATTACH", L"sleep");
    victim_ready();
    return HERE(load(path)) + 1;
}
