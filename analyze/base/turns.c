/* See turns.h. */
#include "base/turns.h"

#include <stdlib.h>

#include "base/thread.h"

struct turns {
    struct mutex *lock;
    struct signal *given;
    struct turn *first; /* the turns that were given and have not ended */
    uint32_t limit, processors, out, forced, reserved; /* forced: of those that are out */
    uint64_t asked, served; /* turns are taken in the order of their numbers */
};

struct turns *turns_new(uint32_t limit, uint32_t processors)
{
    struct turns *turns = calloc(1, sizeof *turns);
    if (turns == NULL)
        return NULL;
    turns->lock = mutex_new();
    turns->given = signal_new();
    turns->limit = limit;
    turns->processors = processors;
    if (turns->lock == NULL || turns->given == NULL) {
        turns_free(turns);
        return NULL;
    }
    return turns;
}

void turns_free(struct turns *turns)
{
    if (turns == NULL)
        return;
    signal_free(turns->given);
    mutex_free(turns->lock);
    free(turns);
}

static uint32_t turns_on(const struct turns *turns, uint32_t processor)
{
    uint32_t count = 0;
    for (const struct turn *t = turns->first; t != NULL; t = t->next)
        count += t->processor == processor;
    return count;
}

/* The processor with the fewest turns; WISH, if that is one of them. */
static uint32_t choose_processor(const struct turns *turns, uint32_t wish)
{
    uint32_t best = wish != 0 && wish <= turns->processors ? wish : 1;
    for (uint32_t p = 1; p <= turns->processors; p++)
        if (turns_on(turns, p) < turns_on(turns, best))
            best = p;
    return best;
}

/* With the lock held. */
static void hand_out(struct turns *turns, struct turn *turn)
{
    turn->processor = choose_processor(turns, turn->processor);
    turn->out = true;
    turn->crowded = false;
    turn->next = turns->first;
    turns->first = turn;
    turns->out++;
    for (struct turn *t = turns->first; t != NULL && turns->out > turns->processors; t = t->next)
        t->crowded = true;
}

/* At least one turn can always be taken. */
static bool has_room(const struct turns *turns)
{
    const uint32_t taken = turns->out - turns->forced,
                   room = turns->reserved < turns->limit ? turns->limit - turns->reserved : 1;
    return turns->out < turns->limit && taken < room;
}

void turns_take(struct turns *turns, struct turn *turn)
{
    *turn = (struct turn){.processor = turns != NULL ? turn->processor : 0};
    if (turns == NULL)
        return;
    mutex_lock(turns->lock);
    const uint64_t number = turns->asked++;
    while (number != turns->served || !has_room(turns))
        signal_wait(turns->given, turns->lock);
    turns->served++;
    hand_out(turns, turn);
    signal_wake_all(turns->given);
    mutex_unlock(turns->lock);
}

void turns_force(struct turns *turns, struct turn *turn)
{
    if (turns == NULL)
        return;
    mutex_lock(turns->lock);
    if (!turn->out) {
        hand_out(turns, turn);
        turn->forced = true;
        turns->forced++;
    }
    mutex_unlock(turns->lock);
}

void turns_reserve(struct turns *turns, uint32_t count)
{
    if (turns == NULL)
        return;
    mutex_lock(turns->lock);
    turns->reserved = count;
    signal_wake_all(turns->given);
    mutex_unlock(turns->lock);
}

void turns_give(struct turns *turns, struct turn *turn)
{
    if (turns == NULL)
        return;
    mutex_lock(turns->lock);
    struct turn **at = &turns->first;
    while (*at != NULL && *at != turn)
        at = &(*at)->next;
    if (*at != NULL) {
        *at = turn->next;
        turns->out--;
        turns->forced -= turn->forced;
        turn->out = turn->forced = false;
        signal_wake_all(turns->given);
    }
    mutex_unlock(turns->lock);
}
