#include "victims/victim.h"

#include <stdio.h>

static FILE *out;
static volatile int rounds;

/* On one line, wherever it is stopped. */
static int print(void)
{
    HERE_BLOCK(while (victim_zero == 0) rounds += fprintf(out, "%d\n", rounds) > 0;);
    return rounds;
}

SCENARIO(loop_in_stdio, .kind = KIND_HANG, .group = "A5",
         .sentence =
             "Prints for ever: stopped inside the C runtime sooner or later, with the lock of a "
             "stream held.")
{
    out = fopen("nul", "w");
    victim_ready();
    return HERE(print()) + 1;
}
