/* The walker `innermost`: reports only the interrupted address.
 *
 * May call: nothing. */
#include "capture/cap.h"

void cap_crash_walk_innermost(const CONTEXT *seed, HANDLE thread, struct cap_bounds bounds,
                              bool seed_is_return, struct cap_walk *out)
{
    const uint64_t start_ns = cap_crash_now_ns();
    (void)thread;
    (void)bounds;
#if defined(_WIN64)
    const uint64_t pc_va = seed->Rip;
#else
    const uint64_t pc_va = seed->Eip;
#endif
    cap_crash_walk_add(out, pc_va, seed_is_return ? RECORD_FRAME_RETURN : 0, RECORD_FOUND_CONTEXT);
    out->stop = RECORD_STOP_LIMIT;
    out->walk_ns = cap_crash_now_ns() - start_ns;
}
