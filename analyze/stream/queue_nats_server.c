/* The server of a NATS queue: who this program is to it, and what its acknowledgement is worth. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "stream/queue_nats.h"

enum { REPLICAS_DURABLE = 3 };

static const char *word(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

natsStatus nats_queue_identify(struct nats_queue *q, natsOptions *options)
{
    const char *user = word("TWINSTACK_NATS_USER"), *token = word("TWINSTACK_NATS_TOKEN");
    const char *creds = word("TWINSTACK_NATS_CREDS"), *ca = word("TWINSTACK_NATS_CA");
    const char *cert = word("TWINSTACK_NATS_CERT");
    natsStatus status = NATS_OK;
    if (user != NULL)
        status = q->lib.natsOptions_SetUserInfo(options, user,
                                                text_or_empty(word("TWINSTACK_NATS_PASSWORD")));
    if (status == NATS_OK && token != NULL)
        status = q->lib.natsOptions_SetToken(options, token);
    if (status == NATS_OK && creds != NULL)
        status = q->lib.natsOptions_SetUserCredentialsFromFiles(options, creds, NULL);
    if (status == NATS_OK && (ca != NULL || cert != NULL || word("TWINSTACK_NATS_TLS") != NULL))
        status = q->lib.natsOptions_SetSecure(options, true);
    if (status == NATS_OK && ca != NULL)
        status = q->lib.natsOptions_LoadCATrustedCertificates(options, ca);
    if (status == NATS_OK && cert != NULL)
        status = q->lib.natsOptions_LoadCertificatesChain(
            options, cert, text_or_empty(word("TWINSTACK_NATS_KEY")));
    return status;
}

/* A server does not say over this connection how often it syncs, so its operator has to. */
void nats_queue_check(struct nats_queue *q)
{
    const char *sync = word("TWINSTACK_NATS_SYNC");
    const bool is_synced = sync != NULL && strcmp(sync, "always") == 0;
    for (int i = 0; i < QUEUE_CHANNELS && q->queue.doubt == NULL; i++) {
        jsStreamInfo *info = NULL;
        if (q->lib.js_GetStreamInfo(&info, q->js, nats_streams[i], NULL, NULL) != NATS_OK)
            continue;
        if (info->Config->Storage != js_FileStorage)
            q->queue.doubt = "a stream of it is kept in memory: what it acknowledges is lost when "
                             "its server ends; make the stream anew with file storage";
        else if (!is_synced && info->Config->Replicas < REPLICAS_DURABLE)
            q->queue.doubt = "what it acknowledges may be lost if its machine loses its power: set "
                             "`sync_interval: always` in jetstream {} of nats-server 2.10 or newer "
                             "and TWINSTACK_NATS_SYNC=always here, or have 3 replicas "
                             "(TWINSTACK_NATS_REPLICAS)";
        q->lib.jsStreamInfo_Destroy(info);
    }
}
