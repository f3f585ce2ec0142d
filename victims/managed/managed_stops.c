/* managed-stops PHASE COUNT [MODE]: stops a thread in managed code again and again and takes its
 * stack in four ways: `copy`, our walk of a copy of the stack, after the thread was resumed;
 * `in-place`, the same walk while the thread is suspended; `seeded`, the runtime's snapshot of a
 * thread that we suspended, from the first managed frame; `plain`, its snapshot of the running
 * thread.  Prints one line of JSON for each, or for MODE alone.
 *
 * A stack is right when its methods of managed.dll are, from the outermost on, the phase's own and
 * those that it calls one after the other, up to the one that the thread was stopped in, if it is
 * one of these.  One that ends with a reason (refused, hijacked, ended) is counted apart: only
 * `wrong` names frames that are not there or lacks some without a reason.  What may wait runs on a
 * runner under a time limit, as in a capture: the runtime is not asked about a thread that holds
 * what it needs (`held`, also refused), and the capture frees a snapshot that waits (`blocked`).
 * `copy` prints times of suspension, too: see tests/bench/bench_managed.py.
 *
 * The phase `Dying` starts COUNT threads, each of which walks itself in managed code and ends; its
 * stack is taken in one of these ways meanwhile, `plain` again and again.  In `Heap`, the thread
 * holds the heap half of the time.  In `NoCaller` it runs native code with a return address of 0,
 * far from where its stack starts; in `Flags` it is 0x202, as where the flags were pushed. */
#undef main /* of victim.c, whose services are used */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/cap.h"
#include "capture/profiler/profiler.h"
#include "victims/managed/runtime_host.h"

enum {
    COUNT_MOST = 100000,
    BLOCKING_MOST = 200, /* each that blocks waits for LIMIT_MS */
    LIMIT_MS = CAP_WALK_LIMIT_MS,
    LOCKS_MS = 200, /* as in capture/take.c */
    PAUSE_US = 500,
    START_LIMIT_MS = 20000,
    SETTLE_MS = 300,
    DYING_TURNS = 61,
    STACKS_SHOWN = 3,
    CHAIN_MOST = 4,
    STACK_BYTES = 64 << 10, /* the phase runs on top of so much stack */
};

bool truth_start(void);

struct sampling {
    HANDLE thread;
    struct cap_thread target;
    struct cap_copy copy;
    struct cap_walk walk;
    CONTEXT context;
    cap_walk_fn *walker;
    uint32_t chain[CHAIN_MOST], chain_count; /* tokens: the phase and what it calls */
    uint32_t handler;    /* of these, whose handler runs on top of what threw; 0: none */
    uint64_t stopped_va; /* where the thread is; 0: it runs on */
    uint32_t right, refused, held, hijacked, ended, wrong, blocked, left_suspended;
    uint32_t too_early; /* of those that ended: far from the stack's start */
    uint32_t no_code;   /* of those that ended: with a frame where no code can be */
    uint64_t *stops_ns, *bare_ns, *copies_ns, *copied_bytes; /* of each sample of `copy` */
    int64_t *longer_ns;    /* stops_ns - bare_ns, which were taken in turns */
    uint32_t copies, gone; /* gone: ended before it was stopped */
};

static struct sampling s;
static managed_method phase;
static bool is_dying;
static uint64_t no_caller; /* 0, as a damaged stack may have it, or 0x202 */

/* Sets its own return address to one that is no caller. */
static int run_without_caller(int value)
{
    volatile int turns = value;
#if defined(_WIN64)
    CONTEXT context;
    DWORD64 base = 0, frame = 0;
    void *data = NULL;
    RtlCaptureContext(&context);
    RUNTIME_FUNCTION *function = RtlLookupFunctionEntry(context.Rip, &base, NULL);
    RtlVirtualUnwind(UNW_FLAG_NHANDLER, base, context.Rip, function, &context, &data, &frame, NULL);
    ((volatile uint64_t *)(uintptr_t)context.Rsp)[-1] = no_caller;
#endif
    for (;;)
        turns++;
}

static DWORD WINAPI run_phase(void *unused)
{
    (void)unused;
    volatile uint8_t used[STACK_BYTES];
    truth_thread("phase", true);
    for (volatile int i = 0; i < STACK_BYTES; i += 1024) /* volatile: all of it is kept */
        used[i] = 1;
    return (DWORD)(phase(0) + used[0]);
}

/* ---- one stack ---- */

static void run_walker(void *unused)
{
    (void)unused;
    s.walker(&s.context, s.thread, s.target.bounds, false, &s.walk);
}

/* Whether METHOD is one of managed.dll. */
static bool is_ours(const struct cap_method *method)
{
    const int module = method != NULL && method->ready && method->assembly != 0
                           ? cap_managed.assemblies[method->assembly - 1].module
                           : -1;
    return module >= 0 && strstr(cap.modules[module].path, "managed.dll") != NULL;
}

/* The token of the method of managed.dll at VA; 0: there is none. */
static uint32_t token_at(uint64_t va)
{
    const struct cap_method *method = cap_crash_method_at(va);
    return is_ours(method) ? method->token : 0;
}

/* Whether every method of managed.dll on the stack is one that has to be there, and none lacks. */
static bool is_chain(void)
{
    uint32_t found = 0, last = 0, i = s.walk.total < CAP_FRAMES ? s.walk.total : CAP_FRAMES;
    while (i-- > 0) {
        const struct cap_frame *frame = &s.walk.frames[i];
        const bool is_return = (frame->flags & RECORD_FRAME_RETURN) != 0;
        const uint32_t token = token_at(is_return ? frame->pc_va - 1 : frame->pc_va);
        if (token == 0)
            continue;
        last = token;
        if (found < s.chain_count && token == s.chain[found])
            found++;
        else if (found < 3 || token != s.handler)
            return false;
    }
    const uint32_t stopped_in = token_at(s.stopped_va);
    return found >= 2 && (stopped_in == 0 || stopped_in == last);
}

/* The first stacks of each kind that is not right, to find the cause by. */
static void print_stack(const char *as, uint32_t before)
{
    if (before >= STACKS_SHOWN || is_dying)
        return;
    fprintf(stderr, "%s: stop %u, frames %u, stack %llx to %llx, left at %llx\n", as, s.walk.stop,
            s.walk.total, (unsigned long long)s.copy.context.Rsp,
            (unsigned long long)s.target.bounds.high_va, (unsigned long long)s.walk.left_va);
    for (uint32_t i = 0; i < s.walk.total && i < CAP_FRAMES; i++) {
        const uint64_t pc = s.walk.frames[i].pc_va;
        const int module = cap_crash_module_at(pc);
        const struct cap_method *method = cap_crash_method_at(pc - 1);
        const char *path = module >= 0 ? cap.modules[module].path : "generated";
        const char *name = strrchr(path, '\\') != NULL ? strrchr(path, '\\') + 1 : path;
        fprintf(stderr, "  %u %llx %.*s+0x%llx token %x flags %x\n", i, (unsigned long long)pc,
                module >= 0 ? (int)(path + cap.modules[module].path_bytes - name) : 9, name,
                (unsigned long long)(pc - (module >= 0 ? cap.modules[module].base_va : 0)),
                method != NULL ? method->token : 0, s.walk.frames[i].flags);
    }
    fflush(stderr);
}

static bool has_frame_without_code(void)
{
    enum { LOWEST_CODE_VA = 0x10000 };
    uint32_t i = 0;
    while (i < s.walk.total && i < CAP_FRAMES && s.walk.frames[i].pc_va >= LOWEST_CODE_VA)
        i++;
    return i < s.walk.total && i < CAP_FRAMES;
}

static void judge(bool done)
{
    if (!done)
        s.blocked++;
    else if (s.walk.state != RECORD_STATE_OK)
        s.refused++;
    else if (is_chain())
        s.right++;
    else if (s.walk.stop == RECORD_STOP_HIJACKED)
        s.hijacked++;
    else if (s.walk.stop != RECORD_STOP_END && s.walk.stop != RECORD_STOP_RETURN_ZERO) {
        print_stack("ended", s.ended);
        s.ended++;
        s.too_early += s.walk.stop == RECORD_STOP_TOO_EARLY;
        s.no_code += has_frame_without_code();
    } else {
        print_stack("wrong", s.wrong);
        s.wrong++;
    }
}

/* Where a walk waits, to find the cause by: a copy, which is walked when the thread runs again. */
static ALIGNED(16) uint8_t waiting_room[CAP_COPY_BYTES];
static struct cap_copy waiting = {.memory = waiting_room};
static bool is_waiting;

static void copy_wait(void)
{
    HANDLE runner = OpenThread(THREAD_ALL_ACCESS, FALSE, cap.runner_ids[CAP_RUNNER_WALK]);
    struct cap_bounds bounds;
    if (runner == NULL || !cap_crash_thread_bounds(runner, &bounds))
        return;
    SuspendThread(runner);
    is_waiting = cap_crash_copy_thread(runner, bounds, &waiting);
    ResumeThread(runner);
    CloseHandle(runner);
}

static void print_wait(void)
{
    static struct cap_walk keep;
    if (!is_waiting)
        return;
    keep = s.walk;
    cap_crash_walk_begin(&s.walk, RECORD_WALKER_RTL, 0);
    cap_crash_walk_copy(&waiting, &s.walk);
    print_stack("waits", s.blocked + s.held);
    s.walk = keep;
    is_waiting = false;
}

/* Runs WALKER as the capture does. False: it did not answer in time. */
static bool run_in_time(void)
{
    if (cap_crash_run(CAP_RUNNER_WALK, run_walker, NULL, LIMIT_MS))
        return true;
    copy_wait();
    return false;
}

/* Nothing is suspended by us any more. False: the capture could not free the walk. */
static void finish(void)
{
    if (!cap_crash_free_snapshot(s.thread))
        s.left_suspended++;
    print_wait();
}

/* Each suspension by us is undone exactly once. A thread that has ended cannot be suspended. */
static bool suspended;

static void suspend(void)
{
    suspended = SuspendThread(s.thread) != (DWORD)-1;
}

static void resume(void)
{
    if (suspended && ResumeThread(s.thread) == (DWORD)-1)
        s.left_suspended++;
}

/* Whether the thread stays suspended; a collection suspends it for an instant only. */
static uint32_t is_left_suspended(void)
{
    for (int i = 0; i < 200; i++) {
        const DWORD before = SuspendThread(s.thread);
        (void)ResumeThread(s.thread);
        if (before == 0)
            return 0;
        Sleep(5);
    }
    return 1;
}

static void take_plain(void)
{
    cap_crash_walk_begin(&s.walk, RECORD_WALKER_SNAPSHOT, s.target.id);
    s.walker = cap_walk_snapshot;
    s.stopped_va = 0;
    const bool done = run_in_time();
    finish();
    judge(done);
}

enum answer { ANSWERED, HELD, BLOCKED, GONE };

/* Of the thread, which is suspended. */
static enum answer walk_suspended(uint32_t number, cap_walk_fn *walker)
{
    const bool asks_runtime = walker == cap_walk_snapshot_seeded;
    if (!suspended || !GetThreadContext(s.thread, &s.context))
        return GONE;
    s.stopped_va = s.context.Rip;
    if (asks_runtime &&
        !(cap_crash_heap_is_free(LOCKS_MS) && cap_crash_unwind_data_is_free(LOCKS_MS))) {
        copy_wait();
        return HELD;
    }
    cap_crash_walk_begin(&s.walk, number, s.target.id);
    s.walker = walker;
    return run_in_time() ? ANSWERED : BLOCKED;
}

static void take_suspended(uint32_t number, cap_walk_fn *walker)
{
    suspend();
    s.context.ContextFlags = CONTEXT_FULL;
    const enum answer answer = walk_suspended(number, walker);
    resume();
    finish();
    if (answer == HELD) {
        s.held++;
        s.refused++;
    } else if (answer == GONE) {
        s.gone++;
    } else {
        judge(answer == ANSWERED);
    }
}

static void take_seeded(void)
{
    take_suspended(RECORD_WALKER_SNAPSHOT_SEEDED, cap_walk_snapshot_seeded);
}

static void take_in_place(void)
{
    take_suspended(RECORD_WALKER_RTL_SUSPENDED, cap_walk_rtl_suspended);
}

static void pause_a_little(uint32_t turn)
{
    const uint64_t until_ns = cap_crash_now_ns() + turn * 7919u % PAUSE_US * 1000u;
    while (cap_crash_now_ns() < until_ns)
        SwitchToThread();
}

/* What a suspension takes that only reads the registers. Half of them come before the other, half
 * after it. */
static uint64_t stop_barely(void)
{
    pause_a_little(s.copies + 1);
    const uint64_t start_ns = cap_crash_now_ns();
    suspend();
    s.context.ContextFlags = CONTEXT_FULL;
    (void)GetThreadContext(s.thread, &s.context);
    resume();
    return cap_crash_now_ns() - start_ns;
}

static void take_copy(void)
{
    const uint64_t bare_ns = s.copies % 2 == 0 ? stop_barely() : 0;
    pause_a_little(s.copies);
    cap_crash_walk_begin(&s.walk, RECORD_WALKER_RTL, s.target.id);
    const uint64_t start_ns = cap_crash_now_ns();
    suspend();
    const bool is_there = suspended && cap_crash_copy_thread(s.thread, s.target.bounds, &s.copy);
    resume();
    s.stops_ns[s.copies] = cap_crash_now_ns() - start_ns;
    s.copies_ns[s.copies] = s.copy.copy_ns;
    s.copied_bytes[s.copies] = s.copy.bytes;
    if (is_there)
        cap_crash_walk_copy(&s.copy, &s.walk);
    s.bare_ns[s.copies] = s.copies % 2 == 1 ? stop_barely() : bare_ns;
    s.longer_ns[s.copies] = (int64_t)(s.stops_ns[s.copies] - s.bare_ns[s.copies]);
    s.copies++;
    s.stopped_va = s.copy.context.Rip;
    if (is_there)
        judge(true);
    else
        s.gone++;
}

static const struct mode {
    const char *name;
    void (*take)(void);
    uint32_t most;
} modes[] = {{"copy", take_copy, COUNT_MOST},
             {"in-place", take_in_place, BLOCKING_MOST},
             {"seeded", take_seeded, COUNT_MOST},
             {"plain", take_plain, COUNT_MOST}};

static int by_size(const void *a, const void *b)
{
    const uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

static unsigned long long median(uint64_t *values)
{
    qsort(values, s.copies, sizeof *values, by_size);
    return values[s.copies / 2];
}

static int by_value(const void *a, const void *b)
{
    const int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

/* How much longer a suspension takes with the copy: the median over pairs. */
static long long median_longer_ns(void)
{
    qsort(s.longer_ns, s.copies, sizeof *s.longer_ns, by_value);
    return s.longer_ns[s.copies / 2];
}

static void sample(const char *name, const struct mode *mode, uint32_t count)
{
    s.right = s.refused = s.held = s.hijacked = s.ended = s.too_early = 0;
    s.no_code = s.wrong = s.blocked = s.left_suspended = 0;
    if (count > mode->most)
        count = mode->most;
    for (uint32_t i = 0; i < count; i++) {
        pause_a_little(i);
        mode->take();
    }
    s.left_suspended += is_left_suspended();
    printf("{\"schema_version\":1,\"phase\":\"%s\",\"mode\":\"%s\",\"samples\":%u,\"right\":%u,"
           "\"hijacked\":%u,\"refused\":%u,\"ended\":%u,\"wrong\":%u,\"blocked\":%u,"
           "\"left_suspended\":%u,\"held\":%u,\"too_early\":%u,\"no_code\":%u",
           name, mode->name, count, s.right, s.hijacked, s.refused, s.ended, s.wrong, s.blocked,
           s.left_suspended, s.held, s.too_early, s.no_code);
    if (mode->take == take_copy)
        printf(",\"longer_median_ns\":%lld,\"stop_median_ns\":%llu,\"bare_median_ns\":%llu,"
               "\"copy_median_ns\":%llu,\"copied_median_bytes\":%llu",
               median_longer_ns(), median(s.stops_ns), median(s.bare_ns), median(s.copies_ns),
               median(s.copied_bytes));
    printf("}\n");
    fflush(stdout);
}

/* ---- threads that end ---- */

static DWORD WINAPI run_and_end(void *turns)
{
    int sum = 0;
    for (uintptr_t i = 0; i < (uintptr_t)turns; i++)
        sum += phase(0);
    return (DWORD)sum;
}

/* What is right of a thread that ends is not known: only whether a walk came back, and the thread
 * ended. */
static void sample_dying(uint32_t count)
{
    uint32_t walks = 0, ended = 0;
    for (uint32_t i = 0; i < count; i++) {
        DWORD id = 0;
        s.copies = 0;
        s.thread =
            CreateThread(NULL, 0, run_and_end, (void *)(uintptr_t)(1 + i % DYING_TURNS), 0, &id);
        s.target.id = id;
        if (s.thread == NULL || !cap_crash_thread_bounds(s.thread, &s.target.bounds)) {
            s.gone++;
        } else {
            pause_a_little(i % 3);
            const uint32_t gone = s.gone;
            const struct mode *mode = &modes[i % (sizeof modes / sizeof modes[0])];
            do
                mode->take();
            while (mode->take == take_plain && WaitForSingleObject(s.thread, 0) == WAIT_TIMEOUT);
            walks += s.gone == gone;
        }
        if (s.thread != NULL && WaitForSingleObject(s.thread, LIMIT_MS) == WAIT_OBJECT_0)
            ended++;
        CloseHandle(s.thread);
    }
    printf("{\"schema_version\":1,\"phase\":\"PhaseDying\",\"mode\":\"all\",\"samples\":%u,"
           "\"walks\":%u,"
           "\"gone\":%u,\"blocked\":%u,\"ended\":%u,\"left_suspended\":%u}\n",
           count, walks, s.gone, s.blocked, ended, count - ended + s.left_suspended);
    fflush(stdout);
}

/* ---- the rules of the profiler, counted ---- */

static void print_rules(const char *name)
{
    struct profiler_counts c = {0};
    managed_counts(&c);
    printf("{\"schema_version\":1,\"phase\":\"%s\",\"mode\":\"rules\",\"runtime_calls\":%u,"
           "\"calls_under_lock\":%u,\"collections\":%u,\"collections_by_us\":%u,"
           "\"snapshots\":%u,\"snapshots_at_once\":%u,\"snapshots_not_tried\":%u,"
           "\"threads_ended\":%u,\"ended_when_walked\":%u,\"freed_when_walked\":%u}\n",
           name, c.runtime_calls, c.calls_under_lock, c.collections, c.collections_by_us,
           c.snapshots, c.snapshots_at_once, c.snapshots_not_tried, c.threads_ended,
           c.ended_when_walked, c.freed_when_walked);
    fflush(stdout);
}

/* ---- the run ---- */

/* What each phase calls, as distances of tokens, which are in the order of scenarios.cs. */
static void set_chain(const char *name, uint32_t phase_token)
{
    static const struct {
        const char *phase;
        uint32_t count, before[CHAIN_MOST - 1];
    } rows[] = {{"PhaseThrow", 3, {3, 2, 1}}, {"PhaseCollected", 1, {8}}, {"", 1, {1}}};
    uint32_t row = 0;
    while (rows[row].phase[0] != '\0' && strcmp(rows[row].phase, name) != 0)
        row++;
    s.chain[0] = phase_token;
    for (uint32_t i = 0; i < rows[row].count; i++)
        s.chain[i + 1] = phase_token - rows[row].before[i];
    s.chain_count = rows[row].count + 1;
    s.handler = s.chain_count == CHAIN_MOST ? s.chain[2] : 0;
}

/* The first method of managed.dll that is compiled for the phase is the phase's own. */
static bool find_phase(const char *name, LONG first)
{
    for (int waited = 0; waited < START_LIMIT_MS; waited += 10) {
        for (LONG i = first; i < cap_managed.method_count; i++) {
            const struct cap_method *method = &cap_managed.methods[i];
            if (is_ours(method)) {
                set_chain(name, method->token);
                Sleep(SETTLE_MS); /* the phase is in its loop */
                return true;
            }
        }
        Sleep(10);
    }
    return false;
}

/* Sets `phase` and `is_dying`. */
static void find_method(const char *name)
{
    const bool holds_heap = strcmp(name, "PhaseHeap") == 0;
    is_dying = strcmp(name, "PhaseDying") == 0;
    const bool has_flags = strcmp(name, "PhaseFlags") == 0;
    if (has_flags || strcmp(name, "PhaseNoCaller") == 0) {
        no_caller = has_flags ? 0x202 : 0;
        phase = run_without_caller;
        return;
    }
    phase = managed_find(is_dying ? "BadSeed" : holds_heap ? "PhasePInvoke" : name);
    if (holds_heap)
        ((void (*)(void))victim_function(GetModuleHandleW(L"plugin-managed.dll"),
                                         "native_hold_heap"))();
}

static bool start(const char *name)
{
    static ALIGNED(16) uint8_t room[CAP_COPY_BYTES];
    static wchar_t folder[MAX_PATH];
    struct capture_options options = {
        .version = CAPTURE_VERSION, .size = sizeof options, .folder = folder};
    DWORD id = 0;
    s.copy.memory = room;
    if (GetTempPathW(MAX_PATH, folder) == 0 || !truth_start())
        return false;
    managed_start();
    if (!capture_install(&options))
        return false;
    truth_thread("main", false);
    find_method(name);
    if (is_dying)
        return true;
    const LONG first = cap_managed.method_count;
    s.thread = CreateThread(NULL, 0, run_phase, NULL, 0, &id);
    s.target.id = id;
    Sleep(phase == run_without_caller ? SETTLE_MS : 0);
    return s.thread != NULL && (phase == run_without_caller || find_phase(name, first)) &&
           cap_crash_thread_bounds(s.thread, &s.target.bounds);
}

static const struct mode *find_mode(const char *name)
{
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++)
        if (strcmp(modes[i].name, name) == 0)
            return &modes[i];
    return NULL;
}

int main(int argc, char **argv)
{
    const uint32_t count = argc >= 3 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0;
    const struct mode *only = argc == 4 ? find_mode(argv[3]) : NULL;
    if (count == 0 || count > COUNT_MOST || argc > 4 || (argc == 4 && only == NULL)) {
        fprintf(stderr, "usage: managed-stops PhaseSpin|PhaseThrow|PhaseJit|PhaseCollect|"
                        "PhaseAllocate|PhaseCopy|PhasePInvoke|PhaseCollected|PhaseDying|"
                        "PhaseHeap|PhaseNoCaller|PhaseFlags COUNT "
                        "[copy|in-place|seeded|plain]\n");
        return EXIT_USAGE;
    }
    uint64_t *figures = calloc(5 * (size_t)count, sizeof *figures);
    if (figures == NULL || managed_missing() != NULL || !start(argv[1])) {
        fprintf(stderr, "managed-stops: cannot start %s\n", argv[1]);
        return 3;
    }
    s.stops_ns = figures;
    s.bare_ns = figures + count;
    s.copies_ns = figures + 2 * (size_t)count;
    s.copied_bytes = figures + 3 * (size_t)count;
    s.longer_ns = (int64_t *)(figures + 4 * (size_t)count);
    if (is_dying)
        sample_dying(count);
    for (size_t i = 0; i < sizeof modes / sizeof modes[0] && !is_dying; i++)
        if (only == NULL || only == &modes[i])
            sample(argv[1], &modes[i], count);
    print_rules(argv[1]);
    TerminateProcess(GetCurrentProcess(), 0);
    return 0;
}
