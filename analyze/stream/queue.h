/* Queues of messages that survive the death of any process. A transport is a table of three
 * functions; which one is used depends on the address:
 *
 *     nats://HOST:PORT      NATS JetStream, through libnats
 *     DIR                   a folder of files (a spool), on one machine
 *
 * A message has an id. It is delivered at least once: its taker has to settle it, or it is
 * delivered again after QUEUE_LEASE_MS. A message that is put twice with the same id within
 * QUEUE_REMEMBER_S is there once. */
#ifndef STREAM_QUEUE_H
#define STREAM_QUEUE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/fault.h"

enum queue_channel { QUEUE_REPORTS, QUEUE_PARTIALS, QUEUE_DEAD, QUEUE_SHADOW, QUEUE_CHANNELS };

enum {
    QUEUE_LEASE_MS = 30000,
    QUEUE_OPEN_MS = 30000,
    QUEUE_RETRY_MS = 250, /* between two attempts to reach a queue */
    QUEUE_REMEMBER_S = 24 * 3600,
    QUEUE_ID_BYTES = 96,          /* with the NUL */
    QUEUE_MESSAGE_BYTES = 900000, /* one message at most: below the usual limit of NATS */
    QUEUE_DELIVERIES_MAX = 5      /* then the message goes to QUEUE_DEAD */
};

struct queue;

struct queue_message {
    const char *id;
    const char *data; /* of the arena of take() */
    size_t bytes;
    uint32_t delivered; /* how often, from 1 */
    void *handle;       /* of the transport */
};

enum queue_end {
    QUEUE_DONE,  /* never again */
    QUEUE_AGAIN, /* now, to anyone */
};

struct transport {
    /* Returns when the message is stored. Fails: ERR_IO it may not be stored; ERR_LIMIT there is no
     * room (backpressure: try later). */
    enum status (*put)(struct queue *queue, enum queue_channel channel, const char *id,
                       const void *data, size_t bytes, struct fault *fault);

    /* At most MOST messages, waiting up to WAIT_MS for the first. *COUNT may be 0. Fails: ERR_IO,
     * ERR_MEMORY. */
    enum status (*take)(struct queue *queue, enum queue_channel channel, uint32_t most,
                        uint32_t wait_ms, struct arena *keep, struct queue_message **out,
                        uint32_t *count, struct fault *fault);

    /* Ends the delivery of a message; the handle is gone afterwards. Fails: ERR_IO; the message is
     * then delivered again. */
    enum status (*settle)(struct queue *queue, enum queue_channel channel,
                          struct queue_message *message, enum queue_end end, struct fault *fault);
};

/* Every implementation begins with this. */
struct queue {
    const struct transport *transport;
    void (*close)(struct queue *queue);
    /* Messages that are not settled; false: not known. */
    bool (*pending)(struct queue *queue, enum queue_channel channel, uint64_t *out);
};

/* Fails: ERR_UNSUPPORTED built without libnats; ERR_LIMIT no room for the queue; ERR_IO;
 * ERR_MEMORY. */
enum status queue_open(const char *address, struct queue **out, struct fault *fault);
/* The same, tried again for QUEUE_OPEN_MS while the server does not answer: it may be starting. */
enum status queue_open_patiently(const char *address, bool (*stopping)(void), struct queue **out,
                                 struct fault *fault);
void queue_close(struct queue *queue);

/* "reports", "partials", "dead", "shadow". */
const char *queue_channel_name(enum queue_channel channel);

/* 1 to QUEUE_ID_BYTES - 1 letters, digits, '-', '_' and '.', not beginning with '.'. */
bool queue_id_is_valid(const char *id);

/* Puts MESSAGE into QUEUE_DEAD with the reason, and settles it. */
enum status queue_bury(struct queue *queue, enum queue_channel channel,
                       struct queue_message *message, const char *reason, struct fault *fault);

enum status queue_open_spool(const char *folder, struct queue **out, struct fault *fault);
enum status queue_open_nats(const char *url, struct queue **out, struct fault *fault);

#endif
