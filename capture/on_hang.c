/* Hangs: the watched thread's heartbeat has stopped.
 *
 * One suspension spans everything that looks at the stacks, walkers and dump, since a
 * spinning thread would be elsewhere a moment later.  The monitor is the only thread that
 * suspends others, never runs the program's code, and while anything stands still it
 * allocates nothing and takes no lock; what may block runs on a runner under a limit.
 * Whatever was suspended is resumed, each thread as often as it was suspended. */
#include "capture/cap.h"

enum { HANG_THREADS = 64 };

static struct cap_thread threads[CAP_THREADS];
static struct cap_walk walks[HANG_THREADS];
static CONTEXT contexts[HANG_THREADS];
static bool stopped[CAP_THREADS];
static volatile LONG taken;

/* Stops the thread and seeds its walk.  False: it is gone, or not to be stopped. */
static bool stop_thread(uint32_t i)
{
    if ((threads[i].flags & RECORD_THREAD_CAPTURE) != 0 ||
        SuspendThread(threads[i].handle) == (DWORD)-1)
        return false;
    stopped[i] = true;
    contexts[i].ContextFlags = CONTEXT_FULL;
    return GetThreadContext(threads[i].handle, &contexts[i]) != 0;
}

static void walk_stopped(uint32_t i)
{
    cap_crash_walk_begin(&walks[i], RECORD_WALKER_RTL, threads[i].id);
    cap_crash_walk_rtl(&contexts[i], threads[i].bounds, false, &walks[i]);
}

static void resume_all(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (stopped[i] && ResumeThread(threads[i].handle) != (DWORD)-1)
            stopped[i] = false;
}

/* The suspect comes first, in the record as in time. */
static void suspect_to_front(uint32_t count, uint32_t suspect_id)
{
    for (uint32_t i = 1; i < count; i++) {
        if (threads[i].id == suspect_id) {
            struct cap_thread first = threads[0];
            threads[0] = threads[i];
            threads[i] = first;
        }
    }
}

static void write_stacks(uint32_t count, uint64_t suspend_ns)
{
    cap_crash_record_begin(RECORD_KIND_HANG, threads[0].id, NULL, RECORD_DOOR_HEARTBEAT);
    cap_crash_record_modules();
    cap_crash_record_stack(&walks[0]);
    cap_crash_record_timing(RECORD_STAGE_WALK, RECORD_WALKER_RTL, walks[0].walk_ns, 0);
    cap_crash_record_timing(RECORD_STAGE_SUSPEND, 0, suspend_ns, 0);
    cap_crash_record_code_map();
    cap_crash_record_threads(threads, count);
    for (uint32_t i = 1; i < count && i < HANG_THREADS; i++)
        if (stopped[i])
            cap_crash_record_stack(&walks[i]);
}

static void take_hang(void)
{
    const uint32_t suspect_id = (uint32_t)cap.watched_id;
    const uint32_t count = cap_crash_threads(threads, CAP_THREADS, suspect_id, cap.main_id);
    suspect_to_front(count, suspect_id);

    const uint64_t start_ns = cap_crash_now_ns();
    if (count == 0 || threads[0].id != suspect_id || !stop_thread(0))
        return;
    const uint64_t suspend_ns = cap_crash_now_ns() - start_ns;
    walk_stopped(0);
    const uint64_t rtl_ns = cap_crash_now_ns() - start_ns;
    for (uint32_t i = 1; i < count && i < HANG_THREADS; i++)
        if (stop_thread(i))
            walk_stopped(i);

    write_stacks(count, suspend_ns);
    struct cap_subject subject = {
        .seed = &contexts[0],
        .thread = threads[0].handle,
        .thread_id = suspect_id,
        .bounds = threads[0].bounds,
        .no_backtrace = "walks only its own thread",
    };
    cap_crash_cheap_walkers(&subject);
    cap_crash_dump(&subject, false, CAP_DUMP_LIMIT_MS);
    const uint64_t dump_ns = cap_crash_now_ns() - start_ns;
    cap_crash_dbghelp_walkers(&subject);
    resume_all(count);
    cap_crash_record_stops(rtl_ns, dump_ns, 1);
    if (cap.options.tuned_dump)
        cap_crash_dump(&subject, true, CAP_DUMP_LIMIT_MS);
}

void cap_hang_check(void)
{
    const int64_t beat_ns = cap.beat_ns;
    const int64_t now_ns = (int64_t)cap_crash_now_ns();
    if (taken || cap.options.hang_ms == 0 || beat_ns == 0 ||
        now_ns - beat_ns < (int64_t)cap.options.hang_ms * 1000000)
        return;
    taken = 1;
    if (InterlockedCompareExchange(&cap.crash.claimed_by, cap.watched_id, 0) != 0)
        return; /* a crash came first */
    take_hang();
    if (cap.options.end_after_hang)
        TerminateProcess(GetCurrentProcess(), CAPTURE_EXIT_HANG);
}

void capture_heartbeat(void)
{
    if (cap.watched_id == 0)
        cap.watched_id = (LONG)GetCurrentThreadId();
    cap.beat_ns = (LONG64)cap_crash_now_ns();
}

void capture_heartbeat_pause(void)
{
    cap.beat_ns = 0;
}
