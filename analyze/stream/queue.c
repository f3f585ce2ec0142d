/* See queue.h. */
#include "stream/queue.h"

#include <string.h>

void queue_close(struct queue *queue)
{
    if (queue != NULL)
        queue->close(queue);
}

const char *queue_channel_name(enum queue_channel channel)
{
    static const char *const names[QUEUE_CHANNELS] = {"reports", "partials", "dead", "shadow"};
    return names[channel];
}

bool queue_id_is_valid(const char *id)
{
    size_t bytes = 0;
    for (; id[bytes] != '\0'; bytes++) {
        const char c = id[bytes];
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
              c == '-' || c == '_' || (c == '.' && bytes > 0)))
            return false;
    }
    return bytes > 0 && bytes < QUEUE_ID_BYTES;
}

enum status queue_bury(struct queue *queue, enum queue_channel channel,
                       struct queue_message *message, const char *reason, struct fault *fault)
{
    struct arena work;
    arena_init(&work, 0);
    const char *head = arena_printf(&work, "reason: %s\nchannel: %s\ndelivered: %u\n\n", reason,
                                    queue_channel_name(channel), (unsigned)message->delivered);
    const size_t head_bytes = head != NULL ? strlen(head) : 0;
    const size_t room = QUEUE_MESSAGE_BYTES - head_bytes;
    const size_t kept = message->bytes < room ? message->bytes : room;
    char *text = arena_alloc(&work, head_bytes + kept + 1);
    if (head == NULL || text == NULL) {
        (void)fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "dead letter");
    } else {
        memcpy(text, head, head_bytes);
        memcpy(text + head_bytes, message->data, kept);
        if (queue->transport->put(queue, QUEUE_DEAD, message->id, text, head_bytes + kept, fault) ==
            ERR_NONE)
            (void)queue->transport->settle(queue, channel, message, QUEUE_DONE, fault);
    }
    arena_free(&work);
    return fault->code;
}
