#include "victims/victim.h"

static int poke(volatile int *p)
{
    return HERE(*p = 1) + 1;
}

static int middle(volatile int *p)
{
    return HERE(poke(p)) + 1;
}

SCENARIO(null_write, .kind = KIND_CRASH, .group = "A1", .code = 0xC0000005,
         .sentence = "A store through null, two calls deep: hides nothing, every reporter must "
                     "get it right.")
{
    return HERE(middle(victim_null)) + 1;
}
