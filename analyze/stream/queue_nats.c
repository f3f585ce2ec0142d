/* A queue in NATS JetStream, through libnats, which is loaded when the first address names it.
 * Source: https://nats-io.github.io/nats.c/ and https://docs.nats.io/nats-concepts/jetstream
 *
 * Each channel is a stream of its own with file storage. A message leaves its stream when it is
 * acknowledged; the server drops a second message with the same id within the stream's window. A
 * full stream refuses new messages, which is the backpressure. */
#include "stream/queue_nats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/files.h"
#include "fetch/shared_library.h"

enum { RECONNECT_MS = 250, TAKEN_MAX = 1024, LOST_LOOKS = 3 };
#define LOOK_EVERY_NS (UINT64_C(2) * 1000000000)

static const char *const readers[] = {"workers", "reducer", "undertaker", "shadow"};

static enum status load(struct library *lib, struct fault *fault)
{
    static const char *const names[] = {"libnats.so.3.4", "libnats.so.3", "libnats.so",
                                        "libnats.dylib", "nats.dll"};
    const char *named = getenv("TWINSTACK_LIBNATS");
    void *library = named != NULL ? library_open(named) : NULL;
    bool whole;
    for (size_t i = 0; named == NULL && library == NULL && i < COUNT_OF(names); i++)
        library = library_open(names[i]);
    whole = library != NULL;
#define LOAD_FUNCTION(name) whole = whole && library_function(library, #name, &lib->name);
    NATS_FUNCTIONS(LOAD_FUNCTION)
    if (!whole)
        return fault_set_hint(fault, ERR_UNSUPPORTED, FAULT_NO_OFFSET, "queue",
                              "libnats is not installed (Debian: libnats3.4); a folder works "
                              "without it");
    return ERR_NONE;
}

static enum status nats_put(struct queue *queue, enum queue_channel channel, const char *id,
                            const void *data, size_t bytes, struct fault *fault)
{
    struct nats_queue *q = (struct nats_queue *)queue;
    jsPubOptions options;
    jsErrCode error;
    if (bytes > QUEUE_MESSAGE_BYTES + (channel == QUEUE_DEAD ? QUEUE_LETTER_BYTES : 0))
        return fault_set(fault, ERR_LIMIT, FAULT_NO_OFFSET, "message of a queue");
    memset(&error, 0, sizeof error); /* no value of the enum means none */
    (void)q->lib.jsPubOptions_Init(&options);
    options.MsgId = id;
    options.MaxWait = NATS_WAIT_MS;
    const natsStatus status =
        q->lib.js_Publish(NULL, q->js, nats_subjects[channel], data, (int)bytes, &options, &error);
    if (status == NATS_OK)
        return ERR_NONE;
    if (error == JSStreamStoreFailedErr || error == JSInsufficientResourcesErr)
        return fault_set_hint(fault, ERR_LIMIT, FAULT_NO_OFFSET, "queue", "it is full");
    return nats_queue_failed(fault, status, "message to a queue");
}

static enum status subscribe(struct nats_queue *q, enum queue_channel channel, struct fault *fault)
{
    jsSubOptions options;
    (void)q->lib.jsSubOptions_Init(&options);
    options.Stream = nats_streams[channel];
    options.ManualAck = true;
    options.Config.AckPolicy = js_AckExplicit;
    options.Config.AckWait = QUEUE_LEASE_MS / 1000 * NATS_SECOND_NS;
    options.Config.MaxAckPending = TAKEN_MAX;
    const natsStatus status =
        q->lib.js_PullSubscribe(&q->subscriptions[channel], q->js, nats_subjects[channel],
                                readers[channel], NULL, &options, NULL);
    return status == NATS_OK ? ERR_NONE : nats_queue_failed(fault, status, "messages of a queue");
}

/* Copies a message, so that only its handle is the library's. */
static bool copy_message(struct nats_queue *q, natsMsg *from, struct arena *keep,
                         struct queue_message *out)
{
    const char *id = NULL;
    jsMsgMetaData *meta = NULL;
    (void)q->lib.natsMsgHeader_Get(from, "Nats-Msg-Id", &id);
    out->bytes = (size_t)q->lib.natsMsg_GetDataLength(from);
    out->data = arena_text(keep, q->lib.natsMsg_GetData(from), out->bytes);
    out->delivered = 1;
    out->handle = from;
    if (q->lib.natsMsg_GetMetaData(&meta, from) == NATS_OK) {
        out->delivered = (uint32_t)meta->NumDelivered;
        out->id = id != NULL ? arena_string(keep, id)
                             : arena_printf(keep, "sequence-%llu",
                                            (unsigned long long)meta->Sequence.Stream);
        q->lib.jsMsgMetaData_Destroy(meta);
    }
    return out->data != NULL && out->id != NULL;
}

/* Whether the reader of a channel will never be given what its stream has. A server that was killed
 * may come back with the reader ahead of the sequence of its stream; it then delivers nothing until
 * the sequence has caught up, and never what it stored in between. If it was killed while it made
 * the reader, there is none.
 * Source: https://github.com/nats-io/nats-server/issues/5412, seen with 2.9.10.
 *
 * A reader that is ahead is certain. The numbers of messages are not of the same moment, so they
 * must differ several times in a row. */
static bool is_reader_lost(struct nats_queue *q, enum queue_channel channel)
{
    jsConsumerInfo *reader = NULL;
    jsStreamInfo *stream = NULL;
    jsErrCode error;
    bool is_ahead = false, has_more = false;
    memset(&error, 0, sizeof error);
    if (q->lib.js_GetConsumerInfo(&reader, q->js, nats_streams[channel], readers[channel], NULL,
                                  &error) == NATS_OK &&
        q->lib.js_GetStreamInfo(&stream, q->js, nats_streams[channel], NULL, NULL) == NATS_OK) {
        is_ahead = stream->State.LastSeq < reader->Delivered.Stream;
        has_more = stream->State.Msgs > reader->NumPending + (uint64_t)reader->NumAckPending;
    }
    if (reader != NULL)
        q->lib.jsConsumerInfo_Destroy(reader);
    if (stream != NULL)
        q->lib.jsStreamInfo_Destroy(stream);
    q->lost_looks[channel] = has_more ? q->lost_looks[channel] + 1 : 0;
    return error == JSConsumerNotFoundErr || is_ahead || q->lost_looks[channel] >= LOST_LOOKS;
}

static void drop_subscription(struct nats_queue *q, enum queue_channel channel)
{
    q->lib.natsSubscription_Destroy(q->subscriptions[channel]);
    q->subscriptions[channel] = NULL;
}

/* Deletes a reader that is lost, now and then while nothing comes. The next take makes a new one,
 * which is given all that the stream has; what is counted is known by its id. */
static void look_at_reader(struct nats_queue *q, enum queue_channel channel)
{
    const uint64_t now_ns = clock_ns();
    if (now_ns - q->looked_ns[channel] < LOOK_EVERY_NS)
        return;
    q->looked_ns[channel] = now_ns;
    if (!is_reader_lost(q, channel))
        return;
    q->lost_looks[channel] = 0;
    (void)q->lib.js_DeleteConsumer(q->js, nats_streams[channel], readers[channel], NULL, NULL);
    drop_subscription(q, channel);
}

static enum status nats_take(struct queue *queue, enum queue_channel channel, uint32_t most,
                             uint32_t wait_ms, struct arena *keep, struct queue_message **out,
                             uint32_t *count, struct fault *fault)
{
    struct nats_queue *q = (struct nats_queue *)queue;
    natsMsgList list = {NULL, 0};
    *count = 0;
    *out = ARENA_ARRAY(keep, most, struct queue_message);
    if (*out == NULL)
        return fault_no_memory(fault, "messages");
    if (q->subscriptions[channel] == NULL && subscribe(q, channel, fault) != ERR_NONE)
        return fault->code;
    const natsStatus status = q->lib.natsSubscription_Fetch(&list, q->subscriptions[channel],
                                                            (int)most, (int64_t)wait_ms, NULL);
    if (status == NATS_TIMEOUT) {
        look_at_reader(q, channel);
        return ERR_NONE;
    }
    if (status != NATS_OK) {
        /* the server may have been started anew: its reader of this channel is looked up again */
        drop_subscription(q, channel);
        return nats_queue_failed(fault, status, "messages of a queue");
    }
    for (int i = 0; i < list.Count; i++) {
        if (fault->code == ERR_NONE && copy_message(q, list.Msgs[i], keep, &(*out)[*count])) {
            (*count)++;
            list.Msgs[i] = NULL; /* settled later */
        } else {
            (void)fault_no_memory(fault, "messages");
        }
    }
    q->lib.natsMsgList_Destroy(&list);
    return fault->code;
}

static enum status nats_settle(struct queue *queue, enum queue_channel channel,
                               struct queue_message *message, enum queue_end end,
                               struct fault *fault)
{
    struct nats_queue *q = (struct nats_queue *)queue;
    (void)channel;
    natsStatus status = NATS_OK;
    if (end == QUEUE_DONE)
        status = q->lib.natsMsg_AckSync(message->handle, NULL, NULL);
    else if (end == QUEUE_AGAIN)
        status = q->lib.natsMsg_Nak(message->handle, NULL);
    q->lib.natsMsg_Destroy(message->handle);
    message->handle = NULL;
    return status == NATS_OK ? ERR_NONE : nats_queue_failed(fault, status, "end of a message");
}

static void nats_renew(struct queue *queue, enum queue_channel channel,
                       struct queue_message *message)
{
    struct nats_queue *q = (struct nats_queue *)queue;
    (void)channel;
    (void)q->lib.natsMsg_InProgress(message->handle, NULL);
}

static bool nats_oldest(struct queue *queue, enum queue_channel channel, uint64_t *stored_ns)
{
    struct nats_queue *q = (struct nats_queue *)queue;
    jsStreamInfo *info = NULL;
    if (q->lib.js_GetStreamInfo(&info, q->js, nats_streams[channel], NULL, NULL) != NATS_OK)
        return false;
    const bool has_one = info->State.Msgs > 0 && info->State.FirstTime > 0;
    *stored_ns = has_one ? (uint64_t)info->State.FirstTime : 0;
    q->lib.jsStreamInfo_Destroy(info);
    return has_one;
}

static bool nats_pending(struct queue *queue, enum queue_channel channel, uint64_t *out)
{
    struct nats_queue *q = (struct nats_queue *)queue;
    jsStreamInfo *info = NULL;
    if (q->lib.js_GetStreamInfo(&info, q->js, nats_streams[channel], NULL, NULL) != NATS_OK)
        return false;
    *out = info->State.Msgs;
    q->lib.jsStreamInfo_Destroy(info);
    return true;
}

/* Shows the message with a number, if there still is one. */
static enum status visit_one(struct nats_queue *q, const char *stream, uint64_t number,
                             queue_visit_fn *visit, void *context, struct fault *fault)
{
    struct queue_message message = {.delivered = 0};
    natsMsg *from = NULL;
    const char *id = NULL;
    char made[32];
    jsErrCode error;
    memset(&error, 0, sizeof error);
    const natsStatus status = q->lib.js_GetMsg(&from, q->js, stream, number, NULL, &error);
    if (status == NATS_NOT_FOUND || error == JSNoMessageFoundErr)
        return ERR_NONE;
    if (status != NATS_OK)
        return nats_queue_failed(fault, status, "messages of a queue");
    (void)q->lib.natsMsgHeader_Get(from, "Nats-Msg-Id", &id);
    (void)snprintf(made, sizeof made, "sequence-%llu", (unsigned long long)number);
    message.id = id != NULL ? id : made;
    message.data = q->lib.natsMsg_GetData(from);
    message.bytes = (size_t)q->lib.natsMsg_GetDataLength(from);
    const int64_t stored_ns = q->lib.natsMsg_GetTime(from);
    const bool is_removed = visit(context, &message, stored_ns > 0 ? (uint64_t)stored_ns : 0);
    q->lib.natsMsg_Destroy(from);
    if (is_removed && q->lib.js_DeleteMsg(q->js, stream, number, NULL, NULL) != NATS_OK)
        return nats_queue_failed(fault, NATS_ERR, "removal of a message");
    return ERR_NONE;
}

static enum status nats_visit(struct queue *queue, enum queue_channel channel,
                              queue_visit_fn *visit, void *context, struct fault *fault)
{
    struct nats_queue *q = (struct nats_queue *)queue;
    jsStreamInfo *info = NULL;
    const natsStatus status =
        q->lib.js_GetStreamInfo(&info, q->js, nats_streams[channel], NULL, NULL);
    if (status != NATS_OK)
        return nats_queue_failed(fault, status, "messages of a queue");
    const uint64_t first = info->State.FirstSeq, last = info->State.LastSeq;
    q->lib.jsStreamInfo_Destroy(info);
    for (uint64_t number = first > 0 ? first : 1; number <= last && fault->code == ERR_NONE;
         number++)
        (void)visit_one(q, nats_streams[channel], number, visit, context, fault);
    return fault->code;
}

static void nats_close(struct queue *queue)
{
    struct nats_queue *q = (struct nats_queue *)queue;
    for (int c = 0; c < QUEUE_CHANNELS; c++)
        if (q->subscriptions[c] != NULL)
            q->lib.natsSubscription_Destroy(q->subscriptions[c]);
    if (q->js != NULL)
        q->lib.jsCtx_Destroy(q->js);
    if (q->connection != NULL)
        q->lib.natsConnection_Destroy(q->connection);
    free(q);
}

static enum status connect_to(struct nats_queue *q, const char *url, struct fault *fault)
{
    natsOptions *options = NULL;
    natsStatus status = q->lib.natsOptions_Create(&options);
    if (status == NATS_OK)
        status = q->lib.natsOptions_SetURL(options, url);
    if (status == NATS_OK)
        status = q->lib.natsOptions_SetTimeout(options, NATS_WAIT_MS);
    if (status == NATS_OK)
        status = q->lib.natsOptions_SetMaxReconnect(options, -1);
    if (status == NATS_OK)
        status = q->lib.natsOptions_SetReconnectWait(options, RECONNECT_MS);
    if (status == NATS_OK)
        status = nats_queue_identify(q, options);
    if (status == NATS_OK)
        status = q->lib.natsConnection_Connect(&q->connection, options);
    if (options != NULL)
        q->lib.natsOptions_Destroy(options);
    const bool is_known = status == NATS_CONNECTION_AUTH_FAILED || status == NATS_SSL_ERROR ||
                          status == NATS_SECURE_CONNECTION_REQUIRED ||
                          status == NATS_SECURE_CONNECTION_WANTED;
    if (status != NATS_OK && status != NATS_NO_SERVER && status != NATS_TIMEOUT)
        return fault_set_hint(fault, is_known ? ERR_UNSUPPORTED : ERR_IO, FAULT_NO_OFFSET, "queue",
                              "its server refuses this program's name or certificate: see "
                              "TWINSTACK_NATS_USER, _TOKEN, _CREDS, _CA and _CERT in the README");
    if (status == NATS_OK)
        status = q->lib.natsConnection_JetStream(&q->js, q->connection, NULL);
    if (status != NATS_OK)
        return nats_queue_failed(fault, status, "queue");
    if (nats_queue_add_streams(q, fault) == ERR_NONE)
        nats_queue_check(q);
    return fault->code;
}

enum status queue_open_nats(const char *url, struct queue **out, struct fault *fault)
{
    static const struct transport functions = {.put = nats_put,
                                               .take = nats_take,
                                               .settle = nats_settle,
                                               .renew = nats_renew,
                                               .item_add = nats_item_add,
                                               .item_set = nats_item_set,
                                               .item_get = nats_item_get};
    struct nats_queue *q = calloc(1, sizeof *q);
    *out = NULL;
    if (q == NULL)
        return fault_no_memory(fault, "queue");
    q->queue = (struct queue){&functions, NULL, nats_close, nats_pending, nats_oldest, nats_visit};
    if (load(&q->lib, fault) != ERR_NONE) {
        free(q);
        return fault->code;
    }
    if (connect_to(q, url, fault) != ERR_NONE) {
        nats_close(&q->queue);
        return fault->code;
    }
    *out = &q->queue;
    return ERR_NONE;
}
