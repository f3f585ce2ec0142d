#include "victims/victim.h"

static int free_twice(void *p)
{
    HERE_DO(free(p));
    HERE_DO(free(p));
    return 1;
}

SCENARIO(double_free, .kind = KIND_CRASH, .group = "A2", .code = 0xC0000374, .no_case = true,
         .not_on_wine = "Wine's heap does not notice a double free",
         .sentence = "One block freed twice: the heap ends the process past all handlers.")
{
    return HERE(free_twice(malloc(100))) + 1;
}
