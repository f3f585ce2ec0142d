/* What all walkers share: their table, adding frames under the record's limit. */
#include "capture/cap.h"

#define WALKER_ROW(ID, NUMBER, NAME, WALK, TRAITS, SHARES) [NUMBER] = {NAME, WALK, TRAITS},
const struct cap_walker cap_walkers[RECORD_WALKER_COUNT] = {RECORD_WALKERS(WALKER_ROW)};
#undef WALKER_ROW

void cap_crash_walk_begin(struct cap_walk *out, uint32_t walker, uint32_t thread_id)
{
    out->walker = walker;
    out->state = RECORD_STATE_OK;
    out->stop = RECORD_STOP_END;
    out->thread_id = thread_id;
    out->total = 0;
    out->sample = 0;
    out->walk_ns = 0;
    out->at_ns = cap_crash_now_ns();
    out->reason = NULL;
}

void cap_crash_walk_add(struct cap_walk *out, uint64_t pc_va, uint32_t flags, uint32_t found)
{
    uint32_t n = out->total++, last = n - 1;
    /* The frame below the system's dispatcher is the place that the exception interrupted. */
    if (last >= CAP_FRAMES && n > 0)
        last = RECORD_FRAMES_HEAD + (last - RECORD_FRAMES_HEAD) % RECORD_FRAMES_TAIL;
    if (n > 0 && cap_crash_within(cap.dispatcher, out->frames[last].pc_va - 1))
        flags &= ~(uint32_t)RECORD_FRAME_RETURN;
    if (n >= CAP_FRAMES)
        n = RECORD_FRAMES_HEAD + (n - RECORD_FRAMES_HEAD) % RECORD_FRAMES_TAIL;
    out->frames[n].pc_va = pc_va;
    out->frames[n].flags = flags | found << RECORD_FRAME_SHIFT_FOUND;
}

void cap_crash_walk_not(struct cap_walk *out, uint32_t state, const char *reason)
{
    out->state = state;
    out->stop = RECORD_STOP_WALKER;
    out->total = 0;
    out->reason = reason;
}

uint32_t cap_crash_frame_at(const struct cap_walk *walk, uint32_t i)
{
    if (walk->total <= CAP_FRAMES || i < RECORD_FRAMES_HEAD)
        return i;
    /* oldest of the ring first */
    return RECORD_FRAMES_HEAD +
           (walk->total - RECORD_FRAMES_HEAD + i - RECORD_FRAMES_HEAD) % RECORD_FRAMES_TAIL;
}

struct walking {
    cap_raw_walk_fn *walk;
    CONTEXT context;
    HANDLE thread;
    bool seed_is_return;
    struct cap_walk *out;
};

static void walk_now(void *argument)
{
    struct walking *w = argument;
    w->out->stop = w->walk(&w->context, w->thread, w->seed_is_return, w->out);
}

void cap_walk_guarded(cap_raw_walk_fn *walk, const CONTEXT *seed, HANDLE thread,
                      bool seed_is_return, struct cap_walk *out)
{
    struct walking walking = {walk, *seed, thread, seed_is_return, out};
    const uint64_t start_ns = cap_crash_now_ns();
    if (!cap_crash_guarded(walk_now, &walking))
        out->state = RECORD_STATE_FAULTED;
    out->walk_ns = cap_crash_now_ns() - start_ns;
}
