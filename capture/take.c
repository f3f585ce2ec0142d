/* The part that crashes and hangs share once the suspect's `rtl` stack is on disk: the other
 * walkers, each with its own section and time limit, and the dumps.
 *
 * dbghelp's walkers come after the dumps: dbghelp serves one thread at a time, so an abandoned
 * walker would still be in it, hold its locks and block the dump.  A walker that may wait for a
 * lock of the suspended thread also comes after the dumps. */
#include "capture/cap.h"

enum { PROBE_MS = 2000, LOCKS_MS = 200 };

struct walk_job {
    cap_walk_fn *walk;
    struct cap_subject subject;
    struct cap_walk *out;
};

/* Static, one per walker: an abandoned walker may still be writing to its own. */
static struct cap_walk walks[RECORD_WALKER_COUNT];
static struct walk_job walk_jobs[RECORD_WALKER_COUNT];

static void run_walk(void *argument)
{
    const struct walk_job *job = argument;
    const struct cap_subject *from = &job->subject;
    job->walk(from->seed, from->thread, from->bounds, from->seed_is_return, job->out);
}

static void write_walk(const struct cap_subject *subject, struct cap_walk *walk)
{
    walk->sample = subject->sample;
    cap_crash_record_stack(walk);
    if (walk->state == RECORD_STATE_OK)
        cap_crash_record_timing(RECORD_STAGE_WALK, walk->walker, walk->walk_ns, 0);
}

static void write_blocked(const struct cap_subject *subject, uint32_t walker, const char *reason)
{
    static struct cap_walk blocked;
    cap_crash_walk_begin(&blocked, walker, subject->thread_id);
    cap_crash_walk_not(&blocked, RECORD_STATE_BLOCKED, reason);
    write_walk(subject, &blocked);
}

static bool wanted(uint32_t walker)
{
    return cap.options.walkers == 0 || (cap.options.walkers & 1u << walker) != 0;
}

static bool has(uint32_t walker, uint32_t trait)
{
    return (cap_walkers[walker].traits & trait) != 0;
}

static void walk_on_runner(const struct cap_subject *subject, uint32_t walker)
{
    struct walk_job *job = &walk_jobs[walker];
    const bool asks_runtime = has(walker, RECORD_WALKER_TRAIT_MANAGED);
    const bool own_thread =
        has(walker, RECORD_WALKER_TRAIT_OWN_THREAD) || (asks_runtime && !subject->is_suspended);
    if (asks_runtime && subject->is_suspended &&
        !((subject->has_locks || cap_crash_heap_is_free(LOCKS_MS)) &&
          cap_crash_unwind_data_is_free(LOCKS_MS))) {
        write_blocked(subject, walker, "snapshot refused: a stopped thread holds what it needs");
        return;
    }
    const enum cap_runner runner = own_thread           ? CAP_RUNNER_CRASHED
                                   : subject->has_locks ? CAP_RUNNER_LOCKED
                                                        : CAP_RUNNER_WALK;
    if (cap_crash_busy(runner)) { /* its job is that of an earlier walk, maybe by this walker */
        write_blocked(subject, walker, "a walk before it has not come back");
        return;
    }
    *job = (struct walk_job){cap_walkers[walker].walk, *subject, &walks[walker]};
    cap_crash_walk_begin(job->out, walker, subject->thread_id);
    if (own_thread && !subject->can_run)
        cap_crash_walk_not(job->out, RECORD_STATE_NOT_APPLICABLE, subject->no_backtrace);
    else if (!cap_crash_run(runner, run_walk, job, CAP_WALK_LIMIT_MS)) {
        write_blocked(subject, walker,
                      asks_runtime ? "snapshot refused: no answer in time" : "no answer in time");
        return;
    }
    write_walk(subject, job->out);
}

static void walk_here(const struct cap_subject *subject, uint32_t walker)
{
    struct cap_walk *out = &walks[walker];
    cap_crash_walk_begin(out, walker, subject->thread_id);
    cap_walkers[walker].walk(subject->seed, subject->thread, subject->bounds,
                             subject->seed_is_return, out);
    write_walk(subject, out);
}

/* `rtl` has walked before; the samples of a hang are walks of the first walker. */
static bool has_walked(const struct cap_subject *subject, uint32_t walker)
{
    return walker == RECORD_WALKER_RTL ||
           (walker == CAP_WALKER_FIRST && subject->exception == NULL);
}

/* True when the walker runs after the dumps. */
static bool is_late(const struct cap_subject *subject, uint32_t walker)
{
    return has(walker, RECORD_WALKER_TRAIT_DBGHELP | RECORD_WALKER_TRAIT_SUSPENDED) ||
           (has(walker, RECORD_WALKER_TRAIT_MANAGED) && subject->is_suspended);
}

/* A crashed thread is not suspended: it waits in a hook.  A thread whose stack was copied may run.
 */
static bool applies(const struct cap_subject *subject, uint32_t walker)
{
    if (has(walker, RECORD_WALKER_TRAIT_MANAGED))
        return cap_managed.snapshot != NULL && (subject->is_suspended || subject->can_run);
    return subject->is_suspended || !has(walker, RECORD_WALKER_TRAIT_SUSPENDED);
}

void cap_crash_cheap_walkers(const struct cap_subject *subject)
{
    for (uint32_t i = 1; i < RECORD_WALKER_COUNT; i++) {
        if (!wanted(i) || has_walked(subject, i) || !applies(subject, i) || is_late(subject, i))
            continue;
        if (has(i, RECORD_WALKER_TRAIT_WAITS))
            walk_on_runner(subject, i);
        else
            walk_here(subject, i);
    }
}

/* A dump that was given up is. */
static bool is_in_dbghelp(const struct cap_subject *subject)
{
    const enum cap_runner dump = subject->has_locks ? CAP_RUNNER_LOCKED : CAP_RUNNER_DUMP;
    return (cap_crash_busy(dump) && !cap_crash_waits_for_locks()) ||
           cap_crash_busy(CAP_RUNNER_CRASHED);
}

void cap_crash_late_walkers(const struct cap_subject *subject)
{
    for (uint32_t i = 1; i < RECORD_WALKER_COUNT; i++) {
        if (!wanted(i) || !applies(subject, i) || !is_late(subject, i))
            continue;
        if (is_in_dbghelp(subject))
            write_blocked(subject, i, "the dump is still in dbghelp");
        else
            walk_on_runner(subject, i);
    }
}

/* ---- dumps ---- */

uint32_t cap_crash_dump_limit_ms(void)
{
    return cap.options.dump_limit_ms != 0 ? cap.options.dump_limit_ms : (uint32_t)CAP_DUMP_LIMIT_MS;
}

static struct dump_job {
    struct cap_subject subject;
    bool tuned;
    volatile LONG why_not; /* RECORD_NO_DUMP_*; 0: it is written */
    uint64_t bytes, ns;
} dump_jobs[2] = {{.tuned = false}, {.tuned = true}};

/* The list of modules must not change while it is read: Wine's EnumProcessModules, which the writer
 * calls, reads that of its own process without the lock, and so through entries of modules that
 * are being unloaded. A stopped thread that waits for the lock keeps it from being tried, but not
 * from being taken. */
static void run_dump(void *argument)
{
    struct dump_job *job = argument;
    const struct cap_subject *of = &job->subject;
    HANDLE file = job->tuned ? cap.dump_tuned : cap.dump;
    const bool is_safe = of->exception == NULL || of->has_locks;
    uintptr_t cookie = 0;
    const bool is_locked = !is_safe && cap_crash_try_loader(&cookie);
    if (!is_safe && !is_locked && !of->is_alone) {
        InterlockedExchange(&job->why_not, RECORD_NO_DUMP_LOADER);
        return;
    }
    const uint32_t why_not =
        cap_dump_write(file, of->exception, of->thread_id, job->tuned, &job->bytes, &job->ns);
    if (is_locked)
        cap_crash_unlock_loader(cookie);
    InterlockedExchange(&job->why_not, (LONG)why_not);
}

/* MiniDumpWriteDump stops every other thread, the monitor too, and then needs the loader
 * lock: if a suspended thread holds it, no time limit of ours would ever fire.  The same
 * goes for the heap.  Running threads hold it for a moment each time one starts, so it is tried for
 * WAIT_MS. */
static bool loader_lock_is_free(uint32_t wait_ms)
{
    enum { PAUSE_MS = 5 };
    for (uint32_t waited_ms = 0;; waited_ms += PAUSE_MS) {
        uintptr_t cookie = 0;
        if (cap_crash_try_loader(&cookie)) {
            cap_crash_unlock_loader(cookie);
            return true;
        }
        if (waited_ms >= wait_ms)
            return false;
        Sleep(PAUSE_MS);
    }
}

static void try_loader(void *is_free)
{
    InterlockedExchange(is_free, loader_lock_is_free(0));
}

/* A thread that crashed in a DllMain holds the lock itself, and writes the dump itself. */
static bool crashed_thread_has_loader(const struct cap_subject *subject)
{
    static volatile LONG is_free;
    return subject->can_run && subject->exception != NULL &&
           cap_crash_run(CAP_RUNNER_CRASHED, try_loader, (void *)&is_free, PROBE_MS) && is_free;
}

/* Whether the dump would wait for a lock: 0, or RECORD_NO_DUMP_*. */
static uint32_t try_locks(const struct cap_subject *subject)
{
    const uint32_t wait_ms =
        subject->exception != NULL ? LOCKS_MS : 0; /* a hang: all threads are suspended */
    if (!loader_lock_is_free(wait_ms) && !crashed_thread_has_loader(subject))
        return RECORD_NO_DUMP_LOADER;
    /* A walker that missed its limit must not cost the dump: its runner may be late, not stuck. */
    if (!cap_crash_wait_idle(CAP_RUNNER_WALK, PROBE_MS))
        return RECORD_NO_DUMP_WALKER;
    return cap_crash_heap_is_free(PROBE_MS) ? 0 : RECORD_NO_DUMP_HEAP;
}

/* As the article does it: on the crashed thread, if that still has a stack. */
static enum cap_runner dump_runner(const struct cap_subject *subject)
{
    if (subject->has_locks)
        return CAP_RUNNER_LOCKED;
    return subject->can_run && cap_crash_wait_idle(CAP_RUNNER_CRASHED, PROBE_MS)
               ? CAP_RUNNER_CRASHED
               : CAP_RUNNER_DUMP;
}

/* 0: there is a dump; else why not, RECORD_NO_DUMP_*. */
static uint32_t try_dump(const struct cap_subject *subject, struct dump_job *job, uint32_t limit_ms)
{
    const uint32_t why_not = subject->has_locks || subject->is_alone ? 0 : try_locks(subject);
    if (why_not != 0)
        return why_not;
    if (!cap_crash_search_is_free(PROBE_MS))
        return RECORD_NO_DUMP_LOADER;
    const enum cap_runner runner = dump_runner(subject);
    if (!cap_crash_wait_idle(runner, PROBE_MS)) /* an earlier dump's, which still has the job */
        return RECORD_NO_DUMP_LIMIT;
    *job = (struct dump_job){
        .subject = *subject, .tuned = job->tuned, .why_not = RECORD_NO_DUMP_WRITER};
    if (!cap_crash_run(runner, run_dump, job, limit_ms))
        return cap_crash_busy(runner) ? RECORD_NO_DUMP_LIMIT : RECORD_NO_DUMP_WRITER;
    return (uint32_t)job->why_not;
}

/* A program may use the loader all the time: its threads are stopped while they do not. */
static uint32_t try_dump_alone(const struct cap_subject *subject, struct dump_job *job,
                               uint32_t limit_ms)
{
    struct cap_subject alone = *subject;
    alone.is_alone = cap_crash_stop_others(subject->thread_id);
    const uint32_t why_not =
        alone.is_alone ? try_dump(&alone, job, limit_ms) : (uint32_t)RECORD_NO_DUMP_LOADER;
    cap_crash_resume_all();
    return why_not;
}

bool cap_crash_dump(const struct cap_subject *subject, bool tuned, uint32_t limit_ms)
{
    struct dump_job *job = &dump_jobs[tuned];
    if (cap.options.offsets_only)
        return false;
    const uint64_t start_ns = cap_crash_now_ns();
    uint32_t why_not = try_dump(subject, job, limit_ms);
    if (why_not == RECORD_NO_DUMP_LOADER && subject->exception != NULL)
        why_not = try_dump_alone(subject, job, limit_ms);
    if (why_not != 0) {
        cap_crash_record_timing(RECORD_STAGE_NO_DUMP, why_not, cap_crash_now_ns() - start_ns, 0);
        return false;
    }
    *(tuned ? &cap.dump_tuned_bytes : &cap.dump_bytes) = job->bytes;
    cap_crash_record_timing(tuned ? RECORD_STAGE_DUMP_TUNED : RECORD_STAGE_DUMP_WRITE, 0, job->ns,
                            job->bytes);
    return true;
}
