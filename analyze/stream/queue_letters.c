/* Dead letters: what made them, and the way back. See queue.h. */
#include <stdio.h>
#include <string.h>

#include "base/files.h"
#include "base/text.h"
#include "stream/queue.h"

static const char end_of_head[] = "\n\n";

/* The rest of the line that begins with KEY, in OUT; false: there is none, or it is too long. */
static bool read_line(const char *head, size_t head_bytes, const char *key, char *out, size_t room)
{
    const size_t key_bytes = strlen(key);
    for (const char *line = head; line < head + head_bytes;) {
        const char *stop = memchr(line, '\n', (size_t)(head + head_bytes - line));
        const size_t bytes = (size_t)((stop != NULL ? stop : head + head_bytes) - line);
        if (bytes >= key_bytes && memcmp(line, key, key_bytes) == 0) {
            const int written =
                snprintf(out, room, "%.*s", (int)(bytes - key_bytes), line + key_bytes);
            return written >= 0 && (size_t)written < room;
        }
        line += bytes + 1;
    }
    return false;
}

static bool find_channel(const char *name, enum queue_channel *out)
{
    for (int i = 0; i < QUEUE_CHANNELS; i++)
        if (i != QUEUE_DEAD && strcmp(queue_channel_name((enum queue_channel)i), name) == 0) {
            *out = (enum queue_channel)i;
            return true;
        }
    return false;
}

/* Where the message begins; 0: the head has no end. */
static size_t body_start(const struct queue_message *message)
{
    for (size_t i = 0; i + sizeof end_of_head - 1 <= message->bytes && i < QUEUE_LETTER_BYTES; i++)
        if (memcmp(message->data + i, end_of_head, sizeof end_of_head - 1) == 0)
            return i + sizeof end_of_head - 1;
    return 0;
}

enum status queue_letter_read(const struct queue_message *message, struct queue_letter *out,
                              struct fault *fault)
{
    char channel[16] = "", delivered[24] = "";
    const size_t start = body_start(message);
    if (start == 0 ||
        !read_line(message->data, start, "reason: ", out->reason, sizeof out->reason) ||
        !read_line(message->data, start, "channel: ", channel, sizeof channel) ||
        !read_line(message->data, start, "id: ", out->id, sizeof out->id) ||
        !read_line(message->data, start, "delivered: ", delivered, sizeof delivered) ||
        !find_channel(channel, &out->channel) ||
        !text_parse_uint(delivered, strlen(delivered), &out->delivered))
        return fault_set(fault, ERR_MALFORMED, 0, "dead letter");
    out->data = message->data + start;
    out->bytes = message->bytes - start;
    return queue_id_is_valid(out->id) ? ERR_NONE
                                      : fault_set(fault, ERR_MALFORMED, 0, "id of a dead letter");
}

enum status queue_letter_retry(struct queue *queue, const struct queue_letter *letter,
                               struct fault *fault)
{
    enum { MARK_BYTES = 11 }; /* of an id that was made here before: "-r01234567-" */
    char text[QUEUE_ID_BYTES + 32], digest[65], id[QUEUE_ID_BYTES];
    const bool is_again = strncmp(letter->id, "-r", 2) == 0 && strlen(letter->id) > MARK_BYTES;
    (void)snprintf(text, sizeof text, "%s %llu", letter->id, (unsigned long long)clock_wall_ns());
    text_sha256(text, strlen(text), digest);
    const int bytes =
        snprintf(id, sizeof id, "-r%.8s-%s", digest, letter->id + (is_again ? MARK_BYTES : 0));
    if (bytes < 0 || (size_t)bytes >= sizeof id)
        return fault_set(fault, ERR_LIMIT, FAULT_NO_OFFSET, "id of a dead letter");
    return queue->transport->put(queue, letter->channel, id, letter->data, letter->bytes, fault);
}
