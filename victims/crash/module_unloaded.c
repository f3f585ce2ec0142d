#include "victims/plugins/plugin_base_one.h"
#include "victims/victim.h"

typedef int (*plugin_function)(int);

#define PUSH_PLUGIN_ADD TRUTH_PUSH("plugin_add", PLUGIN_ADD_FILE, PLUGIN_ADD_LINE, 0)

static int call(plugin_function function)
{
    return HERE((PUSH_PLUGIN_ADD, function(1))) + 1;
}

SCENARIO(module_unloaded, .kind = KIND_CRASH, .group = "A3", .code = 0xC0000005,
         .sentence =
             "A callback into a plugin that was unloaded: only the time line of modules still "
             "knows whose address that was.")
{
    HMODULE plugin = victim_load("plugin-base-one");
    FARPROC function = victim_function(plugin, "plugin_add");
    FreeLibrary(plugin);
    return HERE(call((plugin_function)(void (*)(void))function)) + 1;
}
