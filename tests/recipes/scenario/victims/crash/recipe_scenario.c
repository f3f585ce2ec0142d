#include "victims/victim.h"

static int store_through(volatile int *p)
{
    return HERE(*p = 7) + 1;
}

SCENARIO(recipe_scenario, .kind = KIND_CRASH, .group = "A1", .code = 0xC0000005,
         .sentence = "A store through null, one call deep.")
{
    return HERE(store_through(victim_null)) + 1;
}
