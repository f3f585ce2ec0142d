/* managed-stops PHASE COUNT: stops a thread in managed code again and again and takes its stack in
 * three ways: `plain`, the runtime's snapshot of the running thread; `seeded`, its snapshot of a
 * thread that we suspended, from the first managed frame; `copy`, our walk of a copy of the stack,
 * after the thread was resumed.  Prints one line of JSON for each.
 *
 * A stack is right when its two outermost methods of managed.dll are the phase's own and one that
 * it called.  One that ends with a reason (refused, hijacked) is counted apart: only `wrong` names
 * frames that are not there or lacks some without a reason.  What may wait runs on a runner under a
 * time limit, and nothing is left suspended.  See tests/bench/bench_managed.py. */
#undef main /* of victim.c, whose services are used */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/cap.h"
#include "victims/managed/host.h"

enum { COUNT_MOST = 100000, LIMIT_MS = 3000, PAUSE_US = 500, START_LIMIT_MS = 20000 };

bool truth_start(void);

struct sampling {
    HANDLE thread;
    struct cap_thread target;
    struct cap_copy copy;
    struct cap_walk walk;
    CONTEXT context;
    cap_walk_fn *walker;
    uint32_t phase_token;
    uint32_t right, refused, hijacked, wrong, blocked, left_suspended;
    uint64_t stopped_ns;
};

static struct sampling s;
static managed_method phase;

static DWORD WINAPI run_phase(void *unused)
{
    (void)unused;
    truth_thread("phase", true);
    return (DWORD)phase(0);
}

/* ---- one stack ---- */

static void run_walker(void *unused)
{
    (void)unused;
    s.walker(&s.context, s.thread, s.target.bounds, false, &s.walk);
}

/* Tokens of the outermost two methods of managed.dll on the stack. */
static uint32_t outermost(uint32_t tokens[2])
{
    const uint32_t count = s.walk.total < CAP_FRAMES ? s.walk.total : CAP_FRAMES;
    uint32_t found = 0;
    for (uint32_t i = count; i-- > 0 && found < 2;) {
        const struct cap_frame *frame = &s.walk.frames[i];
        const bool is_return = (frame->flags & RECORD_FRAME_RETURN) != 0;
        const struct cap_method *method =
            cap_crash_method_at(is_return ? frame->pc_va - 1 : frame->pc_va);
        const int module = method != NULL && method->assembly != 0
                               ? cap_managed.assemblies[method->assembly - 1].module
                               : -1;
        if (module >= 0 && strstr(cap.modules[module].path, "managed.dll") != NULL)
            tokens[found++] = method->token;
    }
    return found;
}

static void judge(bool done)
{
    uint32_t tokens[2];
    if (!done)
        s.blocked++;
    else if (s.walk.state != RECORD_STATE_OK)
        s.refused++;
    else if (outermost(tokens) == 2 && tokens[0] == s.phase_token && tokens[1] != s.phase_token)
        s.right++;
    else if (s.walk.stop == RECORD_STOP_HIJACKED)
        s.hijacked++;
    else
        s.wrong++;
}

static bool finish(bool in_time)
{
    for (int i = 0; i < LIMIT_MS && cap_crash_busy(CAP_RUNNER_WALK); i++)
        Sleep(1);
    return in_time;
}

static void resume(DWORD before)
{
    (void)before; /* the runtime suspends threads as well: its count is no evidence */
    (void)ResumeThread(s.thread);
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
    judge(finish(cap_crash_run(CAP_RUNNER_WALK, run_walker, NULL, LIMIT_MS)));
}

static void take_seeded(void)
{
    const DWORD before = SuspendThread(s.thread);
    s.context.ContextFlags = CONTEXT_FULL;
    cap_crash_walk_begin(&s.walk, RECORD_WALKER_SNAPSHOT_SEEDED, s.target.id);
    s.walker = cap_walk_snapshot_seeded;
    const bool done = GetThreadContext(s.thread, &s.context) &&
                      cap_crash_run(CAP_RUNNER_WALK, run_walker, NULL, LIMIT_MS);
    resume(before);
    judge(finish(done));
}

static void take_copy(void)
{
    cap_crash_walk_begin(&s.walk, RECORD_WALKER_RTL, s.target.id);
    const DWORD before = SuspendThread(s.thread);
    const bool done = cap_crash_copy_thread(s.thread, s.target.bounds, &s.copy);
    resume(before);
    if (done)
        cap_crash_walk_copy(&s.copy, &s.walk);
    judge(done);
}

static void sample(const char *name, const char *mode, void (*take)(void), uint32_t count)
{
    s.right = s.refused = s.hijacked = s.wrong = s.blocked = s.left_suspended = 0;
    s.stopped_ns = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t until_ns = cap_crash_now_ns() + i * 7919u % PAUSE_US * 1000u;
        while (cap_crash_now_ns() < until_ns)
            SwitchToThread();
        take();
    }
    s.left_suspended = is_left_suspended();
    printf("{\"schema_version\":1,\"phase\":\"%s\",\"mode\":\"%s\",\"samples\":%u,\"right\":%u,"
           "\"hijacked\":%u,\"refused\":%u,\"wrong\":%u,\"blocked\":%u,\"left_suspended\":%u}\n",
           name, mode, count, s.right, s.hijacked, s.refused, s.wrong, s.blocked, s.left_suspended);
    fflush(stdout);
}

/* ---- the run ---- */

/* The first method of managed.dll that is compiled for the phase is the phase's own. */
static bool find_phase(LONG first)
{
    for (int waited = 0; waited < START_LIMIT_MS; waited += 10) {
        for (LONG i = first; i < cap_managed.method_count; i++) {
            const struct cap_method *method = &cap_managed.methods[i];
            const int module = method->ready && method->assembly != 0
                                   ? cap_managed.assemblies[method->assembly - 1].module
                                   : -1;
            if (module >= 0 && strstr(cap.modules[module].path, "managed.dll") != NULL) {
                s.phase_token = method->token;
                Sleep(300); /* the phase is in its loop */
                return true;
            }
        }
        Sleep(10);
    }
    return false;
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
    phase = managed_find(name);
    const LONG first = cap_managed.method_count;
    s.thread = CreateThread(NULL, 0, run_phase, NULL, 0, &id);
    s.target.id = id;
    return s.thread != NULL && find_phase(first) &&
           cap_crash_thread_bounds(s.thread, &s.target.bounds);
}

int main(int argc, char **argv)
{
    const uint32_t count = argc == 3 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0;
    if (count == 0 || count > COUNT_MOST) {
        fprintf(stderr, "usage: managed-stops PhaseSpin|PhaseThrow|PhaseJit|PhaseCollect|"
                        "PhaseAllocate|PhaseCopy|PhasePInvoke|PhaseCollected COUNT\n");
        return EXIT_USAGE;
    }
    if (managed_missing() != NULL || !start(argv[1])) {
        fprintf(stderr, "managed-stops: cannot start %s\n", argv[1]);
        return 3;
    }
    sample(argv[1], "copy", take_copy, count);
    sample(argv[1], "seeded", take_seeded, count);
    sample(argv[1], "plain", take_plain, count);
    TerminateProcess(GetCurrentProcess(), 0);
    return 0;
}
