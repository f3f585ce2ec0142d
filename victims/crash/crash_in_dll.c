#include "victims/victim.h"

typedef int (*plugin_call_function)(int (*)(int), int);

static int back_in_program(int value)
{
    return HERE(*victim_null = value) + 1;
}

static int through_plugin(plugin_call_function call)
{
    return HERE(call(back_in_program, 4)) + 1;
}

SCENARIO(crash_in_dll, .kind = KIND_CRASH, .group = "A3", .code = 0xC0000005,
         .sentence = "Program, plugin loaded at run time, program again: three runs of frames from "
                     "two images, one of which was not there at the start.")
{
    HMODULE plugin = victim_load("plugin-call");
    FARPROC call = victim_function(plugin, "plugin_call");
    return HERE(through_plugin((plugin_call_function)(void (*)(void))call)) + 1;
}
