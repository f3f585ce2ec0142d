/* Which victim runs next: see parts.h.
 *
 * A hang waits until its time limit before anything computes, so more hangs than processors can be
 * started.  The number follows from a measurement: if hangs compute for a share W of their life, N
 * hangs need N x W processors. */
#include <string.h>

#include "collect/parts.h"

enum status schedule_open(const struct collected *results, uint32_t count, uint32_t jobs,
                          struct arena *keep, struct schedule *out, struct fault *fault)
{
    memset(out, 0, sizeof *out);
    out->order = ARENA_ARRAY(keep, (size_t)count + 1, uint32_t);
    if (out->order == NULL)
        return fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "run");
    out->count = count;
    out->least = out->most = jobs;
    for (uint32_t i = 0; i < count && jobs > 1; i++)
        if (schedule_waits(results[i].scenario))
            out->order[out->waiting_count++] = i;
    out->next_other = out->waiting_count;
    for (uint32_t i = 0, at = out->waiting_count; i < count; i++)
        if (jobs == 1 || !schedule_waits(results[i].scenario))
            out->order[at++] = i;
    return ERR_NONE;
}

bool schedule_waits(const struct scenario *scenario)
{
    return scenario->kind == CASE_KIND_HANG && scenario->unsupported == NULL;
}

static uint32_t waiting_most(const struct schedule *s)
{
    const uint64_t fit = s->computing_ns > 0 ? s->least * s->life_ns / s->computing_ns : s->least;
    return fit < s->least ? s->least : fit > s->most ? s->most : (uint32_t)fit;
}

enum schedule_next schedule_take(struct schedule *s, bool only_waiting, uint32_t *index)
{
    if (s->next_waiting < s->waiting_count) {
        if (s->waiting_now >= waiting_most(s))
            return SCHEDULE_LATER;
        s->waiting_now++;
        *index = s->order[s->next_waiting++];
        return SCHEDULE_ONE;
    }
    if (only_waiting || s->next_other >= s->count)
        return SCHEDULE_NONE;
    *index = s->order[s->next_other++];
    return SCHEDULE_ONE;
}

void schedule_ended(struct schedule *s, uint64_t life_ns, uint64_t computing_ns)
{
    s->waiting_now--;
    s->life_ns += life_ns;
    s->computing_ns += computing_ns;
}

bool schedule_is_done(const struct schedule *s)
{
    return s->next_waiting >= s->waiting_count && s->next_other >= s->count;
}
