/* The walker `framepointer`: the classic `while (fp)` loop, with checked reads. It is right only if
 * every function keeps its frame pointer, which it cannot check; x64 code rarely does.
 *
 * May call: nothing. */
#include "capture/cap.h"

#if defined(_WIN64)
#define PC(context) ((context)->Rip)
#define FP(context) ((context)->Rbp)
#else
#define PC(context) ((context)->Eip)
#define FP(context) ((context)->Ebp)
#endif

static uint32_t walk(uint64_t fp, struct cap_bounds bounds, struct cap_walk *out)
{
    const uint64_t pointer_bytes = sizeof(void *);
    for (uint32_t n = 0; n < CAP_FRAME_LIMIT; n++) {
        if (fp % pointer_bytes != 0 || !cap_crash_within(bounds, fp) ||
            fp + 2 * pointer_bytes > bounds.high_va)
            return RECORD_STOP_STACK_BOUNDS;
        const uintptr_t *at = (const uintptr_t *)(uintptr_t)fp;
        if (at[1] == 0)
            return RECORD_STOP_RETURN_ZERO;
        cap_crash_walk_add(out, at[1], RECORD_FRAME_RETURN, RECORD_FOUND_FRAME_POINTER);
        if (cap_crash_within(cap.thread_start, at[1]))
            return RECORD_STOP_END;
        if (at[0] <= fp)
            return RECORD_STOP_NO_PROGRESS;
        fp = at[0];
    }
    return RECORD_STOP_LIMIT;
}

struct walking {
    uint64_t fp;
    struct cap_bounds bounds;
    struct cap_walk *out;
};

static void walk_now(void *argument)
{
    const struct walking *w = argument;
    w->out->stop = walk(w->fp, w->bounds, w->out);
}

void cap_crash_walk_framepointer(const CONTEXT *seed, HANDLE thread, struct cap_bounds bounds,
                                 bool seed_is_return, struct cap_walk *out)
{
    (void)thread;
    const uint64_t start_ns = cap_crash_now_ns();
    cap_crash_walk_add(out, PC(seed), seed_is_return ? RECORD_FRAME_RETURN : 0u,
                       RECORD_FOUND_CONTEXT);
    if (!cap_crash_guarded(walk_now, &(struct walking){FP(seed), bounds, out}))
        out->stop = RECORD_STOP_READ_FAULT;
    out->walk_ns = cap_crash_now_ns() - start_ns;
}
