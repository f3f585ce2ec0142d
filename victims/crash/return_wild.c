#include "victims/crash/lost_stack.h"
#include "victims/victim.h"

enum { BALLAST_WORDS = 400 };

/* Returns to unmapped memory. The return itself succeeds; the fault comes one instruction later.
 * Windows looks for handlers from there on, word by word as return addresses, and a word that an
 * earlier call left in the home area (32 bytes, of the called function) may send it into memory
 * that is not there: it is cleared. */
#if HAVE_NAKED
static NAKED int smash(void)
{
    __asm__("movl $0x41414141, %eax\n"
            "movq %rax, (%rsp)\n"
            "movq $0, 8(%rsp)\n"
            "movq $0, 16(%rsp)\n"
            "movq $0, 24(%rsp)\n"
            "movq $0, 32(%rsp)\n"
            "ret");
}
#else
static NOINLINE int smash(void)
{
    *RETURN_ADDRESS_SLOT() = 0x41414141u;
    return 1;
}
#endif

SCENARIO(return_wild, .kind = KIND_CRASH, .group = "A3", .code = 0xC0000005,
         .not_on_wine = NOT_WITH_FRAME_POINTERS,
         .sentence = "A return to an address where nothing is: looks like a call to nowhere, but "
                     "there is no return address left to pop.")
{
    volatile uintptr_t nothing[BALLAST_WORDS] = {0}; /* no return address for a scan to find */
    TRUTH_PUSH(0, 0, 0, TRUTH_FLAG_LOST);
    return TRUTH_VALUE(smash(), 1) + (int)nothing[BALLAST_WORDS / 2];
}
