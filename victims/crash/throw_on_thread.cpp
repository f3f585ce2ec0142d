#include "victims/crash/cpp.h"

static int thrower(int value)
{
    HERE_DO(throw value);
    return value;
}

static DWORD WINAPI worker(void *)
{
    truth_thread("worker", true);
    return (DWORD)HERE(thrower(3)) + 1;
}

static int join(HANDLE thread)
{
    return HERE_SYSTEM(WaitForSingleObject(thread, INFINITE)) + 1;
}

/* Where the C runtime guards only main, the filter sees GNU's own exception code. */
#if defined(_MSC_VER)
#define THROWN .code = 0xE06D7363, .hooks = HOOKS_OF_A_CRASH
#elif defined(_WIN64)
#define THROWN .code = 0x20474343, .hooks = HOOKS_OF_A_CRASH
#else /* not a system exception: the runtime walks up the stack itself */
#define THROWN NOBODY_CATCHES
#endif

SCENARIO(throw_on_thread, .kind = KIND_CRASH, .group = "A2", THROWN,
         .sentence = "A C++ exception that is not caught, on a thread that the C++ runtime did "
                     "not start: it comes out as an exception of the system.")
{
    HANDLE thread = CreateThread(NULL, 0, worker, NULL, 0, NULL);
    return HERE(join(thread)) + 1;
}
