#include "victims/victim.h"

#include <wchar.h>

typedef int (*crash_function)(volatile int *);

SCENARIO(unicode_path, .kind = KIND_CRASH, .group = "A3", .code = 0xC0000005,
         .sentence = "A plugin whose folder and file names go beyond ASCII, in a long path.")
{
    wchar_t path[VICTIM_PATH_UNITS];
    victim_plugin_path("plugin", path);
    wchar_t *name = wcsrchr(path, L'\\') + 1;
    swprintf(name, VICTIM_PATH_UNITS - (size_t)(name - path),
             L"gr\u00f6\u00dfe-\u0448\u0438\u0440\u0438\u043d\u0430-\u9577\u3055\\"
             L"plugin-\u00fcbel-%hs.dll",
             VICTIM_VARIANT);
    FARPROC crash = victim_function(victim_load_file(path), "plugin_crash");
    return HERE(((crash_function)(void (*)(void))crash)(victim_null)) + 1;
}
