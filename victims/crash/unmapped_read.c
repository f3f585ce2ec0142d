#include "victims/victim.h"

static int read_at(const volatile int *p)
{
    return HERE(*p) + 1;
}

SCENARIO(unmapped_read, .kind = KIND_CRASH, .group = "A1", .code = 0xC0000005,
         .sentence = "A load from reserved memory that was never committed: an address like any "
                     "other, with nothing behind it.")
{
    const volatile int *p = VirtualAlloc(NULL, 1 << 16, MEM_RESERVE, PAGE_NOACCESS);
    return HERE(read_at(p + 100)) + 1;
}
