#include "victims/victim.h"

#if HAVE_NAKED
enum { LINE_OF_STOP = __LINE__ + 3 };
static NAKED int stop_here(void)
{
    __asm__("int3\n"
            "ret");
}
#else
enum { LINE_OF_STOP = 0 };
static NOINLINE int stop_here(void)
{
    __debugbreak();
    return 1;
}
#endif

SCENARIO(breakpoint, .kind = KIND_CRASH, .group = "A1", .code = 0x80000003,
         .sentence =
             "int3 with no debugger: is the address that of the instruction or of the next? "
             "Record and dump must agree.")
{
    return HERE_LEAF(stop_here, LINE_OF_STOP, stop_here()) + 1;
}
