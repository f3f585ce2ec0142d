#include "victims/victim.h"

/* The call is the last instruction of its function and never returns, so its return address
 * is the first byte of the next function: sub 4, nop 7, call 5 bytes, sixteen in all. */
void noreturn_die(void);
void noreturn_next(void);
void noreturn_caller(void);

void noreturn_die(void)
{
    HERE_DO(*victim_null = 1);
    TerminateProcess(GetCurrentProcess(), EXIT_SURVIVED);
}

#if HAVE_NAKED
enum { LINE_OF_CALLER = __LINE__ + 3 };
NAKED void noreturn_caller(void)
{
    __asm__(".seh_proc noreturn_caller\n"
            "subq $40, %rsp\n"
            ".seh_stackalloc 40\n"
            ".seh_endprologue\n"
            ".byte 0x0f, 0x1f, 0x80, 0, 0, 0, 0\n"
            "call noreturn_die\n"
            ".seh_endproc\n");
}

NAKED void noreturn_next(void)
{
    __asm__("ret");
}
#else
enum { LINE_OF_CALLER = 0 };
void noreturn_caller(void)
{
    noreturn_die();
}

void noreturn_next(void)
{
}
#endif

static int call_it(void)
{
    noreturn_next();
    return HERE_LEAF(noreturn_caller, LINE_OF_CALLER, (noreturn_caller(), 1)) + 1;
}

SCENARIO(noreturn_tail, .kind = KIND_CRASH, .group = "A3", .code = 0xC0000005,
         .sentence = "A call that never returns ends its function: the return address lies in the "
                     "next function, and only one byte earlier is the truth.")
{
    return HERE(call_it()) + 1;
}
