#include "victims/victim.h"

static NOINLINE void name_it(void)
{
    const ULONG_PTR arguments[3] = {0x1000, (ULONG_PTR) "worker", (ULONG_PTR)-1};
    RaiseException(0x406D1388, 0, 3, arguments);
}

SCENARIO(thread_name_exception, .kind = KIND_CALM, .group = "calm",
         .sentence =
             "A thread names itself the old way, by an exception that debuggers understand: "
             "no case.")
{
    __try {
        name_it();
    } __except (EXCEPTION_EXECUTE_HANDLER) {
        return 0;
    }
    return 0;
}
