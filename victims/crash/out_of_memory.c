#include "victims/victim.h"

static int fill(size_t bytes)
{
    volatile char *p = malloc(bytes);
    return HERE(p[0] = 1) + 1;
}

SCENARIO(out_of_memory, .kind = KIND_CRASH, .group = "A2", .code = 0xC0000005,
         .sentence = "malloc of more than there is, not checked: a null dereference with a "
                     "story.")
{
    return HERE(fill((size_t)-1 / 2 - 65536 + (size_t)victim_zero)) + 1;
}
