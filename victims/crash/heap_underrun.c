#include "victims/victim.h"

#include <string.h>

static int free_it(char *block)
{
    memset(block - 16, 0x41, 16);
    return HERE(HeapFree(GetProcessHeap(), 0, block)) + 1;
}

SCENARIO(heap_underrun, .kind = KIND_CRASH, .group = "A2", .code = 0xC0000374, .no_case = true,
         .not_on_wine = "Wine's heap takes a broken header for a foreign pointer, and goes on",
         .sentence = "The header in front of a block is overwritten: found when the block is "
                     "freed, and ended past all handlers.")
{
    return HERE(free_it(HeapAlloc(GetProcessHeap(), 0, 256))) + 1;
}
