/* A queue in memory that dies at any of its calls: what it was asked then is done or not, and
 * there is no answer. */
#ifndef TESTS_MEMORY_QUEUE_H
#define TESTS_MEMORY_QUEUE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/thread.h"
#include "stream/queue.h"
#include "test.h"

enum { MESSAGES_MAX = 512, ITEMS_MAX = 1024 };
enum state { READY, TAKEN, DONE };

struct held {
    char id[QUEUE_ID_BYTES];
    char *data;
    size_t bytes;
    enum state state;
    uint32_t delivered;
};

struct memory_queue {
    struct queue queue;
    struct held messages[QUEUE_CHANNELS][MESSAGES_MAX];
    uint32_t count[QUEUE_CHANNELS];
    struct held items[ITEMS_MAX]; /* NAME is the id, after a character for the shelf */
    uint32_t item_count;
    uint32_t calls, dies_at; /* the worker dies at this call; 0: never */
    bool dies_after;         /* the call was carried out, but nothing is said of it */
    const char *poison;      /* the worker dies when it stores a result with this text */
    volatile uint32_t renewals;
    bool waits;        /* a result is stored when the lease of its report was renewed */
    uint32_t refusals; /* so many results are refused: the queue is full */
    bool dead;
};

static struct memory_queue *current;

static inline bool is_over(void)
{
    return current->dead;
}

/* True when the call is carried out; then gone() says whether the worker still hears of it. */
static inline bool begins(struct memory_queue *q)
{
    if (q->dead)
        return false;
    q->calls++;
    if (q->dies_at != 0 && q->calls == q->dies_at) {
        q->dead = true;
        return q->dies_after;
    }
    return true;
}

static inline enum status over(const struct memory_queue *q, struct fault *fault)
{
    return q->dead ? fault_set(fault, ERR_IO, FAULT_NO_OFFSET, "the worker is dead") : fault->code;
}

static inline void set(struct held *to, const char *id, const void *data, size_t bytes)
{
    char *copy = malloc(bytes + 1);
    REQUIRE(copy != NULL);
    memcpy(copy, data, bytes);
    copy[bytes] = '\0';
    free(to->data);
    (void)snprintf(to->id, sizeof to->id, "%s", id);
    to->data = copy;
    to->bytes = bytes;
}

static inline enum status put(struct queue *queue, enum queue_channel channel, const char *id,
                              const void *data, size_t bytes, struct fault *fault)
{
    struct memory_queue *q = (struct memory_queue *)queue;
    REQUIRE(bytes <= QUEUE_MESSAGE_BYTES + (channel == QUEUE_DEAD ? QUEUE_LETTER_BYTES : 0));
    if (channel == QUEUE_PARTIALS && q->poison != NULL && strstr(data, q->poison) != NULL)
        q->dead = true;
    for (int i = 0; channel == QUEUE_PARTIALS && q->waits && q->renewals == 0 && i < 20000; i++)
        thread_sleep_ms(1);
    if (channel == QUEUE_PARTIALS && q->refusals > 0) {
        q->refusals--;
        return fault_set(fault, ERR_LIMIT, FAULT_NO_OFFSET, "the queue is full");
    }
    if (!begins(q))
        return over(q, fault);
    for (uint32_t i = 0; i < q->count[channel]; i++)
        if (strcmp(q->messages[channel][i].id, id) == 0)
            return over(q, fault);
    REQUIRE(q->count[channel] < MESSAGES_MAX);
    set(&q->messages[channel][q->count[channel]++], id, data, bytes);
    return over(q, fault);
}

static inline bool has_ready(const struct memory_queue *q, enum queue_channel channel)
{
    for (uint32_t i = 0; i < q->count[channel]; i++)
        if (q->messages[channel][i].state == READY)
            return true;
    return false;
}

static inline enum status take(struct queue *queue, enum queue_channel channel, uint32_t most,
                               uint32_t wait_ms, struct arena *keep, struct queue_message **out,
                               uint32_t *count, struct fault *fault)
{
    struct memory_queue *q = (struct memory_queue *)queue;
    (void)wait_ms;
    *count = 0;
    *out = ARENA_ARRAY(keep, most, struct queue_message);
    REQUIRE(*out != NULL);
    if (!has_ready(q, channel)) /* to look without success is no step */
        return q->dead ? over(q, fault) : ERR_NONE;
    if (!begins(q))
        return over(q, fault);
    for (uint32_t i = 0; i < q->count[channel] && *count < most; i++) {
        struct held *m = &q->messages[channel][i];
        if (m->state != READY)
            continue;
        m->state = TAKEN;
        m->delivered++;
        if (!q->dead)
            (*out)[(*count)++] = (struct queue_message){.id = arena_string(keep, m->id),
                                                        .data = arena_text(keep, m->data, m->bytes),
                                                        .bytes = m->bytes,
                                                        .delivered = m->delivered,
                                                        .handle = m};
    }
    return over(q, fault);
}

static inline enum status settle(struct queue *queue, enum queue_channel channel,
                                 struct queue_message *message, enum queue_end end,
                                 struct fault *fault)
{
    struct memory_queue *q = (struct memory_queue *)queue;
    struct held *m = message->handle;
    (void)channel;
    if (end == QUEUE_LATER || !begins(q))
        return over(q, fault);
    m->state = end == QUEUE_DONE ? DONE : READY;
    return over(q, fault);
}

static inline void renew(struct queue *queue, enum queue_channel channel,
                         struct queue_message *message)
{
    struct memory_queue *q = (struct memory_queue *)queue;
    const struct held *m = message->handle;
    CHECK_EQ(channel, QUEUE_REPORTS);
    CHECK_EQ(m->state, TAKEN);
    q->renewals++;
}

static inline struct held *find_item(struct memory_queue *q, enum queue_shelf shelf,
                                     const char *name, char key[QUEUE_ID_BYTES])
{
    (void)snprintf(key, QUEUE_ID_BYTES, "%d%s", (int)shelf, name);
    for (uint32_t i = 0; i < q->item_count; i++)
        if (q->items[i].data != NULL && strcmp(q->items[i].id, key) == 0)
            return &q->items[i];
    return NULL;
}

static inline enum status item_get(struct queue *queue, enum queue_shelf shelf, const char *name,
                                   struct arena *keep, struct queue_item *out, struct fault *fault)
{
    struct memory_queue *q = (struct memory_queue *)queue;
    char key[QUEUE_ID_BYTES];
    const struct held *item = find_item(q, shelf, name, key);
    if (!begins(q))
        return over(q, fault);
    if (item == NULL)
        return fault_set(fault, ERR_ABSENT, FAULT_NO_OFFSET, "item");
    *out = (struct queue_item){arena_text(keep, item->data, item->bytes), item->bytes};
    return over(q, fault);
}

static inline enum status item_set(struct queue *queue, enum queue_shelf shelf, const char *name,
                                   const void *data, size_t bytes, struct fault *fault)
{
    struct memory_queue *q = (struct memory_queue *)queue;
    char key[QUEUE_ID_BYTES];
    if (!begins(q))
        return over(q, fault);
    struct held *item = find_item(q, shelf, name, key);
    if (data == NULL && item != NULL) {
        free(item->data);
        item->data = NULL;
    }
    if (data == NULL)
        return over(q, fault);
    REQUIRE(item != NULL || q->item_count < ITEMS_MAX);
    set(item != NULL ? item : &q->items[q->item_count++], key, data, bytes);
    return over(q, fault);
}

static inline enum status item_add(struct queue *queue, enum queue_shelf shelf, const char *name,
                                   const void *data, size_t bytes, struct arena *keep,
                                   struct queue_item *have, struct fault *fault)
{
    struct memory_queue *q = (struct memory_queue *)queue;
    char key[QUEUE_ID_BYTES];
    const struct held *item = find_item(q, shelf, name, key);
    if (item != NULL)
        return item_get(queue, shelf, name, keep, have, fault);
    *have = (struct queue_item){arena_text(keep, data, bytes), bytes};
    return item_set(queue, shelf, name, data, bytes, fault);
}

static inline void open_memory(struct memory_queue *q)
{
    static const struct transport functions = {put,      take,     settle,  renew,
                                               item_add, item_set, item_get};
    memset(q, 0, sizeof *q);
    q->queue.transport = &functions;
    current = q;
}

static inline void close_memory(struct memory_queue *q)
{
    for (int c = 0; c < QUEUE_CHANNELS; c++)
        for (uint32_t i = 0; i < q->count[c]; i++)
            free(q->messages[c][i].data);
    for (uint32_t i = 0; i < q->item_count; i++)
        free(q->items[i].data);
}

/* What the dead one had taken comes again; the next one lives. */
static inline void revive(struct memory_queue *q, uint32_t dies_at, bool dies_after)
{
    for (int c = 0; c < QUEUE_CHANNELS; c++)
        for (uint32_t i = 0; i < q->count[c]; i++)
            if (q->messages[c][i].state == TAKEN)
                q->messages[c][i].state = READY;
    q->dead = false;
    q->calls = 0;
    q->dies_at = dies_at;
    q->dies_after = dies_after;
}

#endif
