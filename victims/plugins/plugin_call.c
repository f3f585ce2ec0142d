/* plugin-call: calls back into the program, and crashes itself when asked to. */
#include "victims/plugins/slot.h"

PLUGIN_EXPORT int plugin_call(int (*callback)(int), int value);
PLUGIN_EXPORT int plugin_crash(volatile int *p);

static int relay(int (*callback)(int), int value)
{
    return HERE(callback(value + 1)) * 2;
}

int plugin_call(int (*callback)(int), int value)
{
    return HERE(relay(callback, value)) + 1;
}

static int inner(volatile int *p)
{
    return HERE(*p = 1) + 2;
}

int plugin_crash(volatile int *p)
{
    return HERE(inner(p)) + 1;
}
