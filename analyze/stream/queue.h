/* Queues of messages that survive the death of any process. A transport is a table of three
 * functions; which one is used depends on the address:
 *
 *     nats://HOST:PORT      NATS JetStream, through libnats
 *     DIR                   a folder of files (a spool), on one machine
 *
 * A message has an id. It is delivered at least once: its taker has to settle it, or it is
 * delivered again after QUEUE_LEASE_MS; while a taker works on it, it renews the lease. A message
 * that is put twice with the same id within QUEUE_REMEMBER_S is there once. What no worker samples
 * is dropped after QUEUE_KEEP_S.
 *
 * Ids of senders are NAME-ID, and no name is empty. Ids that this program makes begin with '-', so
 * no sender can send one.
 *
 * Besides messages a queue holds items: texts by name, which are not delivered to anyone. */
#ifndef STREAM_QUEUE_H
#define STREAM_QUEUE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/fault.h"

enum queue_channel { QUEUE_REPORTS, QUEUE_PARTIALS, QUEUE_DEAD, QUEUE_SHADOW, QUEUE_CHANNELS };

enum {
    QUEUE_LEASE_MS = 30000,
    QUEUE_RENEW_MS = 10000, /* a holder renews the lease so often ... */
    QUEUE_HOLD_MS = 900000, /* ... for so long: then others may try */
    QUEUE_OPEN_MS = 30000,
    QUEUE_RETRY_MS = 250, /* between two attempts to reach a queue */
    QUEUE_REMEMBER_S = 24 * 3600,
    QUEUE_NOTES_S = 25 * 3600,    /* the numbers of their pages are stored now and then */
    QUEUE_ID_BYTES = 96,          /* with the NUL */
    QUEUE_MESSAGE_BYTES = 900000, /* one message at most: below the usual limit of NATS */
    QUEUE_LETTER_BYTES = 1024,    /* that a dead letter may have more than a message */
    QUEUE_DEATHS_MAX = 5,         /* of workers; then the message goes to QUEUE_DEAD */
    QUEUE_KEEP_S = 14 * 24 * 3600
};

/* What a queue holds besides messages. An item is forgotten after QUEUE_NOTES_S or QUEUE_KEEP_S. */
enum queue_shelf {
    QUEUE_NOTES, /* what is known of ids */
    QUEUE_PARTS, /* of reports that are larger than a message */
    QUEUE_SHELVES
};

struct queue;

struct queue_message {
    const char *id;
    const char *data; /* of the arena of take() */
    size_t bytes;
    uint32_t delivered; /* how often, from 1 */
    void *handle;       /* of the transport */
};

struct queue_item {
    const char *data; /* with a NUL after it */
    size_t bytes;
};

enum queue_end {
    QUEUE_DONE,  /* never again */
    QUEUE_AGAIN, /* now, to anyone */
    QUEUE_LATER, /* when its lease is over */
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

    /* The lease of a message starts anew. A failure is not reported: the lease may end then. */
    void (*renew)(struct queue *queue, enum queue_channel channel, struct queue_message *message);

    /* Stores an item unless NAME has one, of any writer. *HAVE is what NAME then has, in KEEP. It
     * is stored when this returns. Fails: ERR_IO, ERR_LIMIT, ERR_MEMORY. */
    enum status (*item_add)(struct queue *queue, enum queue_shelf shelf, const char *name,
                            const void *data, size_t bytes, struct arena *keep,
                            struct queue_item *have, struct fault *fault);

    /* Replaces an item; DATA NULL removes it. */
    enum status (*item_set)(struct queue *queue, enum queue_shelf shelf, const char *name,
                            const void *data, size_t bytes, struct fault *fault);

    /* Fails: ERR_ABSENT; ERR_IO, ERR_MEMORY. */
    enum status (*item_get)(struct queue *queue, enum queue_shelf shelf, const char *name,
                            struct arena *keep, struct queue_item *out, struct fault *fault);
};

/* Looks at a message that is not taken; STORED_NS is when it was put, on the wall clock. Returns
 * true to have it removed. */
typedef bool queue_visit_fn(void *context, const struct queue_message *message, uint64_t stored_ns);

/* Every implementation begins with this. */
struct queue {
    const struct transport *transport;
    const char *doubt; /* why what is acknowledged may yet be lost; NULL: it is not */
    void (*close)(struct queue *queue);
    /* Messages that are not settled; false: not known. */
    bool (*pending)(struct queue *queue, enum queue_channel channel, uint64_t *out);
    /* When the oldest message of a channel that is not taken was put, on the wall clock. False:
     * there is none, or it is not known. */
    bool (*oldest)(struct queue *queue, enum queue_channel channel, uint64_t *stored_ns);
    /* Shows VISIT every message of a channel, the oldest id or number first. Fails: ERR_IO,
     * ERR_MEMORY. */
    enum status (*visit)(struct queue *queue, enum queue_channel channel, queue_visit_fn *visit,
                         void *context, struct fault *fault);
};

/* Fails: ERR_UNSUPPORTED built without libnats; ERR_LIMIT no room for the queue; ERR_IO;
 * ERR_MEMORY. */
enum status queue_open(const char *address, struct queue **out, struct fault *fault);
/* The same, tried again for QUEUE_OPEN_MS while the server does not answer: it may be starting. */
enum status queue_open_patiently(const char *address, bool (*stopping)(void), struct queue **out,
                                 struct fault *fault);
void queue_close(struct queue *queue);

/* For how many seconds the oldest message of a channel has been there; 0: there is none. */
uint64_t queue_oldest_s(struct queue *queue, enum queue_channel channel);

/* "reports", "partials", "dead", "shadow". */
const char *queue_channel_name(enum queue_channel channel);

/* 1 to QUEUE_ID_BYTES - 1 letters, digits, '-', '_' and '.', not beginning with '.'. */
bool queue_id_is_valid(const char *id);

/* Remembers ID with DIGEST for QUEUE_REMEMBER_S. Fails: ERR_MISMATCH it is remembered with another
 * one: a different report has this id; and as item_add(). */
enum status queue_claim(struct queue *queue, const char *id, const char *digest,
                        struct fault *fault);

/* Puts MESSAGE into QUEUE_DEAD with the reason, and settles it. */
enum status queue_bury(struct queue *queue, enum queue_channel channel,
                       struct queue_message *message, const char *reason, struct fault *fault);

/* A dead letter: why it is one, and the message as it was. */
struct queue_letter {
    char reason[256];
    enum queue_channel channel; /* where it comes from */
    char id[QUEUE_ID_BYTES];    /* of the message */
    uint64_t delivered;
    const char *data; /* borrowed */
    size_t bytes;
};

/* Fails: ERR_MALFORMED. */
enum status queue_letter_read(const struct queue_message *message, struct queue_letter *out,
                              struct fault *fault);

/* Puts the message of a letter back into its channel, under an id that the queue has not refused
 * yet. What was counted is still known by the id of its report. Fails: as put(). */
enum status queue_letter_retry(struct queue *queue, const struct queue_letter *letter,
                               struct fault *fault);

/* NAME of a message, item or dump as the name of a file that differs from all others also where
 * upper and lower case are the same, or a '.' at the end is dropped: "A." is "=a=0". Ids are valid.
 */
enum { QUEUE_FILE_BYTES = 2 * QUEUE_ID_BYTES };
void queue_file_name(const char *id, char out[QUEUE_FILE_BYTES]);
/* The opposite; false: FILE is no such name. */
bool queue_file_id(const char *file, char out[QUEUE_ID_BYTES]);

enum status queue_open_spool(const char *folder, struct queue **out, struct fault *fault);
enum status queue_open_nats(const char *url, struct queue **out, struct fault *fault);

#endif
