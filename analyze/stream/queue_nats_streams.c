/* The streams of a NATS queue: what each keeps and for how long, and how the room that a server has
 * is divided among them.
 * Source: https://docs.nats.io/nats-concepts/jetstream/streams
 *
 * A server sets aside what a stream may hold when the stream is made, and refuses a stream that it
 * has no room for; how much it has, it does not say. So the reports, which come first, are made
 * with the room of all streams, and that is halved until the server takes it. Then they give back
 * what the others need. On a server with 20 GB:
 *   reports 19 GB: taken, give back 11  ->  8 GB; partial results 8; the three small ones 1 each
 * and on one with 10 GB:
 *   reports 19 GB: refused; 7.5: taken, give back 3.5  ->  4 GB; partial results 2; 0.5 each
 * Who ends in between leaves reports with the room of all. Their number of bytes is odd then, by
 * which the next one knows it. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "stream/queue_nats.h"

#define REPORTS_BYTES_MAX ((int64_t)8 << 30)
#define REPORTS_BYTES_LEAST ((int64_t)16 << 20)
#define STREAM_BYTES_LEAST ((int64_t)8 << 20) /* some messages */
enum { SMALL_SHARE = 8, REPLICAS_MOST = 5 };

const char *const nats_streams[QUEUE_CHANNELS] = {"TWINSTACK_REPORTS", "TWINSTACK_PARTIALS",
                                                  "TWINSTACK_DEAD", "TWINSTACK_SHADOW"};
const char *const nats_subjects[QUEUE_CHANNELS] = {"twinstack.reports", "twinstack.partials",
                                                   "twinstack.dead", "twinstack.shadow"};

static bool is_full(jsErrCode error)
{
    return error == JSStorageResourcesExceededErr || error == JSInsufficientResourcesErr;
}

static enum status full_or_failed(jsErrCode error, natsStatus status, struct fault *fault)
{
    return is_full(error) ? fault_set_hint(fault, ERR_LIMIT, FAULT_NO_OFFSET, "queue",
                                           "the disk of its server has no room for it")
                          : nats_queue_failed(fault, status, "queue");
}

static int64_t partials_bytes(int64_t reports)
{
    return reports < REPORTS_BYTES_MAX ? reports / 2 : reports;
}

/* Dead letters, sampled reports, parts of records. */
static int64_t small_bytes(int64_t reports)
{
    const int64_t bytes = reports / SMALL_SHARE;
    return bytes > STREAM_BYTES_LEAST ? bytes : STREAM_BYTES_LEAST;
}

/* The parts of records are what a queue can be without. */
static int64_t all_bytes(int64_t reports)
{
    const int small = reports / SMALL_SHARE < STREAM_BYTES_LEAST ? 2 : 3;
    return reports + partials_bytes(reports) + small * small_bytes(reports);
}

static int64_t undivided_bytes(int64_t reports)
{
    return all_bytes(reports) - 1;
}

/* TWINSTACK_NATS_REPLICAS: how many servers of a cluster store a message; 1. */
static int64_t replicas(void)
{
    const char *text = getenv("TWINSTACK_NATS_REPLICAS");
    uint64_t count = 0;
    if (text == NULL || !text_parse_uint(text, strlen(text), &count) || count < 1 ||
        count > REPLICAS_MOST)
        return 1;
    return (int64_t)count;
}

static void describe(struct nats_queue *q, const char *name, const char **subject,
                     jsStreamConfig *out)
{
    (void)q->lib.jsStreamConfig_Init(out);
    out->Name = name;
    out->Subjects = subject;
    out->SubjectsLen = 1;
    out->Storage = js_FileStorage;
    out->Discard = js_DiscardNew;
    out->Replicas = replicas();
}

static void describe_channel(struct nats_queue *q, int channel, const char **subject,
                             jsStreamConfig *out)
{
    describe(q, nats_streams[channel], subject, out);
    out->Retention = channel == QUEUE_DEAD ? js_LimitsPolicy : js_WorkQueuePolicy;
    out->Duplicates = QUEUE_REMEMBER_S * NATS_SECOND_NS;
    if (channel == QUEUE_SHADOW) /* dumps are not kept for longer */
        out->MaxAge = QUEUE_KEEP_S * NATS_SECOND_NS;
}

/* False: there is none. Without a limit *bytes is -1. */
static bool has_stream(struct nats_queue *q, const char *name, int64_t *bytes)
{
    jsStreamInfo *info = NULL;
    if (q->lib.js_GetStreamInfo(&info, q->js, name, NULL, NULL) != NATS_OK)
        return false;
    *bytes = info->Config->MaxBytes;
    q->lib.jsStreamInfo_Destroy(info);
    return true;
}

/* Adds a stream, of config->MaxBytes if the server has room for it, else of a half, a quarter.
 * Another process that connects at the same time may add it first. */
static natsStatus add(struct nats_queue *q, jsStreamConfig *config, jsErrCode *error)
{
    natsStatus status;
    bool is_smaller;
    do {
        memset(error, 0, sizeof *error); /* no value of the enum means none */
        status = q->lib.js_AddStream(NULL, q->js, config, NULL, error);
        is_smaller = status != NATS_OK && is_full(*error) && config->MaxBytes > STREAM_BYTES_LEAST;
        if (is_smaller && config->MaxBytes > 2 * STREAM_BYTES_LEAST)
            config->MaxBytes /= 2;
        else if (is_smaller)
            config->MaxBytes = STREAM_BYTES_LEAST;
    } while (is_smaller);
    return *error == JSStreamNameExistErr ? NATS_OK : status;
}

/* Adds the stream of the reports with the room of all. */
static enum status add_reports(struct nats_queue *q, struct fault *fault)
{
    const char *subject = nats_subjects[QUEUE_REPORTS];
    natsStatus status = NATS_ERR;
    jsStreamConfig config;
    jsErrCode error;
    memset(&error, 0, sizeof error);
    describe_channel(q, QUEUE_REPORTS, &subject, &config);
    for (int64_t bytes = REPORTS_BYTES_MAX; bytes >= REPORTS_BYTES_LEAST; bytes /= 2) {
        config.MaxBytes = undivided_bytes(bytes);
        memset(&error, 0, sizeof error);
        status = q->lib.js_AddStream(NULL, q->js, &config, NULL, &error);
        if (status == NATS_OK || !is_full(error))
            break;
    }
    return status == NATS_OK || error == JSStreamNameExistErr
               ? ERR_NONE
               : full_or_failed(error, status, fault);
}

/* The bytes that the stream of the reports may hold, when it has given back what the others need.
 */
static enum status divide_reports(struct nats_queue *q, int64_t *out, struct fault *fault)
{
    const char *subject = nats_subjects[QUEUE_REPORTS];
    jsStreamConfig config;
    natsStatus status;
    if (!has_stream(q, nats_streams[QUEUE_REPORTS], out))
        return nats_queue_failed(fault, NATS_NOT_FOUND, "queue");
    for (int64_t bytes = REPORTS_BYTES_MAX; bytes >= REPORTS_BYTES_LEAST; bytes /= 2) {
        if (*out != undivided_bytes(bytes))
            continue;
        describe_channel(q, QUEUE_REPORTS, &subject, &config);
        config.MaxBytes = *out = bytes;
        status = q->lib.js_UpdateStream(NULL, q->js, &config, NULL, NULL);
        return status == NATS_OK ? ERR_NONE : nats_queue_failed(fault, status, "queue");
    }
    if (*out <= 0 || *out > REPORTS_BYTES_MAX) /* who made it set another limit */
        *out = REPORTS_BYTES_MAX;
    return ERR_NONE;
}

static enum status add_channel(struct nats_queue *q, int channel, int64_t reports,
                               struct fault *fault)
{
    const char *subject = nats_subjects[channel];
    jsStreamConfig config;
    jsErrCode error;
    int64_t has;
    if (has_stream(q, nats_streams[channel], &has)) /* a full server refuses it, too */
        return ERR_NONE;
    describe_channel(q, channel, &subject, &config);
    config.MaxBytes = channel == QUEUE_PARTIALS ? partials_bytes(reports) : small_bytes(reports);
    const natsStatus status = add(q, &config, &error);
    return status == NATS_OK ? ERR_NONE : full_or_failed(error, status, fault);
}

/* Adds the stream of a shelf: the newest item of each name, until it is too old. The server sets
 * nothing aside for notes, which are short. Where a disk has no room for parts, reports that need
 * them are refused until it has. */
static enum status add_shelf(struct nats_queue *q, enum queue_shelf shelf, int64_t reports,
                             struct fault *fault)
{
    static const int64_t ages_s[QUEUE_SHELVES] = {QUEUE_NOTES_S, QUEUE_KEEP_S};
    const char *all = nats_shelf_subjects[shelf];
    jsStreamConfig config;
    jsErrCode error;
    int64_t has;
    if (has_stream(q, nats_shelf_streams[shelf], &has))
        return ERR_NONE;
    describe(q, nats_shelf_streams[shelf], &all, &config);
    config.MaxMsgsPerSubject = 1;
    config.MaxAge = ages_s[shelf] * NATS_SECOND_NS;
    if (shelf == QUEUE_PARTS)
        config.MaxBytes = small_bytes(reports);
    const natsStatus status = add(q, &config, &error);
    if (status == NATS_OK || (shelf == QUEUE_PARTS && is_full(error)))
        return ERR_NONE;
    return full_or_failed(error, status, fault);
}

enum status nats_queue_add_streams(struct nats_queue *q, struct fault *fault)
{
    int64_t reports = 0;
    if (!has_stream(q, nats_streams[QUEUE_REPORTS], &reports) && add_reports(q, fault) != ERR_NONE)
        return fault->code;
    (void)divide_reports(q, &reports, fault);
    for (int c = QUEUE_REPORTS + 1; fault->code == ERR_NONE && c < QUEUE_CHANNELS; c++)
        (void)add_channel(q, c, reports, fault);
    for (int i = 0; fault->code == ERR_NONE && i < QUEUE_SHELVES; i++)
        (void)add_shelf(q, (enum queue_shelf)i, reports, fault);
    return fault->code;
}
