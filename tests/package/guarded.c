/* What the capture guards returns, whatever the guarded code does: on many threads, nested, and
 * with an exception that the guarded code handles itself. Prints "guarded", or what went wrong. */
#include <stdio.h>

#include "capture/cap.h"

enum { THREADS = 8, ROUNDS = 500 };

static void fault(void *argument)
{
    *(volatile int *)argument = 1;
}

static void raise(void *argument)
{
    RaiseException(0xE0000001u, EXCEPTION_NONCONTINUABLE, 0, NULL);
    *(int *)argument = 1;
}

/* The system raises an exception for the debugger, and handles it when there is none. */
static void raise_and_handle(void *argument)
{
    OutputDebugStringA("guarded");
    *(int *)argument = 1;
}

static void nest(void *argument)
{
    *(int *)argument = !cap_crash_guarded(fault, NULL) && !cap_crash_guarded(raise, argument);
    fault(NULL);
}

static const char *failure(void)
{
    int done = 0;
    if (cap_crash_guarded(fault, NULL))
        return "a fault was not seen";
    if (!cap_crash_guarded(raise_and_handle, &done) || !done)
        return "an exception of the body's own was taken from it";
    if (cap_crash_guarded(nest, &done) || !done)
        return "nested";
    if (!cap_crash_guarded(fault, &done) || done != 1)
        return "a body without a fault";
    return cap_crash_copy_guarded(&done, 16, sizeof done) ? "a copy from nowhere" : NULL;
}

static DWORD WINAPI serve(void *argument)
{
    const char **why = argument;
    for (int i = 0; i < ROUNDS && *why == NULL; i++)
        *why = failure();
    return 0;
}

int main(void)
{
    const char *why[THREADS] = {0};
    HANDLE threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        threads[i] = CreateThread(NULL, 0, serve, (void *)&why[i], 0, NULL);
    WaitForMultipleObjects(THREADS, threads, TRUE, INFINITE);
    for (int i = 0; i < THREADS; i++)
        if (why[i] != NULL)
            return puts(why[i]), 1;
    return puts("guarded"), 0;
}
