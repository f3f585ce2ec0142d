/* The second module of app.c, compiled without frame pointers. */
#include "program.h"

static volatile int kept;

int first(void)
{
    return kept;
}

APART int plug_leaf(int a)
{
    kept = a;
    return a + kept;
}

APART int plug_calls(int a, int (*back)(int))
{
    volatile char local[120];
    local[a & 31] = (char)plug_leaf(a);
    return back(a) + local[a & 31];
}

APART int plug_twice(int a, int (*back)(int))
{
    int first = plug_leaf(a);
    return plug_calls(a + 1, back) + first;
}

int start(int a, int (*back)(int))
{
    int sum = plug_leaf(a);
    return plug_twice(a, back) + sum;
}
