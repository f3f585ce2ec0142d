/* A queue in NATS JetStream, through libnats, which is loaded when the first address names it.
 * Source: https://nats-io.github.io/nats.c/ and https://docs.nats.io/nats-concepts/jetstream
 *
 * Each channel is a stream of its own with file storage. A message leaves its stream when it is
 * acknowledged; the server drops a second message with the same id within the stream's window. A
 * full stream refuses new messages, which is the backpressure. */
#include <nats/nats.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/files.h"
#include "base/thread.h"
#include "fetch/library.h"
#include "stream/queue.h"

enum { WAIT_MS = 5000, RECONNECT_MS = 250, TAKEN_MAX = 1024, LOST_LOOKS = 3 };
#define LOOK_EVERY_NS (UINT64_C(2) * 1000000000)
#define CHANNEL_BYTES_MAX ((int64_t)8 << 30)
#define SMALL_CHANNEL_BYTES_MAX ((int64_t)1 << 30) /* dead letters, sampled reports */
#define CHANNEL_BYTES_LEAST ((int64_t)8 << 20)     /* some messages */
enum { SMALL_CHANNEL_SHARE = 4 };                  /* of the room of the reports */
#define NS_PER_S INT64_C(1000000000)

/* The functions of libnats that are used; their types are below. */
#define NATS_FUNCTIONS(F)                                                                          \
    F(natsOptions_Create)                                                                          \
    F(natsOptions_Destroy)                                                                         \
    F(natsOptions_SetURL)                                                                          \
    F(natsOptions_SetMaxReconnect)                                                                 \
    F(natsOptions_SetReconnectWait)                                                                \
    F(natsOptions_SetTimeout)                                                                      \
    F(natsConnection_Connect)                                                                      \
    F(natsConnection_Destroy)                                                                      \
    F(natsConnection_JetStream)                                                                    \
    F(jsCtx_Destroy)                                                                               \
    F(jsStreamConfig_Init)                                                                         \
    F(jsSubOptions_Init)                                                                           \
    F(jsPubOptions_Init)                                                                           \
    F(js_AddStream)                                                                                \
    F(js_UpdateStream)                                                                             \
    F(js_GetStreamInfo)                                                                            \
    F(jsStreamInfo_Destroy)                                                                        \
    F(js_GetConsumerInfo)                                                                          \
    F(jsConsumerInfo_Destroy)                                                                      \
    F(js_DeleteConsumer)                                                                           \
    F(js_Publish)                                                                                  \
    F(js_PullSubscribe)                                                                            \
    F(natsSubscription_Fetch)                                                                      \
    F(natsSubscription_Destroy)                                                                    \
    F(natsMsgList_Destroy)                                                                         \
    F(natsMsg_GetData)                                                                             \
    F(natsMsg_GetDataLength)                                                                       \
    F(natsMsgHeader_Get)                                                                           \
    F(natsMsg_GetMetaData)                                                                         \
    F(jsMsgMetaData_Destroy)                                                                       \
    F(natsMsg_AckSync)                                                                             \
    F(natsMsg_Nak)                                                                                 \
    F(natsMsg_Destroy)

struct library {
    natsStatus (*natsOptions_Create)(natsOptions **);
    void (*natsOptions_Destroy)(natsOptions *);
    natsStatus (*natsOptions_SetURL)(natsOptions *, const char *);
    natsStatus (*natsOptions_SetMaxReconnect)(natsOptions *, int);
    natsStatus (*natsOptions_SetReconnectWait)(natsOptions *, int64_t);
    natsStatus (*natsOptions_SetTimeout)(natsOptions *, int64_t);
    natsStatus (*natsConnection_Connect)(natsConnection **, natsOptions *);
    void (*natsConnection_Destroy)(natsConnection *);
    natsStatus (*natsConnection_JetStream)(jsCtx **, natsConnection *, jsOptions *);
    void (*jsCtx_Destroy)(jsCtx *);
    natsStatus (*jsStreamConfig_Init)(jsStreamConfig *);
    natsStatus (*jsSubOptions_Init)(jsSubOptions *);
    natsStatus (*jsPubOptions_Init)(jsPubOptions *);
    natsStatus (*js_AddStream)(jsStreamInfo **, jsCtx *, jsStreamConfig *, jsOptions *,
                               jsErrCode *);
    natsStatus (*js_UpdateStream)(jsStreamInfo **, jsCtx *, jsStreamConfig *, jsOptions *,
                                  jsErrCode *);
    natsStatus (*js_GetStreamInfo)(jsStreamInfo **, jsCtx *, const char *, jsOptions *,
                                   jsErrCode *);
    void (*jsStreamInfo_Destroy)(jsStreamInfo *);
    natsStatus (*js_GetConsumerInfo)(jsConsumerInfo **, jsCtx *, const char *, const char *,
                                     jsOptions *, jsErrCode *);
    void (*jsConsumerInfo_Destroy)(jsConsumerInfo *);
    natsStatus (*js_DeleteConsumer)(jsCtx *, const char *, const char *, jsOptions *, jsErrCode *);
    natsStatus (*js_Publish)(jsPubAck **, jsCtx *, const char *, const void *, int, jsPubOptions *,
                             jsErrCode *);
    natsStatus (*js_PullSubscribe)(natsSubscription **, jsCtx *, const char *, const char *,
                                   jsOptions *, jsSubOptions *, jsErrCode *);
    natsStatus (*natsSubscription_Fetch)(natsMsgList *, natsSubscription *, int, int64_t,
                                         jsErrCode *);
    void (*natsSubscription_Destroy)(natsSubscription *);
    void (*natsMsgList_Destroy)(natsMsgList *);
    const char *(*natsMsg_GetData)(const natsMsg *);
    int (*natsMsg_GetDataLength)(const natsMsg *);
    natsStatus (*natsMsgHeader_Get)(natsMsg *, const char *, const char **);
    natsStatus (*natsMsg_GetMetaData)(jsMsgMetaData **, natsMsg *);
    void (*jsMsgMetaData_Destroy)(jsMsgMetaData *);
    natsStatus (*natsMsg_AckSync)(natsMsg *, jsOptions *, jsErrCode *);
    natsStatus (*natsMsg_Nak)(natsMsg *, jsOptions *);
    void (*natsMsg_Destroy)(natsMsg *);
};

struct nats_queue {
    struct queue queue;
    struct library lib;
    natsConnection *connection;
    jsCtx *js;
    natsSubscription *subscriptions[QUEUE_CHANNELS];
    uint64_t looked_ns[QUEUE_CHANNELS];  /* at the reader of the channel */
    uint32_t lost_looks[QUEUE_CHANNELS]; /* how often since then in a row it missed messages */
};

static const char *const streams[] = {"TWINSTACK_REPORTS", "TWINSTACK_PARTIALS", "TWINSTACK_DEAD",
                                      "TWINSTACK_SHADOW"};
static const char *const subjects[] = {"twinstack.reports", "twinstack.partials", "twinstack.dead",
                                       "twinstack.shadow"};
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

static enum status failed(struct fault *fault, natsStatus status, const char *what)
{
    const char *hint = status == NATS_TIMEOUT             ? "the queue's server does not answer"
                       : status == NATS_NO_SERVER         ? "no server is there"
                       : status == NATS_CONNECTION_CLOSED ? "the connection is closed"
                                                          : "the queue's server refuses";
    return fault_set_hint(fault, ERR_IO, FAULT_NO_OFFSET, what, hint);
}

static enum status nats_put(struct queue *queue, enum queue_channel channel, const char *id,
                            const void *data, size_t bytes, struct fault *fault)
{
    struct nats_queue *q = (struct nats_queue *)queue;
    jsPubOptions options;
    jsErrCode error;
    if (bytes > QUEUE_MESSAGE_BYTES)
        return fault_set(fault, ERR_LIMIT, FAULT_NO_OFFSET, "message of a queue");
    memset(&error, 0, sizeof error); /* no value of the enum means none */
    (void)q->lib.jsPubOptions_Init(&options);
    options.MsgId = id;
    options.MaxWait = WAIT_MS;
    const natsStatus status =
        q->lib.js_Publish(NULL, q->js, subjects[channel], data, (int)bytes, &options, &error);
    if (status == NATS_OK)
        return ERR_NONE;
    if (error == JSStreamStoreFailedErr || error == JSInsufficientResourcesErr)
        return fault_set_hint(fault, ERR_LIMIT, FAULT_NO_OFFSET, "queue", "it is full");
    return failed(fault, status, "message to a queue");
}

static enum status subscribe(struct nats_queue *q, enum queue_channel channel, struct fault *fault)
{
    jsSubOptions options;
    (void)q->lib.jsSubOptions_Init(&options);
    options.Stream = streams[channel];
    options.ManualAck = true;
    options.Config.AckPolicy = js_AckExplicit;
    options.Config.AckWait = QUEUE_LEASE_MS / 1000 * NS_PER_S;
    options.Config.MaxAckPending = TAKEN_MAX;
    const natsStatus status =
        q->lib.js_PullSubscribe(&q->subscriptions[channel], q->js, subjects[channel],
                                readers[channel], NULL, &options, NULL);
    return status == NATS_OK ? ERR_NONE : failed(fault, status, "messages of a queue");
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
    if (q->lib.js_GetConsumerInfo(&reader, q->js, streams[channel], readers[channel], NULL,
                                  &error) == NATS_OK &&
        q->lib.js_GetStreamInfo(&stream, q->js, streams[channel], NULL, NULL) == NATS_OK) {
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
    (void)q->lib.js_DeleteConsumer(q->js, streams[channel], readers[channel], NULL, NULL);
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
        return fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "messages");
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
        return failed(fault, status, "messages of a queue");
    }
    for (int i = 0; i < list.Count; i++) {
        if (fault->code == ERR_NONE && copy_message(q, list.Msgs[i], keep, &(*out)[*count])) {
            (*count)++;
            list.Msgs[i] = NULL; /* settled later */
        } else {
            (void)fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "messages");
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
    const natsStatus status = end == QUEUE_DONE
                                  ? q->lib.natsMsg_AckSync(message->handle, NULL, NULL)
                                  : q->lib.natsMsg_Nak(message->handle, NULL);
    q->lib.natsMsg_Destroy(message->handle);
    message->handle = NULL;
    return status == NATS_OK ? ERR_NONE : failed(fault, status, "end of a message");
}

static bool nats_pending(struct queue *queue, enum queue_channel channel, uint64_t *out)
{
    struct nats_queue *q = (struct nats_queue *)queue;
    jsStreamInfo *info = NULL;
    if (q->lib.js_GetStreamInfo(&info, q->js, streams[channel], NULL, NULL) != NATS_OK)
        return false;
    *out = info->State.Msgs;
    q->lib.jsStreamInfo_Destroy(info);
    return true;
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

static bool is_full(jsErrCode error)
{
    return error == JSStorageResourcesExceededErr || error == JSInsufficientResourcesErr;
}

static int64_t at_least(int64_t bytes)
{
    return bytes > CHANNEL_BYTES_LEAST ? bytes : CHANNEL_BYTES_LEAST;
}

/* Adds a stream with at most config->MaxBytes, which the server sets aside. On a small disk it gets
 * half of what is there, so that there is room for the others as well: the reports, which come
 * first, get the most. Another process that connects at the same time may add it first. */
static natsStatus add_sized(struct nats_queue *q, jsStreamConfig *config, jsErrCode *error)
{
    const int64_t wanted = config->MaxBytes;
    natsStatus status = q->lib.js_AddStream(NULL, q->js, config, NULL, error);
    while (status != NATS_OK && is_full(*error) && config->MaxBytes > CHANNEL_BYTES_LEAST) {
        config->MaxBytes = at_least(config->MaxBytes / 2);
        memset(error, 0, sizeof *error);
        status = q->lib.js_AddStream(NULL, q->js, config, NULL, error);
    }
    if (status == NATS_OK && config->MaxBytes < wanted && config->MaxBytes > CHANNEL_BYTES_LEAST) {
        config->MaxBytes = at_least(config->MaxBytes / 2);
        status = q->lib.js_UpdateStream(NULL, q->js, config, NULL, error);
    }
    return *error == JSStreamNameExistErr ? NATS_OK : status;
}

/* What CHANNEL should have. Dead letters and sampled reports never get more than a part of what the
 * reports have. */
static int64_t wanted_bytes(struct nats_queue *q, int channel)
{
    jsStreamInfo *info = NULL;
    int64_t most = SMALL_CHANNEL_BYTES_MAX;
    if (channel == QUEUE_REPORTS || channel == QUEUE_PARTIALS)
        return CHANNEL_BYTES_MAX;
    if (q->lib.js_GetStreamInfo(&info, q->js, streams[QUEUE_REPORTS], NULL, NULL) != NATS_OK)
        return most;
    const int64_t share = info->Config->MaxBytes / SMALL_CHANNEL_SHARE;
    if (info->Config->MaxBytes > 0 && share < most)
        most = at_least(share);
    q->lib.jsStreamInfo_Destroy(info);
    return most;
}

static bool has_stream(struct nats_queue *q, int channel)
{
    jsStreamInfo *info = NULL;
    if (q->lib.js_GetStreamInfo(&info, q->js, streams[channel], NULL, NULL) != NATS_OK)
        return false;
    q->lib.jsStreamInfo_Destroy(info);
    return true;
}

/* Adds the stream of a channel unless it exists. A full server refuses one that exists, too. Fails:
 * ERR_LIMIT the server has no room for it; ERR_IO. */
static enum status add_stream(struct nats_queue *q, int channel, struct fault *fault)
{
    jsStreamConfig config;
    const char *subject = subjects[channel];
    jsErrCode error;
    if (has_stream(q, channel))
        return ERR_NONE;
    memset(&error, 0, sizeof error);
    (void)q->lib.jsStreamConfig_Init(&config);
    config.Name = streams[channel];
    config.Subjects = &subject;
    config.SubjectsLen = 1;
    config.Retention = channel == QUEUE_DEAD ? js_LimitsPolicy : js_WorkQueuePolicy;
    config.Storage = js_FileStorage;
    config.Discard = js_DiscardNew;
    config.MaxBytes = wanted_bytes(q, channel);
    config.Duplicates = QUEUE_REMEMBER_S * NS_PER_S;
    const natsStatus status = add_sized(q, &config, &error);
    if (status == NATS_OK)
        return ERR_NONE;
    return is_full(error) ? fault_set_hint(fault, ERR_LIMIT, FAULT_NO_OFFSET, "queue",
                                           "the disk of its server has no room for it")
                          : failed(fault, status, "queue");
}

static enum status connect_to(struct nats_queue *q, const char *url, struct fault *fault)
{
    natsOptions *options = NULL;
    natsStatus status = q->lib.natsOptions_Create(&options);
    if (status == NATS_OK)
        status = q->lib.natsOptions_SetURL(options, url);
    if (status == NATS_OK)
        status = q->lib.natsOptions_SetTimeout(options, WAIT_MS);
    if (status == NATS_OK)
        status = q->lib.natsOptions_SetMaxReconnect(options, -1);
    if (status == NATS_OK)
        status = q->lib.natsOptions_SetReconnectWait(options, RECONNECT_MS);
    if (status == NATS_OK)
        status = q->lib.natsConnection_Connect(&q->connection, options);
    if (options != NULL)
        q->lib.natsOptions_Destroy(options);
    if (status == NATS_OK)
        status = q->lib.natsConnection_JetStream(&q->js, q->connection, NULL);
    if (status != NATS_OK)
        return failed(fault, status, "queue");
    for (int c = 0; fault->code == ERR_NONE && c < QUEUE_CHANNELS; c++)
        (void)add_stream(q, c, fault);
    return fault->code;
}

enum status queue_open_nats(const char *url, struct queue **out, struct fault *fault)
{
    static const struct transport functions = {nats_put, nats_take, nats_settle};
    struct nats_queue *q = calloc(1, sizeof *q);
    *out = NULL;
    if (q == NULL)
        return fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "queue");
    q->queue = (struct queue){&functions, nats_close, nats_pending};
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
