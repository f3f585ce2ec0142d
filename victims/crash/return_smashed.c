#include "victims/crash/lost_stack.h"
#include "victims/victim.h"

/* Overwrites its own frame including the return address, then returns to no code. */
#if HAVE_NAKED
enum { LINE_OF_SMASH = __LINE__ + 3 };
static NAKED int smash(void)
{
    __asm__("movabsq $0x4141414141414141, %rax\n"
            "movq %rax, (%rsp)\n"
            "ret");
}
#else
enum { LINE_OF_SMASH = 0 };
static NOINLINE int smash(void)
{
    *RETURN_ADDRESS_SLOT() = 0x4141414141414141u & UINTPTR_MAX;
    return 1;
}
#endif

SCENARIO(return_smashed, .kind = KIND_CRASH, .group = "A3", .code = 0xC0000005,
         .not_built = sizeof(void *) == 4
                          ? "32 bits have no address that cannot be: see return_wild"
                          : NULL,
         .not_on_wine = NOT_WITH_FRAME_POINTERS,
         .sentence = "The return address is overwritten: the crash is at the return, and no walker "
                     "can know the caller; it must stop and say so.")
{
    return HERE_LOST(smash, LINE_OF_SMASH, smash()) + 1;
}
