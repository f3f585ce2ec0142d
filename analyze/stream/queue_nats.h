/* What the files of the NATS queue share; no other file includes this. */
#ifndef STREAM_QUEUE_NATS_H
#define STREAM_QUEUE_NATS_H

#include <nats/nats.h>

#include "stream/queue.h"

enum { NATS_WAIT_MS = 5000 };
#define NATS_SECOND_NS INT64_C(1000000000)

/* The functions of libnats that are used; their types are below. */
#define NATS_FUNCTIONS(F)                                                                          \
    F(natsOptions_Create)                                                                          \
    F(natsOptions_Destroy)                                                                         \
    F(natsOptions_SetURL)                                                                          \
    F(natsOptions_SetMaxReconnect)                                                                 \
    F(natsOptions_SetReconnectWait)                                                                \
    F(natsOptions_SetTimeout)                                                                      \
    F(natsOptions_SetToken)                                                                        \
    F(natsOptions_SetUserInfo)                                                                     \
    F(natsOptions_SetUserCredentialsFromFiles)                                                     \
    F(natsOptions_SetSecure)                                                                       \
    F(natsOptions_LoadCATrustedCertificates)                                                       \
    F(natsOptions_LoadCertificatesChain)                                                           \
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
    F(js_PurgeStream)                                                                              \
    F(js_GetMsg)                                                                                   \
    F(js_GetLastMsg)                                                                               \
    F(js_DeleteMsg)                                                                                \
    F(natsMsg_GetTime)                                                                             \
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
    F(natsMsg_InProgress)                                                                          \
    F(natsMsg_Destroy)

struct library {
    natsStatus (*natsOptions_Create)(natsOptions **);
    void (*natsOptions_Destroy)(natsOptions *);
    natsStatus (*natsOptions_SetURL)(natsOptions *, const char *);
    natsStatus (*natsOptions_SetMaxReconnect)(natsOptions *, int);
    natsStatus (*natsOptions_SetReconnectWait)(natsOptions *, int64_t);
    natsStatus (*natsOptions_SetTimeout)(natsOptions *, int64_t);
    natsStatus (*natsOptions_SetToken)(natsOptions *, const char *);
    natsStatus (*natsOptions_SetUserInfo)(natsOptions *, const char *, const char *);
    natsStatus (*natsOptions_SetUserCredentialsFromFiles)(natsOptions *, const char *,
                                                          const char *);
    natsStatus (*natsOptions_SetSecure)(natsOptions *, bool);
    natsStatus (*natsOptions_LoadCATrustedCertificates)(natsOptions *, const char *);
    natsStatus (*natsOptions_LoadCertificatesChain)(natsOptions *, const char *, const char *);
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
    natsStatus (*js_PurgeStream)(jsCtx *, const char *, jsOptions *, jsErrCode *);
    natsStatus (*js_GetMsg)(natsMsg **, jsCtx *, const char *, uint64_t, jsOptions *, jsErrCode *);
    natsStatus (*js_GetLastMsg)(natsMsg **, jsCtx *, const char *, const char *, jsOptions *,
                                jsErrCode *);
    natsStatus (*js_DeleteMsg)(jsCtx *, const char *, uint64_t, jsOptions *, jsErrCode *);
    int64_t (*natsMsg_GetTime)(natsMsg *);
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
    natsStatus (*natsMsg_InProgress)(natsMsg *, jsOptions *);
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

/* Who this program is to the server, and whether the connection is encrypted, by the environment:
 * TWINSTACK_NATS_USER and _PASSWORD, _TOKEN, _CREDS (a file); _CA, _CERT and _KEY (files), _TLS=1.
 */
natsStatus nats_queue_identify(struct nats_queue *q, natsOptions *options);

/* Sets queue.doubt when what the server acknowledges may be lost with its machine's power. */
void nats_queue_check(struct nats_queue *q);

extern const char *const nats_streams[QUEUE_CHANNELS], *const nats_subjects[QUEUE_CHANNELS];

/* Adds the streams of all channels and shelves that the server does not have, and divides what it
 * has room for among them. Fails: ERR_LIMIT it has no room for them; ERR_IO. */
enum status nats_queue_add_streams(struct nats_queue *q, struct fault *fault);

/* ERR_IO with what STATUS means to a user. */
enum status nats_queue_failed(struct fault *fault, natsStatus status, const char *what);

extern const char *const nats_shelf_streams[QUEUE_SHELVES];
/* The subjects of all items of a shelf, for its stream. */
extern const char *const nats_shelf_subjects[QUEUE_SHELVES];

/* See struct transport. */
enum status nats_item_add(struct queue *queue, enum queue_shelf shelf, const char *name,
                          const void *data, size_t bytes, struct arena *keep,
                          struct queue_item *have, struct fault *fault);
enum status nats_item_set(struct queue *queue, enum queue_shelf shelf, const char *name,
                          const void *data, size_t bytes, struct fault *fault);
enum status nats_item_get(struct queue *queue, enum queue_shelf shelf, const char *name,
                          struct arena *keep, struct queue_item *out, struct fault *fault);

#endif
