#include "victims/victim.h"

int tail_target(volatile int *p);

int tail_target(volatile int *p)
{
    return HERE(*p = 1) + 1;
}

/* Everything is built with sibling calls off, so the jump is written by hand. */
#if HAVE_NAKED
enum { LINE_OF_JUMP = __LINE__ + 3 };
static NAKED int jumper(volatile int *p)
{
    __asm__("jmp tail_target");
}
#elif HAVE_NAKED_X86
enum { LINE_OF_JUMP = __LINE__ + 3 };
static NAKED_X86 int jumper(volatile int *p)
{
    __asm__("jmp _tail_target");
}
#else
enum { LINE_OF_JUMP = __LINE__ + 3 };
static NOINLINE int jumper(volatile int *p)
{
    return tail_target(p);
}
#endif

static int caller(volatile int *p)
{
    return HERE_TAIL(jumper, LINE_OF_JUMP, jumper(p)) + 1;
}

SCENARIO(tail_call, .kind = KIND_CRASH, .group = "A3", .code = 0xC0000005,
         .sentence =
             "A function that leaves by a jump: its frame is gone for good, and who shows it "
             "is making it up.")
{
    return HERE(caller(victim_null)) + 1;
}
