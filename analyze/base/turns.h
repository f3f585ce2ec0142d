/* Turns on the processors, so that what is timed is not disturbed.
 *
 * A thread that needs a processor for a while takes a turn and gives it back. At most LIMIT turns
 * are taken at a time, in the order in which they were asked for. Work whose start cannot be
 * delayed forces its turn, and turns can be reserved for it. Each turn names a processor on which
 * no other turn is out, where there is one. While more turns are taken than there are processors,
 * all of them are marked as crowded: their times must not be used. */
#ifndef BASE_TURNS_H
#define BASE_TURNS_H

#include <stdbool.h>
#include <stdint.h>

struct turns;

/* A turn belongs to the thread that took it; `crowded` is valid after turns_give(). Starts as
 * zeros. */
struct turn {
    struct turn *next;  /* of those that are out */
    uint32_t processor; /* from 1, for base/processor.h.  Before the turn is taken: the one that is
                           taken if it is free; 0: any */
    bool out, forced, crowded;
};

/* LIMIT turns at a time on PROCESSORS processors. Owned by the caller; NULL when out of memory. */
struct turns *turns_new(uint32_t limit, uint32_t processors);
void turns_free(struct turns *turns);

/* Waits for a turn.  TURNS may be NULL: then nothing is counted. */
void turns_take(struct turns *turns, struct turn *turn);

/* Takes a turn at once, beyond the limit if need be; nothing when TURN is out already. */
void turns_force(struct turns *turns, struct turn *turn);

/* Keeps COUNT of the turns free for those that are forced.  TURNS may be NULL. */
void turns_reserve(struct turns *turns, uint32_t count);

/* Nothing when TURN is not out. */
void turns_give(struct turns *turns, struct turn *turn);

#endif
