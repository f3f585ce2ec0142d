/* The functions of libnats that the queue loads, without a server: streams and messages are rows of
 * a table. What a real server answers is in tests/e2e/test_stream_secure.py and its neighbours.
 * Source of names and types: <nats/nats.h>. */
#include "fake_nats.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct fake_nats state;

struct fake_nats *fake_nats(void)
{
    return &state;
}

/* Notes what is asked, and fails if this word is to fail. */
static natsStatus note(const char *word, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static natsStatus note(const char *word, const char *format, ...)
{
    const size_t at = strlen(state.log);
    char text[512];
    va_list more;
    va_start(more, format);
    (void)vsnprintf(text, sizeof text, format, more);
    va_end(more);
    (void)snprintf(state.log + at, sizeof state.log - at, "%s %s; ", word, text);
    return state.failing != NULL && strcmp(state.failing, word) == 0 ? state.status : NATS_OK;
}

/* ---- who asks --------------------------------------------------------------------------- */

natsStatus natsOptions_Create(natsOptions **out)
{
    *out = calloc(1, 1);
    return NATS_OK;
}

void natsOptions_Destroy(natsOptions *options)
{
    free(options);
}

natsStatus natsOptions_SetURL(natsOptions *options, const char *url)
{
    (void)options;
    return note("url", "%s", url);
}

natsStatus natsOptions_SetMaxReconnect(natsOptions *options, int most)
{
    (void)options;
    return note("reconnect", "%d", most);
}

natsStatus natsOptions_SetReconnectWait(natsOptions *options, int64_t ms)
{
    (void)options;
    (void)ms;
    return NATS_OK;
}

natsStatus natsOptions_SetTimeout(natsOptions *options, int64_t ms)
{
    (void)options;
    return note("timeout", "%" PRId64, ms);
}

natsStatus natsOptions_SetToken(natsOptions *options, const char *token)
{
    (void)options;
    return note("token", "%s", token);
}

natsStatus natsOptions_SetUserInfo(natsOptions *options, const char *user, const char *password)
{
    (void)options;
    return note("user", "%s, %s", user, password);
}

natsStatus natsOptions_SetUserCredentialsFromFiles(natsOptions *options, const char *file,
                                                   const char *seed)
{
    (void)options;
    return note("creds", "%s, %s", file, seed != NULL ? seed : "-");
}

natsStatus natsOptions_SetSecure(natsOptions *options, bool secure)
{
    (void)options;
    return note("tls", "%d", secure);
}

natsStatus natsOptions_LoadCATrustedCertificates(natsOptions *options, const char *file)
{
    (void)options;
    return note("ca", "%s", file);
}

natsStatus natsOptions_LoadCertificatesChain(natsOptions *options, const char *file,
                                             const char *key)
{
    (void)options;
    return note("cert", "%s, %s", file, key);
}

natsStatus natsConnection_Connect(natsConnection **out, natsOptions *options)
{
    (void)options;
    const natsStatus status = note("connect", "%s", "");
    if (status == NATS_OK) {
        *out = calloc(1, 1);
        state.connections++;
    }
    return status;
}

void natsConnection_Destroy(natsConnection *connection)
{
    free(connection);
    state.connections--;
}

natsStatus natsConnection_JetStream(jsCtx **out, natsConnection *connection, jsOptions *options)
{
    (void)connection;
    (void)options;
    *out = calloc(1, 1);
    return NATS_OK;
}

void jsCtx_Destroy(jsCtx *js)
{
    free(js);
}

/* ---- streams ---------------------------------------------------------------------------- */

natsStatus jsStreamConfig_Init(jsStreamConfig *config)
{
    memset(config, 0, sizeof *config);
    config->MaxBytes = -1;
    return NATS_OK;
}

static struct fake_stream *stream_of(const char *name)
{
    for (int i = 0; i < FAKE_STREAMS; i++)
        if (strcmp(state.streams[i].name, name) == 0)
            return &state.streams[i];
    return NULL;
}

static int64_t bytes_of(const jsStreamConfig *config)
{
    return config->MaxBytes > 0 ? config->MaxBytes : 0;
}

/* Whether the server has room when CONFIG is in the place of OLD. */
static bool has_room(const jsStreamConfig *config, const struct fake_stream *old)
{
    int64_t sum = bytes_of(config);
    for (int i = 0; i < FAKE_STREAMS; i++)
        if (&state.streams[i] != old)
            sum += bytes_of(&state.streams[i].config);
    return state.room == 0 || sum <= state.room;
}

natsStatus js_AddStream(jsStreamInfo **info, jsCtx *js, jsStreamConfig *config, jsOptions *options,
                        jsErrCode *error)
{
    struct fake_stream *to = stream_of(config->Name);
    (void)info;
    (void)js;
    (void)options;
    const natsStatus status = note("add", "%s, %" PRId64, config->Name, config->MaxBytes);
    if (status != NATS_OK || to != NULL) {
        *error = to != NULL ? JSStreamNameExistErr : *error;
        return status != NATS_OK ? status : NATS_ERR;
    }
    if (!has_room(config, NULL)) {
        *error = JSStorageResourcesExceededErr;
        return NATS_ERR;
    }
    to = stream_of("");
    if (to == NULL)
        return NATS_NO_MEMORY;
    (void)snprintf(to->name, sizeof to->name, "%s", config->Name);
    (void)snprintf(to->subject, sizeof to->subject, "%s", config->Subjects[0]);
    to->config = *config;
    return NATS_OK;
}

natsStatus js_UpdateStream(jsStreamInfo **info, jsCtx *js, jsStreamConfig *config,
                           jsOptions *options, jsErrCode *error)
{
    struct fake_stream *to = stream_of(config->Name);
    (void)info;
    (void)js;
    (void)options;
    (void)error;
    const natsStatus status = note("update", "%s, %" PRId64, config->Name, config->MaxBytes);
    if (status == NATS_OK && to != NULL)
        to->config.MaxBytes = config->MaxBytes;
    return status;
}

natsStatus js_GetStreamInfo(jsStreamInfo **out, jsCtx *js, const char *name, jsOptions *options,
                            jsErrCode *error)
{
    struct fake_stream *from = stream_of(name);
    (void)js;
    (void)options;
    (void)error;
    if (from == NULL)
        return NATS_NOT_FOUND;
    jsStreamInfo *info = calloc(1, sizeof *info);
    info->Config = &from->config;
    info->State.LastSeq = from->last;
    for (int i = FAKE_MESSAGES - 1; i >= 0; i--)
        if (state.messages[i].stream == from) {
            info->State.Msgs++;
            info->State.FirstSeq = state.messages[i].number;
            info->State.FirstTime = (int64_t)state.messages[i].number * 1000;
        }
    *out = info;
    return NATS_OK;
}

void jsStreamInfo_Destroy(jsStreamInfo *info)
{
    free(info);
}

/* ---- readers ---------------------------------------------------------------------------- */

natsStatus jsSubOptions_Init(jsSubOptions *options)
{
    memset(options, 0, sizeof *options);
    return NATS_OK;
}

natsStatus js_PullSubscribe(natsSubscription **out, jsCtx *js, const char *subject,
                            const char *durable, jsOptions *more, jsSubOptions *options,
                            jsErrCode *error)
{
    struct fake_stream **handle = calloc(1, sizeof *handle);
    (void)js;
    (void)more;
    (void)error;
    const natsStatus status = note("read", "%s, %s, %s, %" PRId64 " s", options->Stream, subject,
                                   durable, options->Config.AckWait / 1000000000);
    if (status != NATS_OK) {
        free(handle);
        return status;
    }
    *handle = stream_of(options->Stream);
    *out = (natsSubscription *)handle;
    return NATS_OK;
}

void natsSubscription_Destroy(natsSubscription *handle)
{
    free(handle);
}

natsStatus js_GetConsumerInfo(jsConsumerInfo **out, jsCtx *js, const char *stream,
                              const char *durable, jsOptions *options, jsErrCode *error)
{
    const struct fake_stream *from = stream_of(stream);
    (void)js;
    (void)durable;
    (void)options;
    if (from == NULL || state.is_reader_gone) {
        *error = JSConsumerNotFoundErr;
        return NATS_NOT_FOUND;
    }
    jsConsumerInfo *info = calloc(1, sizeof *info);
    info->Delivered.Stream = from->skip;
    for (int i = 0; i < FAKE_MESSAGES; i++)
        if (state.messages[i].stream == from && state.messages[i].is_taken)
            info->NumAckPending++;
        else if (state.messages[i].stream == from && state.messages[i].number > from->skip)
            info->NumPending++;
    *out = info;
    return NATS_OK;
}

void jsConsumerInfo_Destroy(jsConsumerInfo *info)
{
    free(info);
}

natsStatus js_DeleteConsumer(jsCtx *js, const char *stream, const char *durable, jsOptions *options,
                             jsErrCode *error)
{
    struct fake_stream *from = stream_of(stream);
    (void)js;
    (void)options;
    (void)error;
    from->skip = 0;
    return note("forget", "%s, %s", stream, durable);
}

natsStatus natsSubscription_Fetch(natsMsgList *out, natsSubscription *handle, int most,
                                  int64_t wait_ms, jsErrCode *error)
{
    const struct fake_stream *from = *(struct fake_stream **)handle;
    (void)wait_ms;
    (void)error;
    const natsStatus status = note("fetch", "%d", most);
    if (status != NATS_OK)
        return status;
    out->Msgs = calloc((size_t)most, sizeof *out->Msgs);
    for (int i = 0; i < FAKE_MESSAGES && out->Count < most; i++) {
        struct fake_message *m = &state.messages[i];
        if (m->stream != from || m->is_taken || m->number <= from->skip)
            continue;
        m->is_taken = true;
        m->delivered++;
        state.messages_held++;
        out->Msgs[out->Count++] = (natsMsg *)m;
    }
    if (out->Count > 0)
        return NATS_OK;
    free(out->Msgs);
    out->Msgs = NULL;
    return NATS_TIMEOUT;
}

void natsMsgList_Destroy(natsMsgList *list)
{
    for (int i = 0; i < list->Count; i++)
        if (list->Msgs[i] != NULL)
            natsMsg_Destroy(list->Msgs[i]);
    free(list->Msgs);
}

/* ---- messages --------------------------------------------------------------------------- */

natsStatus jsPubOptions_Init(jsPubOptions *options)
{
    memset(options, 0, sizeof *options);
    return NATS_OK;
}

static struct fake_stream *stream_for(const char *subject)
{
    for (int i = 0; i < FAKE_STREAMS; i++) {
        const size_t bytes = strcspn(state.streams[i].subject, "*");
        const bool whole = state.streams[i].subject[bytes] == '\0';
        if (bytes > 0 && strncmp(state.streams[i].subject, subject, bytes) == 0 &&
            (!whole || subject[bytes] == '\0'))
            return &state.streams[i];
    }
    return NULL;
}

static struct fake_message *newest(const struct fake_stream *stream, const char *subject)
{
    for (int i = FAKE_MESSAGES - 1; i >= 0; i--)
        if (state.messages[i].stream == stream && strcmp(state.messages[i].subject, subject) == 0)
            return &state.messages[i];
    return NULL;
}

natsStatus js_Publish(jsPubAck **ack, jsCtx *js, const char *subject, const void *data, int bytes,
                      jsPubOptions *options, jsErrCode *error)
{
    struct fake_stream *to = stream_for(subject);
    (void)ack;
    (void)js;
    const natsStatus status =
        note("put", "%s, %s, %.*s", subject, options->MsgId != NULL ? options->MsgId : "-", bytes,
             bytes < FAKE_TEXT ? (const char *)data : "");
    if (status != NATS_OK || to == NULL || state.error != 0) {
        *error = state.error != 0 ? state.error : *error;
        return status != NATS_OK ? status : NATS_ERR;
    }
    struct fake_message *old = to->config.MaxMsgsPerSubject == 1 ? newest(to, subject) : NULL;
    if (old != NULL && options->ExpectNoMessage) {
        *error = JSStreamWrongLastSequenceErr;
        return NATS_ERR;
    }
    if (old != NULL)
        old->stream = NULL;
    for (int i = 0; i < FAKE_MESSAGES; i++) {
        struct fake_message *m = &state.messages[i];
        if (m->stream != NULL)
            continue;
        *m = (struct fake_message){.stream = to, .bytes = bytes, .number = ++to->last};
        (void)snprintf(m->id, sizeof m->id, "%s", options->MsgId != NULL ? options->MsgId : "");
        (void)snprintf(m->subject, sizeof m->subject, "%s", subject);
        memcpy(m->data, data, (size_t)bytes < sizeof m->data ? (size_t)bytes : sizeof m->data);
        return NATS_OK;
    }
    return NATS_NO_MEMORY;
}

natsStatus js_PurgeStream(jsCtx *js, const char *stream, jsOptions *options, jsErrCode *error)
{
    (void)js;
    (void)error;
    const natsStatus status = note("purge", "%s, %s", stream, options->Stream.Purge.Subject);
    struct fake_message *old = newest(stream_of(stream), options->Stream.Purge.Subject);
    if (status == NATS_OK && old != NULL)
        old->stream = NULL;
    return status;
}

static natsStatus hand_over(struct fake_message *m, natsMsg **out, jsErrCode *error)
{
    if (m == NULL) {
        if (error != NULL)
            *error = JSNoMessageFoundErr;
        return NATS_NOT_FOUND;
    }
    *out = (natsMsg *)m;
    state.messages_held++;
    return NATS_OK;
}

natsStatus js_GetMsg(natsMsg **out, jsCtx *js, const char *stream, uint64_t number,
                     jsOptions *options, jsErrCode *error)
{
    const struct fake_stream *from = stream_of(stream);
    struct fake_message *found = NULL;
    (void)js;
    (void)options;
    for (int i = 0; i < FAKE_MESSAGES; i++)
        if (state.messages[i].stream == from && state.messages[i].number == number)
            found = &state.messages[i];
    return hand_over(found, out, error);
}

natsStatus js_GetLastMsg(natsMsg **out, jsCtx *js, const char *stream, const char *subject,
                         jsOptions *options, jsErrCode *error)
{
    (void)js;
    (void)options;
    const natsStatus status = note("get", "%s, %s", stream, subject);
    return status != NATS_OK ? status : hand_over(newest(stream_of(stream), subject), out, error);
}

natsStatus js_DeleteMsg(jsCtx *js, const char *stream, uint64_t number, jsOptions *options,
                        jsErrCode *error)
{
    natsMsg *found = NULL;
    (void)error;
    const natsStatus status = note("delete", "%s, %" PRIu64, stream, number);
    if (status != NATS_OK || js_GetMsg(&found, js, stream, number, options, NULL) != NATS_OK)
        return status != NATS_OK ? status : NATS_NOT_FOUND;
    ((struct fake_message *)found)->stream = NULL;
    natsMsg_Destroy(found);
    return NATS_OK;
}

int64_t natsMsg_GetTime(natsMsg *message)
{
    return (int64_t)((const struct fake_message *)message)->number * 1000;
}

const char *natsMsg_GetData(const natsMsg *message)
{
    return ((const struct fake_message *)message)->data;
}

int natsMsg_GetDataLength(const natsMsg *message)
{
    return ((const struct fake_message *)message)->bytes;
}

natsStatus natsMsgHeader_Get(natsMsg *message, const char *name, const char **out)
{
    const struct fake_message *m = (struct fake_message *)message;
    if (strcmp(name, "Nats-Msg-Id") != 0 || m->id[0] == '\0')
        return NATS_NOT_FOUND;
    *out = m->id;
    return NATS_OK;
}

natsStatus natsMsg_GetMetaData(jsMsgMetaData **out, natsMsg *message)
{
    jsMsgMetaData *meta = calloc(1, sizeof *meta);
    meta->NumDelivered = ((const struct fake_message *)message)->delivered;
    meta->Sequence.Stream = ((const struct fake_message *)message)->number;
    *out = meta;
    return NATS_OK;
}

void jsMsgMetaData_Destroy(jsMsgMetaData *meta)
{
    free(meta);
}

natsStatus natsMsg_AckSync(natsMsg *message, jsOptions *options, jsErrCode *error)
{
    struct fake_message *m = (struct fake_message *)message;
    (void)options;
    (void)error;
    const natsStatus status = note("done", "%" PRIu64, m->number);
    if (status == NATS_OK)
        m->stream = NULL;
    return status;
}

natsStatus natsMsg_Nak(natsMsg *message, jsOptions *options)
{
    struct fake_message *m = (struct fake_message *)message;
    (void)options;
    m->is_taken = false;
    return note("again", "%" PRIu64, m->number);
}

natsStatus natsMsg_InProgress(natsMsg *message, jsOptions *options)
{
    (void)options;
    return note("renew", "%" PRIu64, ((const struct fake_message *)message)->number);
}

void natsMsg_Destroy(natsMsg *message)
{
    (void)message;
    state.messages_held--;
}
