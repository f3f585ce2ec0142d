/* Which victim runs next: see schedule.h.
 *
 * A hang waits until its time limit, computes and ends; the moment when it begins to compute cannot
 * be delayed.  So that its measurements are not disturbed, hangs have processors for themselves,
 * their lanes, and two of them take turns in each: while one computes, the next one waits. That one
 * is started so that it begins to compute just after the other has ended; the times of the hangs
 * before them decide when. */
#include <string.h>

#include "collect/schedule.h"

enum status schedule_open(const struct collected *results, uint32_t count, uint32_t jobs,
                          struct arena *keep, struct schedule *out, struct fault *fault)
{
    memset(out, 0, sizeof *out);
    out->order = ARENA_ARRAY(keep, (size_t)count + 1, uint32_t);
    if (out->order == NULL)
        return fault_no_memory(fault, "run");
    out->count = count;
    out->jobs = jobs;
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

/* Most victims are no hangs, so a quarter of the processors is enough.  Judges need one, too. */
void schedule_open_lanes(struct schedule *s, uint32_t waiting, uint32_t others)
{
    const uint32_t quarter = s->jobs / 4 > 0 ? s->jobs / 4 : 1;
    const uint32_t most = others == 0 ? s->jobs - 1 : quarter;
    if (s->jobs > 1)
        s->lanes = most < waiting ? most : waiting;
}

/* How long after one hang began to compute the next one of its lane may be started. */
static uint64_t distance_ns(const struct schedule *s)
{
    const uint64_t computing_ns = s->computing_ns / s->lived,
                   waiting_ns = (s->life_ns - s->computing_ns) / s->lived,
                   safe_ns = computing_ns + computing_ns / 4;
    return safe_ns > waiting_ns ? safe_ns - waiting_ns : 0;
}

static bool may_start(const struct schedule *s, uint64_t now_ns)
{
    if (s->lanes == 0)
        return s->waiting_now < s->jobs;
    if (s->waiting_now < s->lanes)
        return true;
    return s->waiting_now < 2 * s->lanes && s->waiting_now - s->computing_now < s->lanes &&
           s->lived > 0 && now_ns - s->began_ns >= distance_ns(s);
}

enum schedule_next schedule_take(struct schedule *s, enum schedule_kind kind, uint64_t now_ns,
                                 uint32_t *index)
{
    if (kind != SCHEDULE_OTHERS && s->next_waiting < s->waiting_count) {
        if (!may_start(s, now_ns))
            return SCHEDULE_LATER;
        s->waiting_now++;
        *index = s->order[s->next_waiting++];
        return SCHEDULE_ONE;
    }
    if (kind == SCHEDULE_HANGS || s->next_other >= s->count)
        return SCHEDULE_NONE;
    *index = s->order[s->next_other++];
    return SCHEDULE_ONE;
}

void schedule_computes(struct schedule *s, uint64_t now_ns)
{
    s->computing_now++;
    s->began_ns = now_ns;
}

bool schedule_ended(struct schedule *s, uint64_t life_ns, uint64_t computing_ns)
{
    s->waiting_now--;
    s->computing_now -= computing_ns > 0;
    s->life_ns += life_ns;
    s->computing_ns += computing_ns;
    s->lived += life_ns > 0;
    return s->waiting_now == 0 && s->next_waiting >= s->waiting_count;
}

bool schedule_is_done(const struct schedule *s)
{
    return s->next_waiting >= s->waiting_count && s->next_other >= s->count;
}
