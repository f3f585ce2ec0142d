#include "victims/victim.h"

#include <string.h>

static int damage(HANDLE heap)
{
    char *a = HeapAlloc(heap, 0, 64), *b = HeapAlloc(heap, 0, 64), *c = HeapAlloc(heap, 0, 64);
    memset(a, 0x41, 400 + (size_t)victim_zero);
    HERE_DO(HeapFree(heap, 0, b));
    HERE_DO(HeapFree(heap, 0, a));
    HERE_DO(HeapFree(heap, 0, c));
    return 1;
}

SCENARIO(
    heap_overrun, .kind = KIND_CRASH, .group = "A2", .code = 0xC0000374, .wine_code = 0xC0000005,
    .sentence = "An overrun found when a neighbour is freed: the heap is broken and the reporter "
                "must not use it.")
{
    return HERE(damage(HeapCreate(0, 65536, 0))) + 1;
}
