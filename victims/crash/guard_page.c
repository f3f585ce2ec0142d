#include "victims/victim.h"

static int touch(volatile char *p)
{
    return HERE(*p = 1) + 1;
}

SCENARIO(
    guard_page, .kind = KIND_CRASH, .group = "A1", .code = 0x80000001,
    .sentence = "A touch of a guard page: it guards once, so a second look finds other memory.")
{
    volatile char *page =
        VirtualAlloc(NULL, 4096, MEM_COMMIT | MEM_RESERVE, PAGE_READWRITE | PAGE_GUARD);
    return HERE(touch(page)) + 1;
}
