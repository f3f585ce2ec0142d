#include "victims/victim.h"

#if HAVE_NAKED
enum { LINE_OF_FAIL = __LINE__ + 3 };
static NAKED int fail_fast(int code)
{
    __asm__("int $0x29");
}
#else
enum { LINE_OF_FAIL = 0 };
static NOINLINE int fail_fast(int code)
{
    __fastfail((unsigned)code);
}
#endif

SCENARIO(fast_fail_watched, .kind = KIND_CRASH, .group = "A2", .code = 0xC0000409,
         .hooks = RECORD_HOOK_WATCHER, .watched = true,
         .sentence =
             "__fastfail again, but a process watches from outside: dump and offsets are taken "
             "there.")
{
    return HERE_LEAF(fail_fast, LINE_OF_FAIL, fail_fast(7)) + 1;
}
