#include "victims/victim.h"

static volatile int rounds;

static int turn(void)
{
    HERE_BLOCK(while (victim_zero == 0) rounds++;); /* one line, wherever it is stopped */
    return rounds;
}

static int spin_around(void)
{
    return HERE(turn()) + 1;
}

SCENARIO(spin, .kind = KIND_HANG, .group = "A5",
         .sentence =
             "A loop that never ends: two looks at it see different instructions, so record "
             "and dump must come from one suspension.")
{
    victim_ready();
    return HERE(spin_around()) + 1;
}
