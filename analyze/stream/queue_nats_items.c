/* The items of a queue in NATS JetStream: one stream per shelf, one subject per name, which keeps
 * only its newest message. */
#include "stream/queue_nats.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

const char *const nats_shelf_streams[QUEUE_SHELVES] = {"TWINSTACK_NOTES", "TWINSTACK_PARTS"};
const char *const nats_shelf_subjects[QUEUE_SHELVES] = {"twinstack.notes.*", "twinstack.parts.*"};

enum status nats_queue_failed(struct fault *fault, natsStatus status, const char *what)
{
    const char *hint = "the queue's server refuses";
    if (status == NATS_TIMEOUT)
        hint = "the queue's server does not answer";
    else if (status == NATS_NO_SERVER)
        hint = "no server is there";
    else if (status == NATS_CONNECTION_CLOSED)
        hint = "the connection is closed";
    return fault_set_lasting(fault, ERR_IO, FAULT_NO_OFFSET, what, hint);
}

enum { SUBJECT_BYTES = 64, DIGITS = 32 };

/* A name may have dots, which divide subjects; half of its digest is as good. */
static void subject_of(enum queue_shelf shelf, const char *name, char out[SUBJECT_BYTES])
{
    char digest[65];
    text_sha256(name, strlen(name), digest);
    (void)snprintf(out, SUBJECT_BYTES, "%.*s%.*s", (int)strlen(nats_shelf_subjects[shelf]) - 1,
                   nats_shelf_subjects[shelf], DIGITS, digest);
}

static enum status publish(struct nats_queue *q, const char *subject, const void *data,
                           size_t bytes, bool is_first, jsErrCode *error, struct fault *fault)
{
    jsPubOptions options;
    memset(error, 0, sizeof *error); /* no value of the enum means none */
    (void)q->lib.jsPubOptions_Init(&options);
    options.MaxWait = NATS_WAIT_MS;
    options.ExpectNoMessage = is_first;
    const natsStatus status =
        q->lib.js_Publish(NULL, q->js, subject, data, (int)bytes, &options, error);
    if (status == NATS_OK)
        return ERR_NONE;
    if (*error == JSStreamStoreFailedErr || *error == JSInsufficientResourcesErr)
        return fault_set_hint(fault, ERR_LIMIT, FAULT_NO_OFFSET, "queue", "it is full");
    return nats_queue_failed(fault, status, "item of a queue");
}

enum status nats_item_get(struct queue *queue, enum queue_shelf shelf, const char *name,
                          struct arena *keep, struct queue_item *out, struct fault *fault)
{
    struct nats_queue *q = (struct nats_queue *)queue;
    char subject[SUBJECT_BYTES];
    natsMsg *message = NULL;
    jsErrCode error;
    memset(&error, 0, sizeof error);
    subject_of(shelf, name, subject);
    const natsStatus status =
        q->lib.js_GetLastMsg(&message, q->js, nats_shelf_streams[shelf], subject, NULL, &error);
    if (status == NATS_NOT_FOUND || error == JSNoMessageFoundErr)
        return fault_set(fault, ERR_ABSENT, FAULT_NO_OFFSET, "item of a queue");
    if (status != NATS_OK)
        return nats_queue_failed(fault, status, "item of a queue");
    out->bytes = (size_t)q->lib.natsMsg_GetDataLength(message);
    out->data = arena_text(keep, q->lib.natsMsg_GetData(message), out->bytes);
    q->lib.natsMsg_Destroy(message);
    return out->data != NULL ? ERR_NONE : fault_no_memory(fault, "item of a queue");
}

enum status nats_item_add(struct queue *queue, enum queue_shelf shelf, const char *name,
                          const void *data, size_t bytes, struct arena *keep,
                          struct queue_item *have, struct fault *fault)
{
    struct nats_queue *q = (struct nats_queue *)queue;
    char subject[SUBJECT_BYTES];
    jsErrCode error;
    subject_of(shelf, name, subject);
    if (publish(q, subject, data, bytes, true, &error, fault) == ERR_NONE) {
        have->data = arena_text(keep, data, bytes);
        have->bytes = bytes;
        return have->data != NULL ? ERR_NONE : fault_no_memory(fault, "item");
    }
    if (error != JSStreamWrongLastSequenceErr)
        return fault->code;
    fault_clear(fault); /* NAME has one */
    if (nats_item_get(queue, shelf, name, keep, have, fault) != ERR_ABSENT)
        return fault->code;
    fault_clear(fault); /* it was forgotten in this moment */
    return fault_set_hint(fault, ERR_IO, FAULT_NO_OFFSET, "item of a queue", "try it again");
}

enum status nats_item_set(struct queue *queue, enum queue_shelf shelf, const char *name,
                          const void *data, size_t bytes, struct fault *fault)
{
    struct nats_queue *q = (struct nats_queue *)queue;
    char subject[SUBJECT_BYTES];
    jsErrCode error;
    jsOptions options;
    subject_of(shelf, name, subject);
    if (data != NULL)
        return publish(q, subject, data, bytes, false, &error, fault);
    memset(&options, 0, sizeof options);
    memset(&error, 0, sizeof error);
    options.Stream.Purge.Subject = subject;
    const natsStatus status =
        q->lib.js_PurgeStream(q->js, nats_shelf_streams[shelf], &options, &error);
    return status == NATS_OK ? ERR_NONE : nats_queue_failed(fault, status, "item of a queue");
}
