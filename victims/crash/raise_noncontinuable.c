#include "victims/victim.h"

#define FIRST_CODE 0xE0001235

static int go_on(DWORD code)
{
    return code == FIRST_CODE ? EXCEPTION_CONTINUE_EXECUTION : EXCEPTION_CONTINUE_SEARCH;
}

static int complain(void)
{
    HERE_DO(RaiseException(FIRST_CODE, EXCEPTION_NONCONTINUABLE, 0, NULL));
    return 1;
}

static int guarded(void)
{
    __try {
        return HERE(complain()) + 1;
    } __except (go_on(GetExceptionCode())) {
        return 0;
    }
}

SCENARIO(raise_noncontinuable, .kind = KIND_CRASH, .group = "A1", .code = 0xC0000025,
         .sentence = "A handler wants to go on after an exception that forbids it: the system "
                     "raises a second one, in the middle of dispatching the first.")
{
    return HERE(guarded()) + 1;
}
