/* See turns.h. */
#include "base/turns.h"

#include <stdlib.h>

#include "base/thread.h"

struct turns {
    struct mutex *lock;
    struct signal *given;
    struct turn *first; /* the turns that were given and have not ended */
    uint32_t limit, processors, out;
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

/* With the lock held. */
static void hand_out(struct turns *turns, struct turn *turn)
{
    turn->out = true;
    turn->crowded = false;
    turn->next = turns->first;
    turns->first = turn;
    turns->out++;
    for (struct turn *t = turns->first; t != NULL && turns->out > turns->processors; t = t->next)
        t->crowded = true;
}

void turns_take(struct turns *turns, struct turn *turn)
{
    *turn = (struct turn){0};
    if (turns == NULL)
        return;
    mutex_lock(turns->lock);
    const uint64_t number = turns->asked++;
    while (number != turns->served || turns->out >= turns->limit)
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
    if (!turn->out)
        hand_out(turns, turn);
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
        turn->out = false;
        signal_wake_all(turns->given);
    }
    mutex_unlock(turns->lock);
}
