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

SCENARIO(fast_fail, .kind = KIND_CRASH, .group = "A2", .code = 0xC0000409, .no_case = true,
         .sentence = "__fastfail: no handler in the process runs, so none of them can report.")
{
    return HERE_LEAF(fail_fast, LINE_OF_FAIL, fail_fast(7)) + 1;
}
