#include "victims/crash/cpp.h"

#include <exception>

static std::exception_ptr carried;

static NOINLINE int thrower(int value)
{
    truth_scope scope;
    HERE_DO(throw value);
    return value;
}

static DWORD WINAPI worker(void *)
{
    truth_thread("worker", false);
    try {
        thrower(3);
    } catch (...) {
        carried = std::current_exception();
    }
    return 0;
}

static int rethrow()
{
    HERE_DO(std::rethrow_exception(carried));
    return 1;
}

SCENARIO(throw_carried, .kind = KIND_CRASH, .group = "A4", NOBODY_CATCHES,
         .sentence = "An exception carried over from another thread: it dies here, but was thrown "
                     "on a stack that is gone.")
{
    HANDLE thread = CreateThread(NULL, 0, worker, NULL, 0, NULL);
    WaitForSingleObject(thread, INFINITE);
    return HERE(rethrow()) + 1;
}
