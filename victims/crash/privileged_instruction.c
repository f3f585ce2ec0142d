#include "victims/victim.h"

#if HAVE_NAKED
enum { LINE_OF_HALT = __LINE__ + 3 };
static NAKED int halt(void)
{
    __asm__("hlt");
}
#else
enum { LINE_OF_HALT = 0 };
static NOINLINE int halt(void)
{
    HALT();
    return 1;
}
#endif

SCENARIO(privileged_instruction, .kind = KIND_CRASH, .group = "A1", .code = 0xC0000096,
         .sentence = "An instruction for the kernel alone.")
{
    return HERE_LEAF(halt, LINE_OF_HALT, halt()) + 1;
}
