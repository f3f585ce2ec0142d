/* twinstack-stops held WHO FOLDER: a hang or a crash, captured into FOLDER, while a thread holds
 * the system's lock over the unwind data of generated code, in a callback given to
 * RtlInstallFunctionTableCallback.
 *
 *   a-while   generated code called the holder; it takes the lock while the suspect is sampled, and
 *             lets go only after it was suspended and resumed, when it sees a gap in time: the walk
 *             of its copy waits for a thread that the capture has suspended
 *   for-good  it holds the lock before the hang, and never lets go; generated code called the
 *             suspect
 *   crash     generated code called the holder, which crashes with the lock held
 *
 * The suspect also holds the loader lock, so that no dump is written, which would take seconds.
 * Prints one line of JSON: what is suspended once the hang was taken. */
#include <stdio.h>
#include <wchar.h>

#include "capture/cap.h"
#include "victims/harness/stops/targets.h"

enum {
    HANG_MS = 200,
    SAMPLES = 16,   /* 20 ms apart */
    TRIED_MS = 150, /* after the hang was found: the capture has seen that the lock is free */
    TURN_MS = 10,
    GAP_MS = 2000, /* less than CAP_WALK_LIMIT_MS, more than a busy machine takes from a thread */
    LIMIT_MS = 20000,
    PAGE_BYTES = 4096,
    EXIT_WRONG = 2,
    EXIT_NOT_STARTED = 3,
    EXIT_NOT_TAKEN = 4,
};

extern LONG NTAPI LdrLockLoaderLock(ULONG flags, ULONG *disposition, ULONG_PTR *cookie);

static HANDLE ready; /* the thread runs; for-good: and holds the lock */
static bool for_good, crashes;
static volatile LONG gap_ms; /* the longest that the holder saw */
static volatile int *volatile no_place;
static uint8_t *covered; /* what the callback's table is about */

/* Under the system's lock. */
static RUNTIME_FUNCTION *CALLBACK hold(DWORD64 pc_va, void *context)
{
    uint64_t before_ns = cap_crash_now_ns();
    (void)pc_va, (void)context;
    SetEvent(ready);
    if (crashes)
        *no_place = 1;
    while (for_good || gap_ms < GAP_MS) {
        Sleep(TURN_MS);
        const uint64_t now_ns = cap_crash_now_ns();
        const LONG passed_ms = (LONG)((now_ns - before_ns) / 1000000);
        if (passed_ms > gap_ms)
            InterlockedExchange(&gap_ms, passed_ms);
        before_ns = now_ns;
    }
    return NULL;
}

static int look_up(void *unused)
{
    DWORD64 base = 0;
    (void)unused;
    return RtlLookupFunctionEntry((uintptr_t)covered, &base, NULL) == NULL;
}

static int take_lock(void *unused)
{
    if (!for_good)
        SetEvent(ready);
    while (!for_good && cap.crash.claimed_by != CAP_CLAIMED_BY_HANG)
        Sleep(1);
    if (!for_good)
        Sleep(TRIED_MS);
    return look_up(unused);
}

static DWORD WINAPI run_holder(void *unused)
{
    (void)unused;
    return (DWORD)(for_good ? take_lock(NULL) : stop_target_call_generated(take_lock));
}

/* Other threads that are suspended. */
static uint32_t count_suspended(void)
{
    static struct cap_thread threads[CAP_THREADS];
    const uint32_t count = cap_crash_threads(threads, CAP_THREADS, 0, cap.main_id);
    uint32_t suspended = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (threads[i].id != GetCurrentThreadId()) {
            const DWORD before = SuspendThread(threads[i].handle);
            suspended += before != (DWORD)-1 && before > 0;
            (void)ResumeThread(threads[i].handle);
        }
        CloseHandle(threads[i].handle);
    }
    return suspended;
}

static bool start(const wchar_t *folder)
{
    const struct capture_options options = {.version = CAPTURE_VERSION,
                                            .size = sizeof options,
                                            .folder = folder,
                                            .hang_ms = HANG_MS,
                                            .hang_samples = SAMPLES,
                                            .offsets_only = crashes,
                                            .walkers = 1u << RECORD_WALKER_FRAME_POINTER};
    ready = CreateEventW(NULL, TRUE, FALSE, NULL);
    covered = VirtualAlloc(NULL, PAGE_BYTES, MEM_COMMIT | MEM_RESERVE, PAGE_EXECUTE_READWRITE);
    return ready != NULL && covered != NULL && capture_install(&options) &&
           RtlInstallFunctionTableCallback((uintptr_t)covered | 3, (uintptr_t)covered, PAGE_BYTES,
                                           hold, NULL, NULL);
}

/* 1: the capture took the hang in time. */
static int hang(void *unused)
{
    ULONG disposition = 0;
    ULONG_PTR cookie = 0;
    const HANDLE thread = CreateThread(NULL, 0, run_holder, NULL, 0, NULL);
    (void)unused;
    if (thread == NULL || WaitForSingleObject(ready, LIMIT_MS) != WAIT_OBJECT_0 ||
        LdrLockLoaderLock(0, &disposition, &cookie) != 0)
        return 0;
    capture_heartbeat();
    for (int i = 0; i < LIMIT_MS / TURN_MS && cap.hang_count == 0; i++)
        Sleep(TURN_MS);
    return cap.hang_count > 0;
}

int stop_held(const wchar_t *who, const wchar_t *folder)
{
    for_good = wcscmp(who, L"for-good") == 0;
    crashes = wcscmp(who, L"crash") == 0;
    if (!for_good && !crashes && wcscmp(who, L"a-while") != 0)
        return EXIT_WRONG;
    if (!start(folder)) {
        fprintf(stderr, "twinstack-stops: cannot start (error %lu)\n", GetLastError());
        return EXIT_NOT_STARTED;
    }
    if (crashes)
        return stop_target_call_generated(look_up);
    const bool taken = (for_good ? stop_target_call_generated(hang) : hang(NULL)) != 0;
    printf("{\"schema_version\":1,\"held\":\"%ls\",\"taken\":%s,\"suspended\":%u,\"gap_ms\":%ld}\n",
           who, taken ? "true" : "false", count_suspended(), gap_ms);
    fflush(stdout);
    TerminateProcess(GetCurrentProcess(), taken ? 0 : EXIT_NOT_TAKEN);
    return EXIT_NOT_TAKEN;
}
