#include "victims/victim.h"

typedef int (*plugin_function)(int);
typedef int (*crash_function)(volatile int *);

SCENARIO(module_reloaded, .kind = KIND_CRASH, .group = "A3", .code = 0xC0000005,
         .sentence = "One plugin goes, another comes to the same address, and crashes there: the "
                     "address means the second, though the first was there before.")
{
    HMODULE one = victim_load("plugin-base-one");
    victim_zero = ((plugin_function)(void (*)(void))victim_function(one, "plugin_add"))(-1);
    FreeLibrary(one);
    HMODULE two = victim_load("plugin-base-two");
    if (one != two)
        victim_say("the second plugin went elsewhere");
    FARPROC crash = victim_function(two, "plugin_crash");
    return HERE(((crash_function)(void (*)(void))crash)(victim_null)) + 1;
}
