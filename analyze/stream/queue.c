/* See queue.h. */
#include "stream/queue.h"

#include <stdio.h>
#include <string.h>

#include "base/files.h"
#include "base/text.h"

void queue_close(struct queue *queue)
{
    if (queue != NULL)
        queue->close(queue);
}

uint64_t queue_oldest_s(struct queue *queue, enum queue_channel channel)
{
    uint64_t stored_ns = 0;
    const uint64_t now_ns = clock_wall_ns();
    if (!queue->oldest(queue, channel, &stored_ns) || stored_ns > now_ns)
        return 0;
    return (now_ns - stored_ns) / 1000000000U;
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

static const char DOT = '0';

void queue_file_name(const char *id, char out[QUEUE_FILE_BYTES])
{
    char *to = out;
    for (; *id != '\0' && to < out + QUEUE_FILE_BYTES - 2; id++) {
        const bool is_upper = *id >= 'A' && *id <= 'Z';
        if (is_upper || *id == '.')
            *to++ = '=';
        const char small = (char)(is_upper ? *id - 'A' + 'a' : *id);
        *to++ = *id == '.' ? DOT : small;
    }
    *to = '\0';
}

bool queue_file_id(const char *file, char out[QUEUE_ID_BYTES])
{
    const char *const start = file;
    char again[QUEUE_FILE_BYTES];
    size_t bytes = 0;
    for (; *file != '\0' && bytes < QUEUE_ID_BYTES - 1; bytes++) {
        const bool is_escaped = *file == '=';
        file += is_escaped;
        const char c = *file;
        if (c == '\0')
            return false;
        const char unescaped = (char)(c == DOT ? '.' : c - 'a' + 'A');
        out[bytes] = is_escaped ? unescaped : c;
        file++;
    }
    out[bytes] = '\0';
    if (*file != '\0' || !queue_id_is_valid(out))
        return false;
    queue_file_name(out, again);
    return strcmp(again, start) == 0;
}

enum status queue_claim(struct queue *queue, const char *id, const char *digest,
                        struct fault *fault)
{
    struct queue_item have = {NULL, 0};
    struct arena work;
    arena_init(&work, 0);
    if (queue->transport->item_add(queue, QUEUE_NOTES, id, digest, strlen(digest), &work, &have,
                                   fault) == ERR_NONE &&
        strcmp(have.data, digest) != 0)
        (void)fault_set_hint(fault, ERR_MISMATCH, FAULT_NO_OFFSET, "report",
                             "another one has this id; send it with an id of its own");
    arena_free(&work);
    return fault->code;
}

/* Two messages have two letters, also where a transport made their ids and these are the same in
 * two channels; one that is buried twice has one. */
static void letter_id(enum queue_channel channel, const struct queue_message *message,
                      char out[QUEUE_ID_BYTES])
{
    char data[65], whole[65], text[QUEUE_ID_BYTES + 96];
    text_sha256(message->data, message->bytes, data);
    (void)snprintf(text, sizeof text, "%s %s %s", queue_channel_name(channel), message->id, data);
    text_sha256(text, strlen(text), whole);
    (void)snprintf(out, QUEUE_ID_BYTES, "-dead-%s", whole);
}

enum status queue_bury(struct queue *queue, enum queue_channel channel,
                       struct queue_message *message, const char *reason, struct fault *fault)
{
    struct arena work;
    char id[QUEUE_ID_BYTES];
    arena_init(&work, 0);
    const char *head =
        arena_printf(&work, "reason: %.255s\nchannel: %s\nid: %s\ndelivered: %u\n\n", reason,
                     queue_channel_name(channel), message->id, (unsigned)message->delivered);
    const size_t head_bytes = head != NULL ? strlen(head) : 0;
    char *text = arena_alloc(&work, head_bytes + message->bytes + 1);
    if (head == NULL || text == NULL || head_bytes > QUEUE_LETTER_BYTES) {
        (void)fault_no_memory(fault, "dead letter");
    } else {
        memcpy(text, head, head_bytes);
        memcpy(text + head_bytes, message->data, message->bytes);
        letter_id(channel, message, id);
        if (queue->transport->put(queue, QUEUE_DEAD, id, text, head_bytes + message->bytes,
                                  fault) == ERR_NONE)
            (void)queue->transport->settle(queue, channel, message, QUEUE_DONE, fault);
    }
    arena_free(&work);
    return fault->code;
}
