/* The walker `backtrace`: RtlCaptureStackBackTrace.  It walks its own thread only, from
 * where it is called, so the handler's frames come first; they end where the exception
 * was dispatched.  Wine adds four invalid words after the thread's start.  The system takes a
 * function without unwind data for a leaf; the walk ends there, since what follows is made up.
 *
 * May call: RtlCaptureStackBackTrace, RtlLookupFunctionEntry. */
#include "capture/cap.h"

enum { DEPTH = 4096, SLICE = 60 }; /* older systems refuse more than 62 frames per call */

/* Static: the crashed thread's stack may be small.  Only one crash is ever taken. */
static void *addresses[DEPTH];

static uint32_t fetch(void)
{
    uint32_t count = RtlCaptureStackBackTrace(0, DEPTH, addresses, NULL);
    if (count != 0)
        return count;
    while (count + SLICE <= DEPTH) {
        uint32_t got = RtlCaptureStackBackTrace(count, SLICE, &addresses[count], NULL);
        count += got;
        if (got < SLICE)
            break;
    }
    return count;
}

static void fetch_now(void *count)
{
    *(uint32_t *)count = fetch();
}

/* True when PC is where the crash starts. A context that a function captured itself means any later
 * place in that function. On x86 the frames of the handler are followed by the caller of the place:
 * the chain of frame pointers holds return addresses alone. */
static bool is_place(uint64_t pc, const CONTEXT *seed, bool seed_is_return)
{
#if defined(_WIN64)
    DWORD64 base;
    if (seed_is_return) {
        const RUNTIME_FUNCTION *function = RtlLookupFunctionEntry(pc - 1, &base, NULL);
        return function != NULL && function == RtlLookupFunctionEntry(seed->Rip - 1, &base, NULL);
    }
    return pc == seed->Rip;
#else
    const struct cap_bounds bounds = cap_crash_own_bounds();
    (void)seed_is_return;
    return seed->Ebp % sizeof(void *) == 0 && cap_crash_within(bounds, seed->Ebp) &&
           seed->Ebp + 2 * sizeof(void *) <= bounds.high_va &&
           pc == ((const uintptr_t *)(uintptr_t)seed->Ebp)[1];
#endif
}

static uint64_t place_va(const CONTEXT *seed)
{
#if defined(_WIN64)
    return seed->Rip;
#else
    return seed->Eip;
#endif
}

/* Whether nothing leads out of the frame: of a place that an exception interrupted, which may be in
 * a leaf, that is not said. Frame pointers, by which x86 is walked, need no unwind data. */
static bool is_blind(uint32_t i)
{
#if defined(_WIN64)
    const bool is_return =
        i == 0 || !cap_crash_within(cap.dispatcher, (uintptr_t)addresses[i - 1] - 1);
    return is_return && cap_crash_is_blind((uintptr_t)addresses[i]);
#else
    (void)i;
    return false;
#endif
}

struct adding {
    uint32_t first, count;
    struct cap_walk *out;
};

static void add_now(void *argument)
{
    const struct adding *a = argument;
    for (uint32_t i = a->first; i < a->count; i++) {
        const uint64_t pc = (uintptr_t)addresses[i];
        if (pc == 0) {
            a->out->stop = RECORD_STOP_RETURN_ZERO;
            return;
        }
        cap_crash_walk_add(a->out, pc, RECORD_FRAME_RETURN, RECORD_FOUND_UNWIND);
        if (cap_crash_within(cap.thread_start, pc)) {
            a->out->stop = RECORD_STOP_END;
            return;
        }
        if (is_blind(i)) {
            a->out->stop = RECORD_STOP_NO_UNWIND;
            return;
        }
    }
}

void cap_crash_walk_backtrace(const CONTEXT *seed, HANDLE thread, struct cap_bounds bounds,
                              bool seed_is_return, struct cap_walk *out)
{
    (void)thread;
    (void)bounds;
    const uint64_t start_ns = cap_crash_now_ns();
    uint32_t count = 0, first = 0;
    if (!cap_crash_guarded(fetch_now, &count))
        out->state = RECORD_STATE_FAULTED;
    out->walk_ns = cap_crash_now_ns() - start_ns;
    out->stop = count == DEPTH ? RECORD_STOP_LIMIT : RECORD_STOP_WALKER;

    while (first < count && !is_place((uintptr_t)addresses[first], seed, seed_is_return))
        first++;
    if (first < count) { /* a thread that captured its own context has run on since */
        cap_crash_walk_add(out, place_va(seed), seed_is_return ? RECORD_FRAME_RETURN : 0u,
                           RECORD_FOUND_UNWIND);
        first += sizeof(void *) == 8; /* that frame was the place itself */
    } else { /* the place was not found: return all frames, including the handler's */
        first = 0;
    }
    if (!cap_crash_guarded(add_now, &(struct adding){first, count, out}))
        out->stop = RECORD_STOP_READ_FAULT;
}
