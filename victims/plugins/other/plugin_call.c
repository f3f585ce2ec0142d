/* The other plugin-call: the same file name from another folder, another program inside. */
#include "victims/plugins/slot.h"

PLUGIN_EXPORT int plugin_crash(volatile int *p);

static int innermost(volatile int *p)
{
    return HERE(*p = 5) + 5;
}

static int between(volatile int *p)
{
    return HERE(innermost(p)) * 3;
}

int plugin_crash(volatile int *p)
{
    return HERE(between(p)) - 2;
}
