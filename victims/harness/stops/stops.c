/* twinstack-stops WALKER TARGET COUNT: suspends a busy thread again and again, walks it, resumes
 * it, and measures how long it was suspended and how often the walker waited for a lock that the
 * thread held.  Prints one line of JSON.
 *
 * The rules are those of on_hang.c: this thread is the only one that suspends others, runs none of
 * the target's code, and while the target is suspended neither allocates nor takes a lock.  `rtl`
 * walks a copy of the thread's stack after it was resumed; before each of its stops, the thread is
 * suspended and resumed once without a copy, for comparison.  Walkers
 * that may wait run on a runner under a time limit, the others with a rescuer waiting.  `watcher`
 * walks a process of its own from outside.  See tests/bench/bench_stops.py.
 *
 * twinstack-stops held WHO FOLDER: see held.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "capture/cap.h"
#include "victims/harness/stops/targets.h"

#include <dbghelp.h>

enum {
    EXIT_USAGE = 2,
    EXIT_NOT_STARTED = 3,
    COUNT_MOST = 100000,
    LIMIT_MS = CAP_WALK_LIMIT_MS, /* as in a capture; on a busy machine dbghelp needs much of it */
    FREE_MS = 5000,               /* a rescued walker returns */
    PAUSE_US = 200,               /* maximum pause between two stops */
    NAME_UNITS = 32,
    START_LIMIT_MS = 60000,
};

/* dbghelp on a process of its own, as the watcher walks. */
#define OUTSIDE "watcher"

static HANDLE started; /* set by the target when it begins */

struct bench {
    const struct cap_walker *walker;
    const char *name; /* the walker's, or OUTSIDE */
    bool outside;     /* of another process       */
    bool copies;      /* walks a copy, after the thread was resumed */
    HANDLE thread;
    struct cap_bounds bounds;
    CONTEXT context;
    struct cap_walk walk;
    volatile LONG rescued;
    struct cap_copy copy;
    uint32_t count, walks, blocked, gone, early, left_suspended;
    uint64_t *stops_ns, *walks_ns, *bare_ns, *copies_ns, *copied_bytes; /* of each walk */
};

/* ---- one walk of the suspended thread ---- */

static void rescue(void *argument)
{
    struct bench *b = argument;
    if (WaitForSingleObject(cap.walked, LIMIT_MS) == WAIT_OBJECT_0)
        return;
    InterlockedExchange(&b->rescued, 1);
    ResumeThread(b->thread);
}

static void run_walk(void *argument)
{
    struct bench *b = argument;
    if (b->copies)
        cap_crash_walk_copy(&b->copy, &b->walk);
    else
        b->walker->walk(&b->context, b->thread, b->bounds, false, &b->walk);
}

/* From outside no lock of the target can stop the walk. */
static bool may_wait(const struct bench *b)
{
    return (b->walker->traits & RECORD_WALKER_TRAIT_WAITS) != 0 && !b->outside;
}

/* Returns false when the walk had to be abandoned. */
static bool walk_in_time(struct bench *b)
{
    if (may_wait(b))
        return cap_crash_run(CAP_RUNNER_WALK, run_walk, b, LIMIT_MS);
    run_walk(b);
    return !b->rescued;
}

static bool wait_for_runner(void)
{
    for (int i = 0; i < FREE_MS && cap_crash_busy(CAP_RUNNER_WALK); i++)
        Sleep(1);
    return !cap_crash_busy(CAP_RUNNER_WALK);
}

/* Lets the target run to another place. */
static void pause_a_little(uint32_t turn)
{
    const uint64_t until_ns = cap_crash_now_ns() + turn * 7919u % PAUSE_US * 1000u;
    while (cap_crash_now_ns() < until_ns)
        PAUSE();
}

static void resume(struct bench *b, DWORD before)
{
    if (!b->rescued && before != (DWORD)-1 && ResumeThread(b->thread) != before + 1)
        b->left_suspended++;
}

/* What a stop costs that only reads the registers. Half of them come before the other stop, half
 * after it. */
static uint64_t stop_barely(struct bench *b, uint32_t turn)
{
    pause_a_little(turn + 1);
    b->context.ContextFlags = CONTEXT_FULL;
    const uint64_t start_ns = cap_crash_now_ns();
    const DWORD before = SuspendThread(b->thread);
    if (before != (DWORD)-1)
        (void)GetThreadContext(b->thread, &b->context);
    resume(b, before);
    return cap_crash_now_ns() - start_ns;
}

/* Suspends, walks and resumes; returns how long the thread was suspended. */
static uint64_t stop_and_walk(struct bench *b, bool *stands, bool *done)
{
    b->context.ContextFlags = CONTEXT_FULL;
    const uint64_t start_ns = cap_crash_now_ns();
    const DWORD before = SuspendThread(b->thread);
    *stands = before != (DWORD)-1 && GetThreadContext(b->thread, &b->context);
    *done = *stands && walk_in_time(b);
    resume(b, before);
    return cap_crash_now_ns() - start_ns;
}

/* Suspends, copies and resumes, then walks the copy; returns how long the thread was suspended. */
static uint64_t stop_and_copy(struct bench *b, bool *stands, bool *done)
{
    const uint64_t start_ns = cap_crash_now_ns();
    const DWORD before = SuspendThread(b->thread);
    *stands = before != (DWORD)-1 && cap_crash_copy_thread(b->thread, b->bounds, &b->copy);
    resume(b, before);
    const uint64_t stop_ns = cap_crash_now_ns() - start_ns;
    *done = *stands && walk_in_time(b);
    return stop_ns;
}

/* Stops the thread once. False: the runner never returned. */
static bool stop_once(struct bench *b)
{
    const bool guarded = !may_wait(b);
    bool stands = false, done = false;
    b->rescued = 0;
    ResetEvent(cap.walked);
    if (guarded && !cap_crash_start(CAP_RUNNER_WALK, rescue, b))
        return false;
    cap_crash_walk_begin(&b->walk, RECORD_WALKER_RTL, 0);
    const uint64_t stop_ns =
        b->copies ? stop_and_copy(b, &stands, &done) : stop_and_walk(b, &stands, &done);
    SetEvent(cap.walked);
    if (!wait_for_runner())
        return false;
    b->blocked += stands && !done;
    b->gone += !stands;
    if (done) {
        b->early += b->walk.state != RECORD_STATE_OK || b->walk.stop != RECORD_STOP_END;
        b->copied_bytes[b->walks] = b->copy.bytes;
        b->copies_ns[b->walks] = b->copy.copy_ns;
        b->stops_ns[b->walks] = stop_ns;
        b->walks_ns[b->walks++] = b->walk.walk_ns;
    }
    return true;
}

/* ---- the run ---- */

static int by_size(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static uint64_t median(uint64_t *values, uint32_t count)
{
    qsort(values, count, sizeof *values, by_size);
    return count > 0 ? values[count / 2] : 0;
}

static void print_figures(struct bench *b, const char *target)
{
    const uint32_t n = b->walks;
    const uint64_t stop_ns = median(b->stops_ns, n);
    printf("{\"schema_version\":1,\"walker\":\"%s\",\"target\":\"%s\",\"stops\":%u,\"blocked\":%u,"
           "\"gone\":%u,\"ended_early\":%u,\"left_suspended\":%u,\"stop_median_ns\":%llu,"
           "\"stop_worst_ns\":%llu,\"walk_median_ns\":%llu",
           b->name, target, b->count, b->blocked, b->gone, b->early, b->left_suspended,
           (unsigned long long)stop_ns, n > 0 ? (unsigned long long)b->stops_ns[n - 1] : 0,
           (unsigned long long)median(b->walks_ns, n));
    if (b->copies)
        printf(",\"bare_median_ns\":%llu,\"copy_median_ns\":%llu,\"copied_median_bytes\":%llu",
               (unsigned long long)median(b->bare_ns, n),
               (unsigned long long)median(b->copies_ns, n),
               (unsigned long long)median(b->copied_bytes, n));
    printf("}\n");
}

static DWORD WINAPI run_target(void *argument)
{
    const struct stop_target *target = argument;
    SetEvent(started);
    return target->run(NULL);
}

/* Waits until the target has started: its start-up must not be measured. */
static bool wait_for_start(HANDLE thread_or_process)
{
    HANDLE either[2] = {started, thread_or_process};
    return WaitForMultipleObjects(2, either, FALSE, START_LIMIT_MS) == WAIT_OBJECT_0;
}

/* Starts the target in this process or, for the watcher, in one of its own. */
static bool start_target(struct bench *b, const struct stop_target *target, HANDLE *process)
{
    wchar_t path[1024], command[2048], name[NAME_UNITS];
    STARTUPINFOW startup = {.cb = sizeof startup};
    PROCESS_INFORMATION child;
    swprintf(name, NAME_UNITS, L"Local\\stops-%lu", GetCurrentProcessId());
    started = CreateEventW(NULL, TRUE, FALSE, name);
    if (!b->outside) {
        b->thread = CreateThread(NULL, 0, run_target, (void *)(uintptr_t)target, 0, NULL);
        return b->thread != NULL && wait_for_start(b->thread) &&
               cap_crash_thread_bounds(b->thread, &b->bounds);
    }
    if (GetModuleFileNameW(NULL, path, 1024) == 0)
        return false;
    swprintf(command, 2048, L"twinstack-stops target %hs %ls", target->name, name);
    if (!CreateProcessW(path, command, NULL, NULL, FALSE, 0, NULL, NULL, &startup, &child))
        return false;
    *process = child.hProcess;
    b->thread = child.hThread;
    cap.process = child.hProcess;
    SymSetOptions(SYMOPT_DEFERRED_LOADS);
    return wait_for_start(child.hProcess) && SymInitialize(child.hProcess, NULL, TRUE);
}

static int measure_stops(struct bench *b, const struct stop_target *target)
{
    wchar_t folder[MAX_PATH];
    HANDLE process = NULL;
    struct capture_options options = {
        .version = CAPTURE_VERSION, .size = sizeof options, .folder = folder};
    if (GetTempPathW(MAX_PATH - 32, folder) == 0)
        return EXIT_NOT_STARTED;
    swprintf(folder + wcslen(folder), 32, L"stops-%lu", GetCurrentProcessId());
    if ((!CreateDirectoryW(folder, NULL) && GetLastError() != ERROR_ALREADY_EXISTS) ||
        !capture_install(&options) || !start_target(b, target, &process)) {
        fprintf(stderr, "twinstack-stops: cannot start the target (error %lu)\n", GetLastError());
        return EXIT_NOT_STARTED;
    }
    bool ok = true;
    for (uint32_t i = 0; i < b->count && ok; i++) {
        const uint32_t walks = b->walks;
        const uint64_t bare_ns = b->copies && i % 2 == 0 ? stop_barely(b, i) : 0;
        pause_a_little(i);
        ok = stop_once(b);
        b->bare_ns[walks] = b->copies && i % 2 == 1 ? stop_barely(b, i) : bare_ns;
    }
    if (!ok)
        fprintf(stderr, "twinstack-stops: a walker never came back\n");
    else
        print_figures(b, target->name);
    fflush(stdout);
    if (process != NULL)
        TerminateProcess(process, 0);
    if (ok)
        capture_uninstall();
    RemoveDirectoryW(folder);
    TerminateProcess(GetCurrentProcess(), ok ? 0 : 1);
    return 1;
}

/* A walker that walks its own thread cannot walk a suspended one. */
static bool can_walk(const struct cap_walker *walker)
{
    return (walker->traits & RECORD_WALKER_TRAIT_OWN_THREAD) == 0;
}

static void choose_walker(struct bench *b, const char *name)
{
    b->outside = strcmp(name, OUTSIDE) == 0;
    for (uint32_t i = 1; i < RECORD_WALKER_COUNT; i++)
        if (can_walk(&cap_walkers[i]) && strcmp(cap_walkers[i].name, name) == 0)
            b->walker = &cap_walkers[i];
    if (b->walker != NULL)
        b->name = b->walker->name;
    if (b->outside) {
        b->walker = &cap_walkers[RECORD_WALKER_DBGHELP];
        b->name = OUTSIDE;
    }
    b->copies = b->walker == &cap_walkers[RECORD_WALKER_RTL];
}

static int print_usage(void)
{
    fprintf(stderr, "usage: twinstack-stops ");
    for (uint32_t i = 1; i < RECORD_WALKER_COUNT; i++)
        if (can_walk(&cap_walkers[i]))
            fprintf(stderr, "%s|", cap_walkers[i].name);
    fprintf(stderr, OUTSIDE " heap|loader|dbghelp|stdio|exceptions|calls|deep|tables COUNT\n"
                            "       twinstack-stops held a-while|for-good|crash FOLDER\n");
    return EXIT_USAGE;
}

int wmain(int argc, wchar_t **argv)
{
    static struct bench b;
    char walker[NAME_UNITS], name[NAME_UNITS];
    if (argc == 4 && wcscmp(argv[1], L"held") == 0)
        return stop_held(argv[2], argv[3]);
    if (argc == 4 && wcscmp(argv[1], L"target") == 0) {
        snprintf(name, sizeof name, "%ls", argv[2]);
        const struct stop_target *mine = stop_target_find(name);
        started = OpenEventW(EVENT_MODIFY_STATE, FALSE, argv[3]);
        return mine != NULL ? (int)run_target((void *)(uintptr_t)mine) : EXIT_USAGE;
    }
    if (argc == 4) {
        snprintf(walker, sizeof walker, "%ls", argv[1]);
        snprintf(name, sizeof name, "%ls", argv[2]);
        choose_walker(&b, walker);
        b.count = (uint32_t)wcstoul(argv[3], NULL, 10);
    }
    const struct stop_target *target = argc == 4 ? stop_target_find(name) : NULL;
    if (b.walker == NULL || target == NULL || b.count == 0 || b.count > COUNT_MOST)
        return print_usage();
    static ALIGNED(16) uint8_t room[CAP_COPY_BYTES];
    uint64_t *figures = calloc(b.count + 1, 5 * sizeof *figures);
    if (figures == NULL)
        return EXIT_NOT_STARTED;
    b.copy.memory = room;
    b.stops_ns = figures;
    b.walks_ns = figures + b.count + 1;
    b.bare_ns = figures + 2 * (b.count + 1);
    b.copied_bytes = figures + 3 * (b.count + 1);
    b.copies_ns = figures + 4 * (b.count + 1);
    return measure_stops(&b, target);
}
