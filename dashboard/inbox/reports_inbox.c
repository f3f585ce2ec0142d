/* The handler of reports: see reports_inbox.h. */
#include "inbox/reports_inbox.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/process.h"
#include "base/text.h"
#include "base/thread.h"
#include "http/body.h"
#include "http/response.h"
#include "http/state.h"
#include "stream/dumps.h"
#include "stream/durable.h"
#include "stream/gather.h"
#include "stream/queued_report.h"

enum {
    SENDERS_MAX = 4096,
    TOKEN_LEAST = 16, /* characters; shorter ones can be guessed */
    TOKEN_MOST = 128,
    SENDER_FILE_BYTES = 1 << 20,
    TEXT_BYTES_MAX = 16 << 20, /* a report of text; a record may be larger */
    REPORTS_PER_MINUTE = 600,
    REPORTS_PER_MINUTE_MOST = 60000000,
    REPORTS_BURST_SHARE = 6, /* of a minute's reports: 100 of 600 */
    TRIM_SHARE = 16          /* the dumps may exceed their limit by 1 / TRIM_SHARE */
};
#define TRIM_EVERY_NS (UINT64_C(60) * 1000000000)

/* Between a sender's name and its report's id, and in no name: so two senders never have the same
 * id. */
static const char SENDER_ENDS = '-';

struct sender {
    const char *name, *token;
    uint64_t step_ns; /* of one report */
    uint64_t due_ns;  /* when its allowance is full again */
};

struct collector {
    struct queue *queue;
    struct gather *gather;
    struct arena arena;
    struct sender *senders;
    uint32_t count, room;
    char *dumps; /* the folder of dumps */
    struct mutex *lock;
    uint64_t stored, refused, failed, bytes, deleted;
    uint64_t dump_age_ms, dump_bytes_max;
    uint64_t trim_due_ns; /* when the folder of dumps is looked through again */
    uint64_t trim_bytes;  /* that came since it was */
};

static enum status add_sender(struct collector *c, char *line, struct fault *fault)
{
    char *rest = line;
    uint64_t per_minute = REPORTS_PER_MINUTE;
    const char *name = text_next_word(&rest), *token = text_next_word(&rest);
    const char *rate = token != NULL ? text_next_word(&rest) : NULL;
    if (name == NULL || name[0] == '#')
        return ERR_NONE;
    if (token == NULL || text_next_word(&rest) != NULL || !queue_id_is_valid(name) ||
        strchr(name, SENDER_ENDS) != NULL || strlen(name) > 24 || strlen(token) < TOKEN_LEAST ||
        strlen(token) > TOKEN_MOST || c->count == SENDERS_MAX ||
        (rate != NULL && (!text_parse_uint(rate, strlen(rate), &per_minute) || per_minute < 1 ||
                          per_minute > REPORTS_PER_MINUTE_MOST)))
        return fault_set_hint(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "line of a sender",
                              "NAME TOKEN [REPORTS-PER-MINUTE]; a name of at most 24 letters, "
                              "digits, '_' and '.', a token of at least 16");
    if (!ARENA_ROOM(&c->arena, c->senders, c->room, c->count + 1U))
        return fault_no_memory(fault, "senders");
    c->senders[c->count++] = (struct sender){
        .name = name, .token = token, .step_ns = UINT64_C(60000000000) / per_minute};
    return ERR_NONE;
}

static enum status read_senders(struct collector *c, const char *path, struct fault *fault)
{
    char *text = NULL;
    size_t bytes = 0;
    if (file_read(path, SENDER_FILE_BYTES, &c->arena, &text, &bytes, fault) != ERR_NONE)
        return fault->code;
    while (text != NULL && *text != '\0' && fault->code == ERR_NONE) {
        char *stop = strchr(text, '\n');
        if (stop != NULL)
            *stop = '\0';
        (void)add_sender(c, text, fault);
        text = stop != NULL ? stop + 1 : NULL;
    }
    if (fault->code == ERR_NONE && c->count == 0)
        (void)fault_set(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "file without a sender");
    fault_set_path(fault, path);
    return fault->code;
}

enum status collector_open(const struct dashboard_options *options, struct collector **out,
                           struct fault *fault)
{
    struct collector *c = calloc(1, sizeof *c);
    *out = c;
    if (c == NULL)
        return fault_no_memory(fault, "collector");
    arena_init(&c->arena, 0);
    c->lock = mutex_new();
    c->dump_age_ms = options->dump_age_ms;
    c->dump_bytes_max = options->dump_mib << 20;
    c->dumps = arena_printf(&c->arena, "%s/dumps", options->spool);
    if (c->lock == NULL || c->dumps == NULL)
        return fault_no_memory(fault, "collector");
    if (options->senders == NULL)
        return fault_set_hint(fault, ERR_USAGE, FAULT_NO_OFFSET, "collector",
                              "--collect needs --senders FILE: lines of NAME TOKEN");
    if (read_senders(c, options->senders, fault) != ERR_NONE ||
        folder_make(c->dumps, fault) != ERR_NONE)
        return fault->code;
    durable_sweep(c->dumps);
    if (queue_open_patiently(options->queue != NULL ? options->queue : options->spool,
                             process_interrupted, &c->queue, fault) != ERR_NONE)
        return fault->code;
    c->gather = gather_new(c->queue);
    return c->gather != NULL ? ERR_NONE : fault_no_memory(fault, "collector");
}

void collector_close(struct collector *collector)
{
    if (collector == NULL)
        return;
    gather_free(collector->gather);
    queue_close(collector->queue);
    mutex_free(collector->lock);
    arena_free(&collector->arena);
    free(collector);
}

/* Looks at every sender and every character, so that the time taken shows nothing. */
static struct sender *find_sender(struct collector *c, const char *token)
{
    struct sender *found = NULL;
    const size_t bytes = token != NULL ? strlen(token) : 0;
    for (uint32_t i = 0; i < c->count; i++) {
        const size_t wanted = strlen(c->senders[i].token);
        unsigned differ = bytes != wanted;
        for (size_t k = 0; k < wanted; k++)
            differ |= (unsigned)(unsigned char)(c->senders[i].token[k] ^
                                                (bytes > 0 ? token[k % bytes] : 0));
        if (differ == 0)
            found = &c->senders[i];
    }
    return found;
}

/* A bucket that holds REPORTS_BURST, or what comes in ten seconds, and fills by its rate. */
static bool may_send(struct collector *c, struct sender *sender)
{
    const uint64_t step_ns = sender->step_ns, now_ns = clock_ns();
    mutex_lock(c->lock);
    if (sender->due_ns < now_ns)
        sender->due_ns = now_ns;
    const bool may = sender->due_ns - now_ns < UINT64_C(60000000000) / REPORTS_BURST_SHARE;
    if (may)
        sender->due_ns += step_ns;
    mutex_unlock(c->lock);
    return may;
}

static void count_stored(struct collector *c, size_t bytes)
{
    mutex_lock(c->lock);
    c->stored++;
    c->bytes += bytes;
    mutex_unlock(c->lock);
}

static int answer_stored(struct exchange *x, const char *id, size_t bytes)
{
    struct json j;
    size_t length = 0;
    count_stored(x->dashboard->collector, bytes);
    json_to_text(&j, false);
    json_object(&j);
    json_key_string(&j, "id", id);
    json_key_bool(&j, "stored", true);
    json_object_end(&j);
    char *text = json_take(&j, &length);
    const char *kept = text != NULL ? arena_text(&x->keep, text, length) : NULL;
    free(text);
    return kept != NULL ? answer_data(x, kept, length, NULL)
                        : answer_error(x, 503, "no_memory", "There is no memory for this answer",
                                       "the report is stored");
}

static int answer_not_stored(struct exchange *x, const struct fault *fault)
{
    if (fault->code == ERR_MISMATCH)
        return answer_error(x, 409, "other_report", "Another report of this sender has this id",
                            fault->hint);
    if (fault->code == ERR_MALFORMED)
        return answer_error(x, 400, "bad_report",
                            "The report cannot be stored: an id, a version or "
                            "a stack is not valid",
                            fault->hint);
    return answer_error(x, 503, "not_stored", "The report cannot be stored now",
                        fault->reason == FAULT_NEWER ? fault->hint : "send it again");
}

static bool write_piece(void *context, const char *data, size_t bytes)
{
    struct durable *file = context;
    return fwrite(data, 1, bytes, file->stream) == bytes;
}

/* Deletes old dumps, now and then. */
static void trim_dumps(struct collector *c, size_t bytes)
{
    struct fault ignored = FAULT_INIT; /* tried again */
    uint64_t deleted = 0;
    const uint64_t now_ns = clock_ns();
    mutex_lock(c->lock);
    c->trim_bytes += bytes;
    const bool is_due = now_ns >= c->trim_due_ns || c->trim_bytes > c->dump_bytes_max / TRIM_SHARE;
    if (is_due) {
        c->trim_due_ns = now_ns + TRIM_EVERY_NS;
        c->trim_bytes = 0;
    }
    mutex_unlock(c->lock);
    if (!is_due)
        return;
    (void)dumps_trim(c->dumps, c->dump_age_ms, c->dump_bytes_max, &deleted, &ignored);
    mutex_lock(c->lock);
    c->deleted += deleted;
    mutex_unlock(c->lock);
}

/* The dump's bytes are those of all its repetitions. */
static enum status claim_dump(struct exchange *x, const char *id, const struct durable *file,
                              struct fault *fault)
{
    struct file_map map;
    char digest[65];
    const char *name = arena_printf(&x->keep, "-dump-%s", id);
    if (name == NULL)
        return fault_no_memory(fault, "dump");
    if (fflush(file->stream) != 0)
        return fault_set(fault, ERR_IO, FAULT_NO_OFFSET, "dump");
    if (file_map(file->temporary, &map, fault) != ERR_NONE)
        return fault->code;
    text_sha256(map.data, map.bytes, digest);
    file_unmap(&map);
    return queue_claim(x->dashboard->collector->queue, name, digest, fault);
}

/* The dump goes to the disk as it comes. */
static int take_dump(struct exchange *x, const char *id)
{
    struct fault fault = FAULT_INIT;
    struct durable file = {NULL, "", ""};
    size_t bytes = 0;
    char name[QUEUE_FILE_BYTES];
    queue_file_name(id, name);
    const char *path = arena_printf(&x->keep, "%s/%s.dmp", x->dashboard->collector->dumps, name);
    if (path == NULL || durable_open(&file, path, &fault) != ERR_NONE) {
        x->closing = true;
        return answer_not_stored(x, &fault);
    }
    if (!exchange_pass_body(x, LIMIT_REPORT_DUMP_BYTES, write_piece, &file, &bytes)) {
        durable_drop(&file);
        return 400;
    }
    if (claim_dump(x, id, &file, &fault) != ERR_NONE) {
        durable_drop(&file);
        return answer_not_stored(x, &fault);
    }
    if (durable_commit(&file, &fault) != ERR_NONE)
        return answer_not_stored(x, &fault);
    trim_dumps(x->dashboard->collector, bytes);
    return answer_stored(x, id, bytes);
}

static int take_stacks(struct exchange *x, const struct sender *sender, const char *id)
{
    struct fault fault = FAULT_INIT;
    char received[REPORT_TIME_BYTES];
    char *body = NULL;
    size_t bytes = 0;
    if (!exchange_read_body(x, LIMIT_REPORT_DUMP_BYTES, &body, &bytes))
        return 400;
    report_time(clock_wall_ns(), received);
    const struct report report = {.id = id,
                                  .sender = sender->name,
                                  .version = http_query_get(&x->query, "version"),
                                  .received = received,
                                  .stacks = body,
                                  .bytes = bytes};
    if (bytes > TEXT_BYTES_MAX && !report_is_record(&report))
        return answer_error(x, 413, "too_large", "The body is larger than this server accepts",
                            "at most 16 MiB of text, or a record of 64 MiB");
    exchange_end_upload(x); /* the body is read: it may wait for others */
    if (gather_put(x->dashboard->collector->gather, &report, &fault) != ERR_NONE)
        return answer_not_stored(x, &fault);
    return answer_stored(x, id, bytes);
}

static int take_report(struct exchange *x)
{
    struct collector *c = x->dashboard->collector;
    const char *kind = http_query_get(&x->query, "kind"), *id = http_query_get(&x->query, "id");
    x->closing = true; /* until the body is read: the rest of it is not a request */
    if (c == NULL)
        return answer_error(x, 403, "collect_off", "This server collects no reports",
                            "start it with --collect");
    struct sender *sender = find_sender(c, exchange_header(x, "X-Token"));
    if (sender == NULL) {
        exchange_drop_body(x, LIMIT_REPORT_DUMP_BYTES);
        return answer_error(x, 401, "token", "The sender's token is missing or wrong",
                            "send it as X-Token");
    }
    if (id == NULL || !queue_id_is_valid(id) || strlen(id) > 48)
        return answer_error(x, 400, "bad_id", "A report needs an id",
                            "?id=, at most 48 letters, digits, '-', '_' and '.'");
    if (kind != NULL && strcmp(kind, "dump") != 0 && strcmp(kind, "stacks") != 0)
        return answer_error(x, 400, "bad_kind", "A report is kind=stacks or kind=dump", NULL);
    if (!may_send(c, sender))
        return answer_error(x, 429, "too_many", "This sender has sent too many reports",
                            "send again in a minute");
    const char *whole = arena_printf(&x->keep, "%s%c%s", sender->name, SENDER_ENDS, id);
    if (whole == NULL)
        return answer_error(x, 503, "no_memory", "There is no memory for this report", NULL);
    return kind != NULL && strcmp(kind, "dump") == 0 ? take_dump(x, whole)
                                                     : take_stacks(x, sender, whole);
}

int answer_report(struct exchange *x)
{
    struct collector *c = x->dashboard->collector;
    const int status = take_report(x);
    if (c != NULL && status >= 400) {
        mutex_lock(c->lock);
        c->refused += status < 500;
        c->failed += status >= 500;
        mutex_unlock(c->lock);
    }
    return status;
}

char *collector_metrics(struct collector *collector, struct arena *keep)
{
    char *text = NULL;
    mutex_lock(collector->lock);
    text =
        arena_printf(keep,
                     "# TYPE twinstack_reports counter\n"
                     "twinstack_reports_total{result=\"stored\"} %llu\n"
                     "twinstack_reports_total{result=\"refused\"} %llu\n"
                     "twinstack_reports_total{result=\"failed\"} %llu\n"
                     "# TYPE twinstack_report_bytes counter\n"
                     "twinstack_report_bytes_total %llu\n"
                     "# TYPE twinstack_dumps_deleted counter\n"
                     "twinstack_dumps_deleted_total %llu\n"
                     "# TYPE twinstack_queue_pending gauge\n",
                     (unsigned long long)collector->stored, (unsigned long long)collector->refused,
                     (unsigned long long)collector->failed, (unsigned long long)collector->bytes,
                     (unsigned long long)collector->deleted);
    mutex_unlock(collector->lock);
    for (int i = 0; text != NULL && i < QUEUE_CHANNELS; i++) {
        uint64_t pending = 0;
        if (collector->queue->pending(collector->queue, (enum queue_channel)i, &pending))
            text = arena_printf(keep, "%stwinstack_queue_pending{channel=\"%s\"} %llu\n", text,
                                queue_channel_name((enum queue_channel)i),
                                (unsigned long long)pending);
    }
    return text != NULL
               ? arena_printf(keep,
                              "%s# TYPE twinstack_queue_oldest_seconds gauge\n"
                              "twinstack_queue_oldest_seconds{channel=\"dead\"} %llu\n",
                              text,
                              (unsigned long long)queue_oldest_s(collector->queue, QUEUE_DEAD))
               : NULL;
}
