#include "victims/victim.h"

#if HAVE_NAKED
static NAKED int lose_stack_pointer(void)
{
    __asm__("movl $0x10, %esp\nret");
}
#define NOT_BUILT NULL
#elif HAVE_NAKED_X86
static NAKED_X86 int lose_stack_pointer(void)
{
    __asm__("movl $0x10, %esp\nret");
}
#define NOT_BUILT NULL
#else
static int lose_stack_pointer(void)
{
    return 0;
}
#define NOT_BUILT "this compiler has no naked functions"
#endif

SCENARIO(stack_pointer_wild, .kind = KIND_CRASH, .group = "A3", .code = 0xC0000005, .no_case = true,
         .not_built = NOT_BUILT,
         .sentence = "The stack pointer is lost: the system has nowhere to put the exception, so "
                     "no handler in it is called.")
{
    TRUTH_PUSH(0, 0, 0, TRUTH_FLAG_LOST);
    return TRUTH_VALUE(lose_stack_pointer(), 1) + 1;
}
