#include "victims/victim.h"

static NOINLINE int lose_stack(void)
{
    MEMORY_BASIC_INFORMATION info;
    VirtualQuery(&info, &info, sizeof info);
    VirtualFree(info.BaseAddress, info.RegionSize, MEM_DECOMMIT);
    return 1;
}

SCENARIO(stack_decommitted, .kind = KIND_CRASH, .group = "A3", .code = 0xC0000005,
         .hooks = RECORD_HOOK_WATCHER, .watched = true,
         .not_on_wine = "Wine ends a thread without a stack before any debugger hears of it",
         .sentence = "The thread gives its own stack back: nothing can be called, and only the "
                     "program counter is known.")
{
    TRUTH_PUSH(0, 0, 0, TRUTH_FLAG_LOST);
    return TRUTH_VALUE(lose_stack(), 1) + 1;
}
