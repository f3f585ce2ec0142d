/* While a worker works on messages, their leases are renewed: others would resolve them, too, and a
 * report that is slow would look like one that kills. A worker that hangs for good does not hold
 * them without end. */
#include <stdlib.h>

#include "base/files.h"
#include "base/thread.h"
#include "stream/work_hold.h"

enum { HOLD_LOOK_MS = 50 };

struct place {
    enum queue_channel channel;
    struct queue_message *messages; /* NULL: nothing is held */
    const bool *done;
    uint32_t count;
    uint64_t taken_ns, renewed_ns;
};

struct hold {
    const struct work_options *options;
    struct mutex *lock; /* guards what follows */
    struct place places[HOLD_PLACES];
    bool is_over;
    struct thread *thread;
};

static void renew(struct hold *h, struct place *place)
{
    struct queue *queue = h->options->queue;
    const uint32_t every_ms =
        h->options->renew_ms != 0 ? h->options->renew_ms : (uint32_t)QUEUE_RENEW_MS;
    const uint64_t now_ns = clock_ns();
    if (place->messages == NULL || now_ns - place->renewed_ns < (uint64_t)every_ms * 1000000U ||
        now_ns - place->taken_ns > (uint64_t)QUEUE_HOLD_MS * 1000000U)
        return;
    place->renewed_ns = now_ns;
    for (uint32_t i = 0; i < place->count; i++)
        if (!place->done[i])
            queue->transport->renew(queue, place->channel, &place->messages[i]);
}

static void renew_all(void *context)
{
    struct hold *h = context;
    for (bool is_over = false; !is_over;) {
        thread_sleep_ms(HOLD_LOOK_MS);
        mutex_lock(h->lock);
        is_over = h->is_over;
        for (int i = 0; !is_over && i < HOLD_PLACES; i++)
            renew(h, &h->places[i]);
        mutex_unlock(h->lock);
    }
}

struct hold *hold_new(const struct work_options *options)
{
    struct hold *h = calloc(1, sizeof *h);
    if (h == NULL)
        return NULL;
    h->options = options;
    h->lock = mutex_new();
    h->thread = h->lock != NULL ? thread_start(renew_all, h) : NULL;
    if (h->thread != NULL)
        return h;
    hold_free(h);
    return NULL;
}

void hold_free(struct hold *hold)
{
    if (hold == NULL)
        return;
    if (hold->thread != NULL) {
        mutex_lock(hold->lock);
        hold->is_over = true;
        mutex_unlock(hold->lock);
        thread_join(hold->thread);
    }
    if (hold->lock != NULL)
        mutex_free(hold->lock);
    free(hold);
}

void hold_begin(struct hold *hold, enum hold_place place, enum queue_channel channel,
                struct queue_message *messages, const bool *done, uint32_t count)
{
    const uint64_t now_ns = clock_ns();
    mutex_lock(hold->lock);
    hold->places[place] = (struct place){channel, messages, done, count, now_ns, now_ns};
    mutex_unlock(hold->lock);
}

void hold_done(struct hold *hold, bool *done)
{
    mutex_lock(hold->lock);
    *done = true;
    mutex_unlock(hold->lock);
}

void hold_end(struct hold *hold, enum hold_place place)
{
    mutex_lock(hold->lock);
    hold->places[place].messages = NULL;
    mutex_unlock(hold->lock);
}
