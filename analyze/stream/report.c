/* Reports in a queue: see report.h. */
#include "stream/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"

enum { HEAD_ROOM = 1024, PIECES_MAX = 10000, ID_ROOM = 16 /* before the id, for ids made of it */ };

char *report_write(const struct report *report, struct arena *keep, size_t *bytes)
{
    struct json j;
    size_t head_bytes = 0;
    json_to_text(&j, false);
    json_object(&j);
    json_key_uint(&j, "schema_version", 1);
    json_key_string(&j, "id", report->id);
    json_key_string(&j, "sender", report->sender);
    json_key_string(&j, "version", report->version);
    json_key_string(&j, "received", report->received);
    json_object_end(&j);
    json_newline(&j);
    char *head = json_take(&j, &head_bytes);
    char *text = head != NULL ? arena_alloc(keep, head_bytes + report->bytes + 1) : NULL;
    if (text != NULL) {
        memcpy(text, head, head_bytes);
        if (report->bytes > 0)
            memcpy(text + head_bytes, report->stacks, report->bytes);
        *bytes = head_bytes + report->bytes;
    }
    free(head);
    return text;
}

/* A word of a report: short, and without control characters. */
static bool is_word(const char *text)
{
    const size_t bytes = text != NULL ? strlen(text) : 0;
    for (size_t i = 0; i < bytes; i++)
        if ((unsigned char)text[i] < 0x20)
            return false;
    return bytes < REPORT_WORD_BYTES;
}

enum status report_read(const char *text, size_t bytes, struct arena *keep, struct report *out,
                        struct fault *fault)
{
    const char *stop = bytes > 0 ? memchr(text, '\n', bytes) : NULL;
    cJSON *root = NULL;
    memset(out, 0, sizeof *out);
    if (stop == NULL)
        return fault_set(fault, ERR_TRUNCATED, bytes, "report");
    if (json_parse(text, (size_t)(stop - text), &root, fault) != ERR_NONE)
        return fault->code;
    const uint64_t schema = json_get_uint(root, "schema_version", 0, fault);
    out->id = json_get_string(root, "id", keep, fault);
    out->sender = json_get_string(root, "sender", keep, fault);
    out->version = json_get_string(root, "version", keep, fault);
    out->received = json_get_string(root, "received", keep, fault);
    cJSON_Delete(root);
    if (fault->code != ERR_NONE)
        return fault->code;
    if (schema != 1)
        return fault_set(fault, ERR_UNSUPPORTED, 0, "version of a report");
    if (out->id == NULL || !queue_id_is_valid(out->id) || out->received == NULL ||
        strlen(out->received) + 1 > REPORT_TIME_BYTES || strlen(out->received) < 13 ||
        !is_word(out->received) || !is_word(out->sender) || !is_word(out->version))
        return fault_set(fault, ERR_MALFORMED, 0, "head of a report");
    out->stacks = stop + 1;
    out->bytes = bytes - (size_t)(out->stacks - text);
    return ERR_NONE;
}

void report_time(uint64_t wall_ns, char out[REPORT_TIME_BYTES])
{
    char date[TEXT_DATE_BYTES];
    const uint64_t seconds = wall_ns / 1000000000U;
    text_utc_date(seconds, date);
    (void)snprintf(out, REPORT_TIME_BYTES, "%.10sT%02u:%02u:%02uZ", date,
                   (unsigned)(seconds / 3600 % 24), (unsigned)(seconds / 60 % 60),
                   (unsigned)(seconds % 60));
}

/* The last stack's start in TEXT, after its first byte; 0: none. */
static size_t last_start(const char *text, size_t bytes)
{
    const char mark = text[0] == '{' ? '{' : '>';
    for (size_t i = bytes; i > 1; i--)
        if (text[i - 1] == mark && text[i - 2] == '\n')
            return i - 1;
    return 0;
}

enum status report_put(struct queue *queue, const struct report *report, struct fault *fault)
{
    const size_t room = QUEUE_MESSAGE_BYTES - HEAD_ROOM;
    size_t at = 0;
    char digest[65];
    if (!queue_id_is_valid(report->id) || strlen(report->id) > QUEUE_ID_BYTES - ID_ROOM ||
        !is_word(report->version) || !is_word(report->sender))
        return fault_set(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "report");
    text_sha256(report->stacks, report->bytes, digest);
    if (queue_claim(queue, report->id, digest, fault) != ERR_NONE)
        return fault->code;
    for (uint32_t n = 0; fault->code == ERR_NONE && (at < report->bytes || n == 0); n++) {
        struct arena work;
        struct report piece = *report;
        size_t bytes = 0;
        arena_init(&work, 0);
        piece.stacks = report->stacks + at;
        piece.bytes = report->bytes - at;
        if (piece.bytes > room)
            piece.bytes = last_start(piece.stacks, room);
        if (piece.bytes == 0 && report->bytes > 0)
            (void)fault_set_hint(fault, ERR_MALFORMED, at, "stack", "larger than 900 kB");
        if (n > 0)
            piece.id = arena_printf(&work, "-%u-%s", (unsigned)n, report->id);
        at += piece.bytes;
        char *text = piece.id != NULL ? report_write(&piece, &work, &bytes) : NULL;
        if (text == NULL)
            (void)fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "report");
        if (fault->code == ERR_NONE)
            (void)queue->transport->put(queue, QUEUE_REPORTS, piece.id, text, bytes, fault);
        arena_free(&work);
        if (n == PIECES_MAX)
            (void)fault_set(fault, ERR_LIMIT, at, "pieces of a report");
    }
    return fault->code;
}
