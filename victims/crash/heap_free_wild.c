#include "victims/victim.h"

static int free_it(void *p)
{
    return HERE(HeapFree(GetProcessHeap(), 0, p)) + 1;
}

SCENARIO(heap_free_wild, .kind = KIND_CRASH, .group = "A2", .code = 0xC0000374, .no_case = true,
         .not_on_wine = "Wine's heap refuses a pointer that is not its own, and goes on",
         .sentence = "HeapFree of a pointer that is no block: the heap ends the process past all "
                     "handlers.")
{
    char *block = HeapAlloc(GetProcessHeap(), 0, 256);
    return HERE(free_it(block + 64)) + 1;
}
