#include "victims/victim.h"

#include <float.h>

/* The old floating-point unit reports an error when it is asked again, which may be in another
 * function than the division. */
#if HAVE_NAKED
enum { LINE_OF_WAIT = __LINE__ + 3 };
static NAKED int wait_for_it(void)
{
    __asm__("fwait\nxorl %eax, %eax\nret");
}

static NAKED int divide(void)
{
    __asm__("fnclex\npushq $0x37b\nfldcw (%rsp)\npopq %rax\n" /* unmasks division by zero */
            "fld1\nfldz\nfdivrp\nxorl %eax, %eax\nret");
}
#define NOT_BUILT NULL
#elif HAVE_NAKED_X86
enum { LINE_OF_WAIT = __LINE__ + 3 };
static NAKED_X86 int wait_for_it(void)
{
    __asm__("fwait\nxorl %eax, %eax\nret");
}

static NAKED_X86 int divide(void)
{
    __asm__("fnclex\npushl $0x37b\nfldcw (%esp)\npopl %eax\n"
            "fld1\nfldz\nfdivrp\nxorl %eax, %eax\nret");
}
#define NOT_BUILT NULL
#else
enum { LINE_OF_WAIT = 0 };
static int wait_for_it(void)
{
    return 0;
}

static int divide(void)
{
    return 0;
}
#define NOT_BUILT "this compiler has no naked functions"
#endif

static int ask_later(void)
{
    return HERE_LEAF(wait_for_it, LINE_OF_WAIT, wait_for_it()) + 1;
}

SCENARIO(float_late, .kind = KIND_CRASH, .group = "A1", .code = 0xC000008E, .not_built = NOT_BUILT,
         .missing = victim_without_float_traps,
         .sentence = "A division by zero on the old floating-point unit, which says so only at the "
                     "next instruction of its own: the program counter is not the fault's.")
{
    return HERE(divide() + ask_later()) + 1;
}
