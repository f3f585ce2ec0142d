#include "victims/victim.h"

static int fall(int depth)
{
    volatile char room[200];
    if (depth < 0)
        return depth;
    room[depth % 200] = (char)depth;
    return HERE(fall(depth + 1)) + room[(depth + 1) % 200];
}

static int fall_softly(void)
{
    const uint32_t depth = truth_depth();
    __try {
        return fall(victim_zero);
    } __except (EXCEPTION_EXECUTE_HANDLER) {
        truth_cut(depth);
        return 0;
    }
}

SCENARIO(stack_overflow_twice, .kind = KIND_CRASH, .group = "A3", .code = 0xC0000005,
         .no_case = true, .not_on_wine = "Wine runs no handler of a frame after a stack overflow",
         .sentence = "A stack overflow is handled without making a new guard page: the second one "
                     "meets nothing that could report it.")
{
    fall_softly();
    return HERE(fall(victim_zero)) + 1;
}
