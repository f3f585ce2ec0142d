/* Turns on the processors, so that what is timed is not disturbed.
 *
 * A thread that needs a processor for a while takes a turn and gives it back. At most LIMIT turns
 * are taken at a time, in the order in which they were asked for. Work whose start cannot be
 * delayed forces its turn. While more turns are taken than there are processors, all of them are
 * marked as crowded: their times must not be used. */
#ifndef BASE_TURNS_H
#define BASE_TURNS_H

#include <stdbool.h>
#include <stdint.h>

struct turns;

/* A turn belongs to the thread that took it; `crowded` is valid after turns_give(). */
struct turn {
    struct turn *next; /* of those that are out */
    bool out, crowded;
};

/* LIMIT turns at a time on PROCESSORS processors. Owned by the caller; NULL when out of memory. */
struct turns *turns_new(uint32_t limit, uint32_t processors);
void turns_free(struct turns *turns);

/* Waits for a turn.  TURNS may be NULL: then nothing is counted. */
void turns_take(struct turns *turns, struct turn *turn);

/* Takes a turn at once, beyond the limit if need be; nothing when TURN is out already. */
void turns_force(struct turns *turns, struct turn *turn);

/* Nothing when TURN is not out. */
void turns_give(struct turns *turns, struct turn *turn);

#endif
