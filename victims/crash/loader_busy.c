#include "victims/victim.h"

enum { BUSY_MS = 600 };

extern LONG NTAPI LdrLockLoaderLock(ULONG flags, ULONG *disposition, ULONG_PTR *cookie);
extern LONG NTAPI LdrUnlockLoaderLock(ULONG flags, ULONG_PTR cookie);

/* Like a thread that starts, or that loads a DLL with a slow DllMain. */
static DWORD WINAPI load(void *inside)
{
    ULONG_PTR cookie = 0;
    (void)LdrLockLoaderLock(0, NULL, &cookie);
    SetEvent((HANDLE)inside);
    Sleep(BUSY_MS);
    (void)LdrUnlockLoaderLock(0, cookie);
    return 0;
}

static int poke(volatile int *p)
{
    return HERE(*p = 1) + 1;
}

SCENARIO(loader_busy, .kind = KIND_CRASH, .group = "A4", .code = 0xC0000005,
         .sentence =
             "A crash while another thread is in the loader and will be out of it soon: a dump "
             "must not start under that lock, and must not be given up for it either.")
{
    HANDLE inside = CreateEventW(NULL, TRUE, FALSE, NULL);
    CloseHandle(CreateThread(NULL, 0, load, inside, 0, NULL));
    WaitForSingleObject(inside, INFINITE);
    return HERE(poke(victim_null)) + 1;
}
