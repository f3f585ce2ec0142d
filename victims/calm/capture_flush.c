#include "victims/victim.h"

static int note(const char *label)
{
    return capture_now(label) + 1;
}

SCENARIO(capture_flush, .kind = KIND_CALM, .group = "calm", .ring_kb = 64,
         .sentence = "Stacks on demand, written when asked and at the end: a record of nothing "
                     "that went wrong, so no hook.")
{
    victim_zero = note("first") - 2;
    if (!capture_flush())
        return 1;
    victim_zero = note("second") - 2;
    return 0;
}
