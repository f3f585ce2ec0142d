#include "victims/victim.h"

typedef int (*plugin_call_function)(int (*)(int), int);

static int back_in_program(int value)
{
    HERE_DO(*victim_null = value);
    return value;
}

SCENARIO(mixed_variants, .kind = KIND_CRASH, .group = "A3", .code = 0xC0000005,
         .sentence = "A plugin built with other flags than the program calls back into it: one "
                     "stack, two ways of laying out frames and of inlining.")
{
    FARPROC call = victim_function(victim_load("plugin-mixed"), "plugin_call");
    return HERE(((plugin_call_function)(void (*)(void))call)(back_in_program, 3)) + 1;
}
