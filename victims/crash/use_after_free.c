#include "victims/victim.h"

static int use(volatile int *p)
{
    return HERE(*p) + 1;
}

SCENARIO(
    use_after_free, .kind = KIND_CRASH, .group = "A2", .code = 0xC0000005,
    .sentence = "A read of freed memory behind a guarding allocator, which gives its pages back.")
{
    volatile int *p = VirtualAlloc(NULL, 4096, MEM_COMMIT | MEM_RESERVE, PAGE_READWRITE);
    *p = 1;
    VirtualFree((void *)(uintptr_t)p, 0, MEM_RELEASE);
    return HERE(use(p)) + 1;
}
