#include "victims/victim.h"

typedef int (*crash_function)(volatile int *);

SCENARIO(module_rebased, .kind = KIND_CRASH, .group = "A3", .code = 0xC0000005,
         .sentence = "Two plugins want the same address: the second is moved, and only offsets "
                     "from where it really lies name its functions.")
{
    HMODULE one = victim_load("plugin-base-one"), two = victim_load("plugin-base-two");
    if (one == two)
        victim_say("the second plugin was not moved");
    FARPROC crash = victim_function(two, "plugin_crash");
    return HERE(((crash_function)(void (*)(void))crash)(victim_null)) + 1;
}
