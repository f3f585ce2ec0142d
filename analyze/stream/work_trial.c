/* Which message killed its worker. A message that was delivered before is processed alone, and a
 * note of that is stored first: only what was alone when a worker died is guilty. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "base/thread.h"
#include "stream/work_round.h"

enum { COUNT_BYTES = 16 /* of a number as text */ };

static void trial_name(enum queue_channel channel, const struct queue_message *message,
                       char out[QUEUE_ID_BYTES])
{
    char digest[65];
    text_sha256(message->id, strlen(message->id), digest);
    (void)snprintf(out, QUEUE_ID_BYTES, "-trial-%s-%s", queue_channel_name(channel), digest);
}

uint32_t work_deaths(const struct work_options *options, enum queue_channel channel,
                     const struct queue_message *message)
{
    struct queue *queue = options->queue;
    struct queue_item item = {NULL, 0};
    struct fault ignored = FAULT_INIT;
    struct arena work;
    uint64_t deaths = 0;
    char name[QUEUE_ID_BYTES];
    arena_init(&work, 0);
    trial_name(channel, message, name);
    if (queue->transport->item_get(queue, QUEUE_NOTES, name, &work, &item, &ignored) != ERR_NONE ||
        !text_parse_uint(item.data, item.bytes, &deaths))
        deaths = 0;
    arena_free(&work);
    return (uint32_t)deaths;
}

enum status work_trial(const struct work_options *options, enum queue_channel channel,
                       const struct queue_message *message, uint32_t deaths, struct fault *fault)
{
    struct queue *queue = options->queue;
    char name[QUEUE_ID_BYTES], text[COUNT_BYTES];
    trial_name(channel, message, name);
    const int bytes = snprintf(text, sizeof text, "%u", (unsigned)deaths + 1);
    return queue->transport->item_set(queue, QUEUE_NOTES, name, text, (size_t)bytes, fault);
}

void work_survived(const struct work_options *options, enum queue_channel channel,
                   const struct queue_message *message, uint32_t deaths)
{
    struct queue *queue = options->queue;
    char name[QUEUE_ID_BYTES], text[COUNT_BYTES];
    trial_name(channel, message, name);
    const int bytes = snprintf(text, sizeof text, "%u", (unsigned)deaths);
    for (;;) {
        struct fault fault = FAULT_INIT;
        if (queue->transport->item_set(queue, QUEUE_NOTES, name, deaths > 0 ? text : NULL,
                                       (size_t)bytes, &fault) == ERR_NONE ||
            options->stopping())
            return;
        thread_sleep_ms(QUEUE_RETRY_MS);
    }
}
