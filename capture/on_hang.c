/* Hangs: the watched thread's heartbeat has stopped.
 *
 * The thread is sampled several times, for an instant each, to distinguish a wait from a loop and
 * to let it recover: then there was no hang.  A sample is a copy of its registers and stack
 * (copy.c), walked after the thread runs again.  The last sample is taken in one of two ways:
 *
 *   offsets only   each thread is suspended while it is copied, no longer
 *   with a dump    record and dump must show the same moment, since a spinning thread would be
 *                  elsewhere a moment later: the copy first, then all walkers and the dump, in
 *                  one suspension
 *
 * The monitor never runs the program's code, and code that may block runs on a runner under a time
 * limit.  If the walk of a copy ever waits for a lock of the system that a suspended thread holds,
 * a rescuer resumes all threads, and the walk goes on in the copy.  Each thread is resumed as often
 * as it was suspended; those that could not be resumed are counted.  The locks that a dump needs
 * are taken before (stopped.c).
 *
 * A program that survives a hang goes on with other files (files.c): later hangs, and the crash,
 * are captured as well.  One hang is captured once, and the host limits how many there are in an
 * hour. */
#include "capture/cap.h"

enum { HANG_THREADS = 64, REDIRECTED_TRIES = 100 };

#if defined(_WIN64)
static ALIGNED(16) uint8_t copy_room[CAP_COPY_BYTES];
static struct cap_copy copy = {.memory = copy_room}; /* of the thread that was stopped last */
#endif
static struct cap_stopped *const all = &cap_stopped;
static struct cap_walk samples[CAP_HANG_SAMPLES_MOST]; /* of the suspect */
static struct cap_walk walks[HANG_THREADS];            /* of the others, by thread */
static bool was_walked[HANG_THREADS];
static CONTEXT contexts[HANG_THREADS];
static volatile LONG rescued;
static uint64_t walking_since_ns, rescued_after_ns;
static int64_t seen_beat_ns; /* the last heartbeat before the hang that was captured last */

/* Suspends the thread and keeps its registers and, on x64, its stack. False: it is gone or cannot
 * be suspended. */
static bool stop_thread(uint32_t i)
{
    if (!cap_crash_stop_thread(i))
        return false;
#if defined(_WIN64)
    if (!cap_crash_copy_thread(all->threads[i].handle, all->threads[i].bounds, &copy))
        return false;
    contexts[i] = copy.context;
    return true;
#else
    contexts[i].ContextFlags = CONTEXT_FULL;
    return GetThreadContext(all->threads[i].handle, &contexts[i]) != 0;
#endif
}

/* Stops the suspect, with the locks ours if they are needed and free; not where a collection of a
 * .NET runtime has just moved it, since where it was shows a moment later. *START_NS is when it was
 * stopped. */
static bool stop_suspect(bool needs_locks, uint64_t *start_ns)
{
    if (needs_locks)
        cap_crash_hold_locks(0);
    for (int tries = 0;; tries++) {
        *start_ns = cap_crash_now_ns();
        if (!stop_thread(0))
            return false;
        if (tries == REDIRECTED_TRIES || !cap_crash_is_redirected(&contexts[0]))
            return true;
        cap_crash_resume_thread(0);
        cap_crash_release_held(); /* the runtime may need them to go on */
        Sleep(1);
        if (needs_locks)
            cap_crash_hold_locks(0);
    }
}

/* ---- walking ---- */

/* Runs while the threads are walked, which takes microseconds. */
static void rescue(void *argument)
{
    (void)argument;
    if (WaitForSingleObject(cap.walked, CAP_WALK_LIMIT_MS) == WAIT_OBJECT_0)
        return;
    rescued_after_ns = cap_crash_now_ns() - walking_since_ns;
    InterlockedExchange(&rescued, 1);
    cap_crash_resume_all();
}

/* Walks thread I, the one that was stopped last. */
static void walk_thread(uint32_t i, struct cap_walk *out)
{
    cap_crash_walk_begin(out, CAP_WALKER_FIRST, all->threads[i].id);
#if defined(_WIN64)
    cap_crash_walk_copy(&copy, out);
#else
    cap_crash_walk_first(&contexts[i], NULL, all->threads[i].bounds, false, out);
#endif
}

/* Without a dump nothing else needs the thread stopped. On x86 there is no copy to walk. */
static void let_run(uint32_t i)
{
#if defined(_WIN64)
    if (cap.options.offsets_only)
        cap_crash_resume_thread(i);
#else
    (void)i;
#endif
}

/* One sample: suspend, copy, resume, walk. False: the thread is gone. */
static bool look_at_suspect(struct cap_walk *out)
{
    uint64_t start_ns = 0;
    const bool ok = stop_suspect(false, &start_ns);
#if defined(_WIN64)
    cap_crash_resume_all();
#endif
    if (ok)
        walk_thread(0, out);
    cap_crash_resume_all();
    return ok;
}

/* Compares all frames but the innermost, which differs between iterations of a loop. */
static bool is_same_stack(const struct cap_walk *a, const struct cap_walk *b)
{
    const uint32_t count = a->total < CAP_FRAMES ? a->total : CAP_FRAMES;
    bool same = a->total == b->total && a->state == b->state;
    for (uint32_t i = 1; i < count && same; i++)
        same = a->frames[i].pc_va == b->frames[i].pc_va;
    return same;
}

/* Numbers the samples, heaviest first. Among equals the last one comes first: the dump shows it
 * too. */
static void rank_samples(uint32_t count)
{
    uint32_t weights[CAP_HANG_SAMPLES_MOST];
    for (uint32_t i = 0; i < count; i++) {
        weights[i] = 0;
        for (uint32_t k = 0; k < count; k++)
            weights[i] += is_same_stack(&samples[i], &samples[k]);
    }
    for (uint32_t i = 0; i < count; i++) {
        samples[i].sample = 0;
        for (uint32_t k = 0; k < count; k++)
            samples[i].sample += weights[k] > weights[i] || (weights[k] == weights[i] && k > i);
    }
}

/* ---- the case ---- */

static void write_stacks(uint32_t sample_count, uint64_t suspend_ns, uint64_t late_ns)
{
    cap_crash_record_begin(RECORD_KIND_HANG, all->threads[0].id, NULL, RECORD_HOOK_HEARTBEAT);
    cap_crash_record_modules();
    for (uint32_t rank = 0; rank < sample_count; rank++)
        for (uint32_t i = 0; i < sample_count; i++)
            if (samples[i].sample == rank)
                cap_crash_record_stack(&samples[i]);
    cap_crash_record_timing(RECORD_STAGE_WALK, CAP_WALKER_FIRST, samples[sample_count - 1].walk_ns,
                            0);
    cap_crash_record_timing(RECORD_STAGE_SUSPEND, 0, suspend_ns, 0);
    cap_crash_record_timing(RECORD_STAGE_HANG_FOUND, 0, late_ns, 0);
    if (rescued)
        cap_crash_record_timing(RECORD_STAGE_RESCUED, CAP_WALKER_FIRST, rescued_after_ns, 0);
    cap_crash_record_code_map();
    cap_crash_record_threads(all->threads, all->count);
    for (uint32_t i = 1; i < all->count && i < HANG_THREADS; i++)
        if (was_walked[i])
            cap_crash_record_stack(&walks[i]);
}

static uint32_t sample_target(void)
{
    const uint32_t wanted = cap.options.hang_samples;
    return wanted == 0                       ? (uint32_t)CAP_HANG_SAMPLES
           : wanted <= CAP_HANG_SAMPLES_MOST ? wanted
                                             : (uint32_t)CAP_HANG_SAMPLES_MOST;
}

/* The suspect is stopped, and copied on x64. STOPS->copy_ns is set; sets the time of the walk. */
static void walk_all(uint32_t sample_count, uint64_t start_ns, struct cap_stops *stops)
{
    ResetEvent(cap.walked);
    rescued = 0;
    for (uint32_t i = 0; i < HANG_THREADS; i++)
        was_walked[i] = false;
    walking_since_ns = cap_crash_now_ns();
    const bool guarded = cap_crash_start(CAP_RUNNER_WALK, rescue, NULL);
    walk_thread(0, &samples[sample_count - 1]);
    stops->rtl_ns = cap_crash_now_ns() - start_ns;
    for (uint32_t i = 1; i < all->count && i < HANG_THREADS && !rescued; i++) {
        was_walked[i] = stop_thread(i);
        let_run(i);
        if (was_walked[i])
            walk_thread(i, &walks[i]);
    }
    if (!cap.options.offsets_only && !rescued)
        cap_crash_stop_from(HANG_THREADS); /* running, they could take what the dump needs */
    SetEvent(cap.walked);
    if (guarded)
        (void)cap_crash_finish(CAP_RUNNER_WALK, CAP_WALK_LIMIT_MS);
}

/* Other walkers and the dump, all in the same suspension. */
static void take_suspended(const struct cap_subject *subject, uint64_t start_ns,
                           struct cap_stops *stops)
{
    if (!rescued)
        cap_crash_cheap_walkers(subject);
    cap_crash_dump(subject, false, cap_crash_dump_limit_ms());
    stops->dump_ns = cap_crash_now_ns() - start_ns;
    if (!rescued)
        cap_crash_late_walkers(subject);
    cap_crash_let_all_go();
    (void)cap_crash_free_snapshot(all->threads[0].handle);
}

/* Stops the threads a second time, because a thread that runs on would make the two dumps
 * incomparable, and so would a longer first stop. */
static void take_tuned(const struct cap_subject *subject)
{
    uint64_t start_ns = 0;
    int tries = 0;
    do {
        cap_crash_hold_locks(0);
        start_ns = cap_crash_now_ns();
        for (uint32_t i = 0; i < all->count && i < HANG_THREADS; i++)
            (void)stop_thread(i);
        cap_crash_stop_from(HANG_THREADS);
    } while (!cap_crash_may_write(rescued, &tries));
    struct cap_subject locked = *subject;
    locked.has_locks = all->has_locks;
    const bool written = cap_crash_dump(&locked, true, cap_crash_dump_limit_ms());
    const uint64_t stopped_ns = cap_crash_now_ns() - start_ns;
    cap_crash_let_all_go();
    if (written)
        cap_crash_record_timing(RECORD_STAGE_STOP_TUNED, 0, stopped_ns, 0);
}

/* The last sample, from which record and dump are made: all threads are stopped and walked. */
static void take_stopped(uint32_t sample_count, uint64_t start_ns, uint64_t late_ns,
                         struct cap_stops *stops)
{
    rank_samples(sample_count);
    write_stacks(sample_count, stops->copy_ns, late_ns);
    struct cap_subject subject = {
        .seed = &contexts[0],
        .thread = all->threads[0].handle,
        .thread_id = all->threads[0].id,
        .sample = samples[sample_count - 1].sample,
        .bounds = all->threads[0].bounds,
        .is_suspended = true,
        .has_locks = all->has_locks,
        .no_backtrace = "walks only its own thread",
    };
    if (!cap.options.offsets_only)
        take_suspended(&subject, start_ns, stops);
    cap_crash_record_stops(stops, sample_count, all->left_suspended);
    cap_crash_record_captures();
    if (cap.options.tuned_dump && !cap.options.offsets_only)
        take_tuned(&subject);
}

/* ---- which hangs are captured ---- */

/* Of a hang at NOW_NS: whether it is within the rate of the host, and then counts.  Each hang takes
 * its share of an hour; as many as an hour has may come at once. */
static bool is_within_rate(uint64_t now_ns)
{
    enum { HANGS_PER_HOUR = 6 };
    static const uint64_t HOUR_NS = 3600ull * 1000000000u;
    static uint64_t paid_until_ns;
    const uint32_t most =
        cap.options.hangs_per_hour != 0 ? cap.options.hangs_per_hour : (uint32_t)HANGS_PER_HOUR;
    const uint64_t share_ns = HOUR_NS / most;
    const uint64_t from_ns = paid_until_ns > now_ns ? paid_until_ns : now_ns;
    if (from_ns - now_ns + share_ns > HOUR_NS)
        return false;
    paid_until_ns = from_ns + share_ns;
    return true;
}

/* A thread that has ended sends no heartbeats; that is not a hang. */
static bool nobody_there(int64_t beat_ns)
{
    InterlockedCompareExchange64(&cap.beat_ns, 0, beat_ns);
    return false;
}

/* False: the thread continued, so it was not a hang, or it is gone. */
static bool sample_suspect(uint32_t suspect_id, uint32_t count, int64_t beat_ns)
{
    if (!cap_crash_list_threads(suspect_id))
        return nobody_there(beat_ns);
    cap_crash_try_unwind_data();
    for (uint32_t i = 0; i < count; i++) {
        if (!look_at_suspect(&samples[i]))
            return nobody_there(beat_ns);
        Sleep(CAP_SAMPLE_PAUSE_MS);
        if (cap.beat_ns != beat_ns)
            return false;
    }
    return true;
}

static bool stop_and_take(uint32_t suspect_id, uint32_t sample_count, int64_t beat_ns,
                          uint64_t late_ns)
{
    struct cap_stops stops;
    uint64_t start_ns = 0;
    int tries = 0;
    all->left_suspended = 0;
    do {
        if (!cap_crash_list_threads(suspect_id)) /* threads that started or ended meanwhile */
            return nobody_there(beat_ns);
        if (!stop_suspect(!cap.options.offsets_only, &start_ns) || cap.beat_ns != beat_ns) {
            cap_crash_let_all_go();
            return false;
        }
        stops = (struct cap_stops){.copy_ns = cap_crash_now_ns() - start_ns};
        let_run(0);
        walk_all(sample_count, start_ns, &stops);
    } while (!cap_crash_may_write(rescued, &tries));
    take_stopped(sample_count, start_ns, late_ns, &stops);
    return true;
}

static void limit_files(void *unused)
{
    (void)unused;
    cap_files_limit();
}

/* The program goes on.  Listing a folder needs the heap, which another thread may hold. */
static void go_on_with_other_files(void)
{
    enum { LIMIT_MS = 5000 };
    cap_crash_files_switch();
    if (cap_crash_heap_is_free(CAP_WALK_LIMIT_MS))
        (void)cap_crash_run(CAP_RUNNER_WALK, limit_files, NULL, LIMIT_MS);
}

/* The files for what comes after the hang are opened before it is captured: the crash always has
 * some.  False: no hang, or not captured. */
static bool take_hang(int64_t beat_ns, uint64_t late_ns)
{
    const uint32_t suspect_id = (uint32_t)cap.watched_id, sample_count = sample_target();
    const bool goes_on = !cap.options.end_after_hang;
    if (!sample_suspect(suspect_id, sample_count - 1, beat_ns))
        return false;
    if (goes_on && (!is_within_rate(cap_crash_now_ns()) || !cap_crash_files_prepare())) {
        seen_beat_ns = beat_ns;
        return false;
    }
    const bool taken = stop_and_take(suspect_id, sample_count, beat_ns, late_ns);
    if (taken)
        seen_beat_ns = beat_ns;
    if (goes_on && taken)
        go_on_with_other_files();
    else if (goes_on)
        cap_crash_files_discard();
    if (taken)
        InterlockedIncrement(&cap.hang_count);
    return taken;
}

void cap_hang_check(void)
{
    const int64_t beat_ns = cap.beat_ns;
    const int64_t late_ns =
        (int64_t)cap_crash_now_ns() - beat_ns - (int64_t)cap.options.hang_ms * 1000000;
    if (cap.options.hang_ms == 0 || beat_ns == 0 || beat_ns == seen_beat_ns || late_ns < 0)
        return;
    ResetEvent(cap.hang_over);
    if (InterlockedCompareExchange(&cap.crash.claimed_by, CAP_CLAIMED_BY_HANG, CAP_OPEN) !=
        CAP_OPEN)
        return; /* a crash came first */
    const bool taken = take_hang(beat_ns, (uint64_t)late_ns);
    cap_crash_close_threads();
    if (taken && cap.options.end_after_hang)
        TerminateProcess(GetCurrentProcess(), CAPTURE_EXIT_HANG);
    InterlockedExchange(&cap.crash.claimed_by, CAP_OPEN);
    SetEvent(cap.hang_over);
}

void capture_heartbeat(void)
{
    if (cap_outside_beat() || !cap.installed)
        return;
    if (cap.watched_id == 0)
        cap.watched_id = (LONG)GetCurrentThreadId();
    cap.beat_ns = (LONG64)cap_crash_now_ns();
}

void capture_heartbeat_pause(void)
{
    if (!cap_outside_pause())
        cap.beat_ns = 0;
}
