#include "victims/victim.h"

#if HAVE_NAKED
enum { LINE_OF_ILLEGAL = __LINE__ + 3 };
static NAKED int illegal(void)
{
    __asm__("ud2");
}
#else
enum { LINE_OF_ILLEGAL = 0 };
static NOINLINE int illegal(void)
{
    ILLEGAL();
    return 1;
}
#endif

SCENARIO(illegal_instruction, .kind = KIND_CRASH, .group = "A1", .code = 0xC000001D,
         .sentence = "An instruction that no processor knows, first in its function: one byte "
                     "earlier is another function.")
{
    return HERE_LEAF(illegal, LINE_OF_ILLEGAL, illegal()) + 1;
}
