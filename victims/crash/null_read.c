#include "victims/victim.h"

static int peek(volatile int *p)
{
    return HERE(*p) + 1;
}

SCENARIO(null_read, .kind = KIND_CRASH, .group = "A1", .code = 0xC0000005,
         .sentence = "A load through null: the same as a store but for one number in the record.")
{
    return HERE(peek(victim_null)) + 1;
}
