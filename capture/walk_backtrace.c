/* The walker `backtrace`: RtlCaptureStackBackTrace.  It walks its own thread only, from
 * where it is called, so the handler's frames come first; they end where the exception
 * was dispatched.  Wine adds four words of junk after the thread's start.
 *
 * May call: RtlCaptureStackBackTrace, RtlLookupFunctionEntry. */
#include "capture/cap.h"

enum { DEPTH = 4096, SLICE = 60 }; /* older systems refuse more than 62 at a time */

/* Static: the crashed thread's stack may be small.  Only one crash is ever taken. */
static void *addresses[DEPTH];

static NOINLINE uint32_t fetch(void)
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

/* Is PC where the crash starts?  A context that a function captured itself stands for any
 * later place in that function. */
static bool is_place(uint64_t pc, uint64_t fault_va, bool seed_is_return)
{
#if defined(_WIN64)
    DWORD64 base;
    if (seed_is_return) {
        const RUNTIME_FUNCTION *function = RtlLookupFunctionEntry(pc - 1, &base, NULL);
        return function != NULL && function == RtlLookupFunctionEntry(fault_va - 1, &base, NULL);
    }
#else
    (void)seed_is_return;
#endif
    return pc == fault_va;
}

void cap_crash_walk_backtrace(uint64_t fault_va, bool seed_is_return, struct cap_walk *out)
{
    const uint64_t start_ns = cap_crash_now_ns();
    uint32_t count = 0, first = 0;
    __try {
        count = fetch();
    } __except (EXCEPTION_EXECUTE_HANDLER) {
        out->state = RECORD_STATE_FAULTED;
    }
    out->walk_ns = cap_crash_now_ns() - start_ns;
    out->stop = count == DEPTH ? RECORD_STOP_LIMIT : RECORD_STOP_WALKER;

    while (first < count && !is_place((uintptr_t)addresses[first], fault_va, seed_is_return))
        first++;
    const bool known = first < count;
    if (known) /* a thread that captured its own context has gone on since */
        addresses[first] = (void *)(uintptr_t)fault_va;
    else /* the place is not in it: give what there is, handler and all */
        first = 0;
    for (uint32_t i = first; i < count; i++) {
        uint64_t pc = (uintptr_t)addresses[i];
        bool interrupted = known && i == first && !seed_is_return;
        cap_crash_walk_add(out, pc, interrupted ? 0u : RECORD_FRAME_RETURN, RECORD_FOUND_UNWIND);
        if (cap_crash_within(cap.thread_start, pc)) {
            out->stop = RECORD_STOP_END;
            break;
        }
    }
}
