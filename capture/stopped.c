/* Which threads the monitor has suspended, and at which moments a dump can be written.
 *
 * A dump needs the heap and the loader, and no thread may be suspended while it holds one of their
 * locks.  So a runner takes both locks while all threads still run.  It holds them while it writes
 * the dump of a hang, and releases them when all threads run again.  A thread may also wait for
 * them and hold what the writer needs and no one can take, see cap_crash_search_is_free(): then all
 * threads go on for a moment, and are stopped again.
 *
 * The monitor is the only thread that suspends others. While any is, it allocates nothing and takes
 * no lock. */
#include "capture/cap.h"

enum { RELEASED_MS = 2000 };

struct cap_stopped cap_stopped;

static struct cap_stopped *const all = &cap_stopped;

/* ---- the locks that a dump needs ---- */

static volatile LONG waits_for_locks; /* CAP_RUNNER_DUMP */

extern LONG NTAPI LdrLockLoaderLock(ULONG flags, ULONG *disposition, ULONG_PTR *cookie);
extern LONG NTAPI LdrUnlockLoaderLock(ULONG flags, ULONG_PTR cookie);
extern void NTAPI RtlAcquirePebLock(void);
extern void NTAPI RtlReleasePebLock(void);

/* MiniDumpWriteDump allocates, lists the modules and opens files by their paths.  The last takes
 * the lock over the process's current directory and environment. */
static void lock_heap(void)
{
    RtlAcquirePebLock();
    (void)HeapLock(GetProcessHeap());
}

static void unlock_heap(void)
{
    (void)HeapUnlock(GetProcessHeap());
    RtlReleasePebLock();
}

/* Waits with no lock held as long as one may be held for good.  The loader comes first, since its
 * own code takes the other locks after its own, and under the second one the third is taken. */
static void hold_locks_now(void *unused)
{
    ULONG_PTR cookie = 0;
    (void)unused;
    lock_heap();
    unlock_heap();
    const bool is_locked = LdrLockLoaderLock(0, NULL, &cookie) == 0;
    lock_heap();
    InterlockedExchange(&waits_for_locks, 0);
    SetEvent(cap.held);
    cap_crash_serve_until(CAP_RUNNER_LOCKED, cap.release);
    unlock_heap();
    if (is_locked)
        (void)LdrUnlockLoaderLock(0, cookie);
}

static bool ask_for_locks(void)
{
    ResetEvent(cap.held);
    ResetEvent(cap.release);
    if (cap_crash_busy(CAP_RUNNER_DUMP))
        return false;
    InterlockedExchange(&waits_for_locks, 1);
    return cap_crash_start(CAP_RUNNER_DUMP, hold_locks_now, NULL);
}

static bool has_locks(uint32_t limit_ms)
{
    return WaitForSingleObject(cap.held, limit_ms) == WAIT_OBJECT_0;
}

/* If the runner gets them later, it lets them go at once. */
static void release_locks(bool has_them)
{
    SetEvent(cap.release);
    if (has_them)
        (void)cap_crash_wait_idle(CAP_RUNNER_DUMP, RELEASED_MS);
}

/* The shortest call that takes this lock; it takes no other. */
static void probe_search(void *unused)
{
    (void)unused;
    (void)GetDllDirectoryW(0, NULL);
}

bool cap_crash_search_is_free(uint32_t limit_ms)
{
    return cap_crash_run(CAP_RUNNER_WALK, probe_search, NULL, limit_ms);
}

bool cap_crash_waits_for_locks(void)
{
    return waits_for_locks != 0;
}

bool cap_crash_try_loader(uintptr_t *cookie)
{
    enum { TRY_ONLY = 2, ACQUIRED = 1 };
    ULONG disposition = 0;
    ULONG_PTR given = 0;
    const LONG status = LdrLockLoaderLock(TRY_ONLY, &disposition, &given);
    *cookie = given;
    return status == 0 && disposition == ACQUIRED;
}

void cap_crash_unlock_loader(uintptr_t cookie)
{
    (void)LdrUnlockLoaderLock(0, cookie);
}

/* ---- the threads ---- */

void cap_crash_close_threads(void)
{
    for (uint32_t i = 0; i < all->count; i++)
        CloseHandle(all->threads[i].handle);
    all->count = 0;
}

bool cap_crash_list_threads(uint32_t suspect_id)
{
    cap_crash_close_threads();
    all->count = cap_crash_threads(all->threads, CAP_THREADS, suspect_id, cap.main_id);
    for (uint32_t i = 1; i < all->count; i++) {
        if (all->threads[i].id == suspect_id) {
            struct cap_thread first = all->threads[0];
            all->threads[0] = all->threads[i];
            all->threads[i] = first;
        }
    }
    return all->count > 0 && all->threads[0].id == suspect_id;
}

bool cap_crash_stop_thread(uint32_t i)
{
    if ((all->threads[i].flags & RECORD_THREAD_CAPTURE) != 0 ||
        SuspendThread(all->threads[i].handle) == (DWORD)-1)
        return false;
    all->stopped[i] = 1;
    return true;
}

void cap_crash_stop_from(uint32_t first)
{
    for (uint32_t i = first; i < all->count; i++)
        (void)cap_crash_stop_thread(i);
}

void cap_crash_resume_thread(uint32_t i)
{
    /* A runtime suspends threads as well, so the count that is left says nothing about us. */
    if (InterlockedExchange(&all->stopped[i], 0) != 0 &&
        ResumeThread(all->threads[i].handle) == (DWORD)-1)
        all->left_suspended++;
}

void cap_crash_resume_all(void)
{
    for (uint32_t i = 0; i < all->count; i++)
        cap_crash_resume_thread(i);
}

/* Where locks are not handed over, a thread that uses one all the time takes it again before the
 * runner, which waits for it, has woken up.  So all threads are suspended for a moment, until that
 * is one in which the lock is free and the runner gets it. */
void cap_crash_hold_locks(uint32_t first)
{
    enum { FIRST_MS = 1000, TRIES = 20, TRY_MS = 5, PAUSE_MS = 20 };
    if (!ask_for_locks())
        return;
    all->has_locks = has_locks(FIRST_MS);
    for (int i = 0; i < TRIES && !all->has_locks; i++) {
        cap_crash_stop_from(first);
        all->has_locks = has_locks(TRY_MS);
        cap_crash_resume_all();
        if (!all->has_locks)
            Sleep(PAUSE_MS);
    }
    if (!all->has_locks)
        release_locks(false);
}

void cap_crash_release_held(void)
{
    if (all->has_locks)
        release_locks(true);
    all->has_locks = false;
}

void cap_crash_let_all_go(void)
{
    cap_crash_resume_all();
    cap_crash_release_held();
}

bool cap_crash_may_write(bool is_rescued, int *tries)
{
    enum { TRIES = 60, TRY_MS = 40, BETWEEN_MS = 5 };
    if (!all->has_locks || (!is_rescued && cap_crash_search_is_free(TRY_MS)))
        return true;
    if (is_rescued || ++*tries == TRIES) {
        cap_crash_release_held(); /* the runner that has them must not wait for what a thread holds
                                   */
        return true;
    }
    cap_crash_let_all_go();
    (void)cap_crash_wait_idle(CAP_RUNNER_WALK, CAP_WALK_LIMIT_MS);
    Sleep(BETWEEN_MS);
    return false;
}

/* The locks are released again: the crashed thread writes the dump, and no other one runs that
 * could take them. A stopped thread that waits for one gets it only when it runs. */
bool cap_crash_stop_others(uint32_t crashed_id)
{
    int tries = 0;
    do {
        if (!cap_crash_list_threads(crashed_id))
            return false;
        cap_crash_hold_locks(1);
        if (!all->has_locks || !cap_crash_list_threads(crashed_id)) { /* now none can begin */
            cap_crash_release_held();
            return false;
        }
        cap_crash_stop_from(1);
    } while (!cap_crash_may_write(false, &tries));
    const bool are_free = all->has_locks;
    cap_crash_release_held();
    if (!are_free)
        cap_crash_resume_all();
    return are_free;
}
