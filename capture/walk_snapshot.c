/* The walkers `snapshot` and `snapshot-seeded`: the .NET runtime's own walk of managed frames,
 * DoStackSnapshot, asked through the profiler.  Runs of native frames, of which the runtime gives
 * only the registers, are walked as `rtl` does.  The seed is the first managed frame that `rtl`
 * reaches.
 *
 * May call: HeapAlloc, HeapFree, GetProcessHeap and RtlLookupFunctionEntry, to see that the thread
 * holds neither the heap nor the unwind data; SuspendThread, ResumeThread and Sleep, to end a wait
 * for a thread that does.  The runtime takes its own locks, allocates, and looks for unwind data:
 * see cap_crash_heap_is_free(), cap_crash_unwind_data_is_free() and cap_crash_free_snapshot(). */
#include "capture/cap.h"

enum { NAMED_RESULTS = 8, REASON_BYTES = 96 };

struct walking {
    struct cap_walk *out;
    struct cap_bounds bounds;
    bool is_started; /* the runtime has given a frame */
};

/* ---- a thread that holds what the runtime needs ---- */

/* The size is too large for the heap's lock-free lists. */
static void probe_heap(void *unused)
{
    enum { PROBE_BYTES = 100000 };
    (void)unused;
    HeapFree(GetProcessHeap(), 0, HeapAlloc(GetProcessHeap(), 0, PROBE_BYTES));
}

/* The system looks for unwind data of an address in no module under a lock of its own. */
static void probe_unwind_data(void *unused)
{
    (void)unused;
#if defined(_WIN64)
    DWORD64 base = 0;
    (void)RtlLookupFunctionEntry((uintptr_t)&base, &base, NULL);
#endif
}

bool cap_crash_heap_is_free(uint32_t limit_ms)
{
    return cap_crash_run(CAP_RUNNER_WALK, probe_heap, NULL, limit_ms);
}

bool cap_crash_unwind_data_is_free(uint32_t limit_ms)
{
    return cap_crash_run(CAP_RUNNER_WALK, probe_unwind_data, NULL, limit_ms);
}

void cap_crash_try_unwind_data(void)
{
    cap.unwind_data_held = !cap_crash_unwind_data_is_free(CAP_WALK_LIMIT_MS);
}

/* A collection suspends threads as well, for an instant each: that must not be undone. */
static bool stays_suspended(HANDLE thread)
{
    enum { LOOKS = 20, LOOK_PAUSE_MS = 5 };
    for (int i = 0; i < LOOKS; i++) {
        const DWORD before = SuspendThread(thread);
        if (before == (DWORD)-1)
            return false;
        (void)ResumeThread(thread);
        if (before == 0)
            return false;
        Sleep(LOOK_PAUSE_MS);
    }
    return true;
}

bool cap_crash_free_snapshot(HANDLE thread)
{
    enum { RESUMES_MOST = 8, ANSWER_MS = 200 };
    for (int i = 0; i < RESUMES_MOST && !cap_crash_wait_idle(CAP_RUNNER_WALK, ANSWER_MS); i++)
        if (stays_suspended(thread))
            (void)ResumeThread(thread);
    return !cap_crash_busy(CAP_RUNNER_WALK);
}

#if defined(_WIN64)

static bool is_managed(uint64_t va)
{
    return cap_crash_method_at(va) != NULL;
}

/* Adds the frames of NATIVE up to the first managed one. */
static void add_native(const struct walking *walking, const CONTEXT *native)
{
    static struct cap_walk run;
    cap_crash_walk_begin(&run, RECORD_WALKER_RTL, walking->out->thread_id);
    cap_crash_walk_rtl(native, NULL, walking->bounds, true, &run);
    const uint32_t count = run.total < CAP_FRAMES ? run.total : CAP_FRAMES;
    for (uint32_t i = 0; i < count && !is_managed(run.frames[i].pc_va - 1); i++)
        cap_crash_walk_add(walking->out, run.frames[i].pc_va, RECORD_FRAME_RETURN,
                           RECORD_FOUND_UNWIND);
}

/* The runtime starts where it last left managed code. That may be a frame of precompiled code,
 * which no map of methods knows, so that it was walked as native code on the way to the seed. */
static void drop_repeated(struct cap_walk *out, uint64_t first_va)
{
    for (uint32_t i = 0; i < out->total && i < RECORD_FRAMES_HEAD; i++) {
        if (out->frames[i].pc_va == first_va) {
            out->total = i;
            return;
        }
    }
}

static bool add(void *data, const void *pc, const void *native)
{
    struct walking *walking = data;
    if (pc != NULL && !walking->is_started) {
        walking->is_started = true;
        drop_repeated(walking->out, (uintptr_t)pc);
    }
    if (pc != NULL)
        cap_crash_walk_add(walking->out, (uintptr_t)pc,
                           walking->out->total > 0 ? RECORD_FRAME_RETURN : 0u, RECORD_FOUND_GIVEN);
    else
        add_native(walking, native);
    return walking->out->total < CAP_FRAMES;
}

static const char *name_of(uint32_t result)
{
    static const struct {
        uint32_t result;
        const char *name;
    } rows[NAMED_RESULTS] = {
        {0x8013135F, "UNMANAGED_CTX"}, {0x80131360, "UNSAFE"},
        {0x80131361, "ABORTED"},       {0x80131363, "UNSUPPORTED_CALL_SEQUENCE"},
        {0x80131374, "NOT_ENABLED"},   {0x80131388, "ASYNCHRONOUS_UNSAFE"},
        {0x80004005, "FAIL"},          {0x80070057, "INVALID_ARGUMENT"},
    };
    for (int i = 0; i < NAMED_RESULTS; i++)
        if (rows[i].result == result)
            return rows[i].name;
    return "unknown";
}

static char *put_text(char *to, const char *text)
{
    while (*text != 0)
        *to++ = *text++;
    return to;
}

/* "snapshot refused: UNSAFE (0x80131360)" */
static void say_refused(struct cap_walk *out, uint32_t result)
{
    static char reasons[RECORD_WALKER_COUNT][REASON_BYTES];
    char *at = put_text(reasons[out->walker], "snapshot refused: ");
    at = put_text(put_text(at, name_of(result)), " (0x");
    for (int shift = 28; shift >= 0; shift -= 4)
        *at++ = "0123456789ABCDEF"[result >> shift & 15];
    at[0] = ')';
    at[1] = 0;
    cap_crash_walk_not(out, RECORD_STATE_FAULTED, reasons[out->walker]);
}

static void take_snapshot(const CONTEXT *seed, struct cap_bounds bounds, struct cap_walk *out)
{
    struct walking walking = {out, bounds, false};
    const uint64_t start_ns = cap_crash_now_ns();
    const uint32_t result = (uint32_t)cap_managed.snapshot(
        out->thread_id, seed, seed != NULL ? (uint32_t)sizeof *seed : 0, add, &walking);
    out->walk_ns = cap_crash_now_ns() - start_ns;
    if (result != 0)
        say_refused(out, result);
    else if (out->total == 0)
        cap_crash_walk_not(out, RECORD_STATE_NOT_APPLICABLE, "the runtime knows no managed frame");
}

void cap_walk_snapshot(const CONTEXT *seed, HANDLE thread, struct cap_bounds bounds,
                       bool seed_is_return, struct cap_walk *out)
{
    (void)seed, (void)thread, (void)seed_is_return;
    take_snapshot(NULL, bounds, out);
}

/* The frames inside of the seed are native: the walk starts with them. */
void cap_walk_snapshot_seeded(const CONTEXT *seed, HANDLE thread, struct cap_bounds bounds,
                              bool seed_is_return, struct cap_walk *out)
{
    CONTEXT managed;
    (void)thread;
    if (!cap_crash_walk_to_managed(seed, bounds, seed_is_return, &managed, out)) {
        if (out->stop == RECORD_STOP_HIJACKED)
            return; /* where the thread was, only the runtime knows */
        cap_crash_walk_not(out, RECORD_STATE_NOT_APPLICABLE, "no managed frame to start from");
        return;
    }
    take_snapshot(&managed, bounds, out);
}

#else

void cap_walk_snapshot(const CONTEXT *seed, HANDLE thread, struct cap_bounds bounds,
                       bool seed_is_return, struct cap_walk *out)
{
    (void)seed, (void)thread, (void)bounds, (void)seed_is_return;
    cap_crash_walk_not(out, RECORD_STATE_NOT_APPLICABLE, "x64 alone");
}

void cap_walk_snapshot_seeded(const CONTEXT *seed, HANDLE thread, struct cap_bounds bounds,
                              bool seed_is_return, struct cap_walk *out)
{
    cap_walk_snapshot(seed, thread, bounds, seed_is_return, out);
}

#endif
