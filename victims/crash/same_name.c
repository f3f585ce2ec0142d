#include "victims/victim.h"

#include <string.h>

typedef int (*plugin_call_function)(int (*)(int), int);
typedef int (*crash_function)(volatile int *);

static volatile crash_function crash_other;

static int back_in_program(int value)
{
    (void)value;
    return HERE(crash_other(victim_null)) + 1;
}

SCENARIO(same_name, .kind = KIND_CRASH, .group = "A3", .code = 0xC0000005,
         .sentence = "Two different plugins of one name on one stack: who looks symbols up by name "
                     "gets one of them wrong.")
{
    wchar_t path[VICTIM_PATH_UNITS], other[VICTIM_PATH_UNITS];
    victim_plugin_path("plugin-call", path);
    wchar_t *name = wcsrchr(path, L'\\') + 1;
    wcsncpy(other, path, (size_t)(name - path));
    other[name - path] = 0;
    wcscat(other, L"other\\");
    wcscat(other, name);
    HMODULE first = victim_load_file(path), second = victim_load_file(other);
    FARPROC call = victim_function(first, "plugin_call");
    crash_other = (crash_function)(void (*)(void))victim_function(second, "plugin_crash");
    return HERE(((plugin_call_function)(void (*)(void))call)(back_in_program, 3)) + 1;
}
