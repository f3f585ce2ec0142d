#include "victims/crash/lost_stack.h"
#include "victims/victim.h"

/* Overwrites everything above, including return addresses, then crashes before it returns. */
enum { WORDS = 64 };

static NOINLINE int smash(volatile uintptr_t *from)
{
    for (int i = 0; i < WORDS; i++)
        from[i] = 0x4141414141414141u & UINTPTR_MAX;
    HERE_DO(*victim_null = 1);
    return 1;
}

static NOINLINE int victim_of_smash(void)
{
    volatile uintptr_t room[2] = {0, 0};
    TRUTH_PUSH(0, 0, 0, TRUTH_FLAG_LOST);
    TRUTH_SELF, room[0] = (uintptr_t)smash(room);
    return (int)room[1];
}

SCENARIO(stack_smashed, .kind = KIND_CRASH, .group = "A3", .code = 0xC0000005,
         .not_on_wine = NOT_WITH_FRAME_POINTERS,
         .sentence = "The stack above is overwritten, many frames of it: one caller is still to be "
                     "known, and whoever shows more makes it up.")
{
    /* All of it is written: Windows looks for handlers here too, word by word as return addresses,
     * and a word that an earlier call left may send it into memory that is not there. */
    volatile uintptr_t ballast[WORDS];
    for (int i = 0; i < WORDS; i++)
        ballast[i] = 0;
    return HERE(victim_of_smash()) + (int)ballast[WORDS - 1];
}
