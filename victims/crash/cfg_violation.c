#include "victims/victim.h"

/* The effect when the check of Control Flow Guard refuses a target. */
enum { GUARD_ICALL_CHECK_FAILURE = 10 };

#if HAVE_NAKED
enum { LINE_OF_FAIL = __LINE__ + 3 };
static NAKED int refuse(int code)
{
    __asm__("int $0x29");
}
#else
enum { LINE_OF_FAIL = 0 };
static NOINLINE int refuse(int code)
{
    __fastfail((unsigned)code);
}
#endif

SCENARIO(cfg_violation, .kind = KIND_CRASH, .group = "A2", .code = 0xC0000409,
         .hooks = RECORD_HOOK_WATCHER, .watched = true,
         .sentence = "An indirect call that Control Flow Guard refuses, as its check ends it: past "
                     "all handlers in the process, so only a watcher sees it.")
{
    return HERE_LEAF(refuse, LINE_OF_FAIL, refuse(GUARD_ICALL_CHECK_FAILURE)) + 1;
}
