/* plugin-base-two: is loaded at the same address as plugin-base-one, with another layout. */
#include "victims/plugins/slot.h"

PLUGIN_EXPORT int plugin_add(int value);
PLUGIN_EXPORT int plugin_back_two(int (*callback)(int), int value);
PLUGIN_EXPORT int plugin_crash(volatile int *p);

static int deeper(volatile int *p, int value)
{
    return HERE(*p = value) + 3;
}

int plugin_add(int value)
{
    return value + 2;
}

int plugin_crash(volatile int *p)
{
    return HERE(deeper(p, plugin_add(4))) + 1;
}

int plugin_back_two(int (*callback)(int), int value)
{
    return callback(value) + 1;
}
