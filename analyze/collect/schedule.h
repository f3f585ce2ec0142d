/* Which victim runs next; private to this room. */
#ifndef COLLECT_SCHEDULE_H
#define COLLECT_SCHEDULE_H

#include "collect/collect.h"

/* The order of a run: hangs first, then the others; with one job, the order of the list. With
 * lanes, hangs and others run side by side. The caller holds a lock. */
struct schedule {
    uint32_t *order;                     /* the hangs, then the others */
    uint32_t count, waiting_count;       /* waiting: hangs             */
    uint32_t next_waiting, next_other;   /* places in `order`          */
    uint32_t jobs, lanes;                /* lanes: processors that hangs have for themselves */
    uint32_t waiting_now, computing_now; /* hangs that run, and those of them that compute   */
    uint64_t began_ns;                   /* when the last of them began to compute           */
    uint64_t life_ns, computing_ns;      /* of the LIVED hangs so far  */
    uint32_t lived;
};
enum schedule_next { SCHEDULE_NONE, SCHEDULE_ONE, SCHEDULE_LATER };
enum schedule_kind { SCHEDULE_ALL, SCHEDULE_HANGS, SCHEDULE_OTHERS };

/* Without lanes: JOBS victims at a time. */
enum status schedule_open(const struct collected *results, uint32_t count, uint32_t jobs,
                          struct arena *keep, struct schedule *out, struct fault *fault);

/* Opens as many lanes as pay, if any, when WAITING hangs and OTHERS are not skipped. */
void schedule_open_lanes(struct schedule *schedule, uint32_t waiting, uint32_t others);

/* True for a victim that waits for most of its life. */
bool schedule_waits(const struct scenario *scenario);

/* The next victim of KIND.  SCHEDULE_LATER: ask again soon. */
enum schedule_next schedule_take(struct schedule *schedule, enum schedule_kind kind,
                                 uint64_t now_ns, uint32_t *index);

/* A hang begins to compute. */
void schedule_computes(struct schedule *schedule, uint64_t now_ns);

/* A hang has ended; for COMPUTING_NS of its life it computed (0: never).  LIFE_NS 0: it was
 * skipped.  True: it was the last one. */
bool schedule_ended(struct schedule *schedule, uint64_t life_ns, uint64_t computing_ns);

/* True when every victim has been taken. */
bool schedule_is_done(const struct schedule *schedule);

#endif
