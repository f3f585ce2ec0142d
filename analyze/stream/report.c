/* Reports in a queue: see report.h. */
#include "stream/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/text.h"

enum { PIECES_MAX = 10000, ID_ROOM = 16 /* before the id, for ids made of it */, SCHEMA_MOST = 2 };

char *report_write(const struct report *report, struct arena *keep, size_t *bytes)
{
    struct json j;
    size_t head_bytes = 0;
    json_to_text(&j, false);
    json_object(&j);
    json_key_uint(&j, "schema_version", report->parts > 0 ? 2 : 1);
    json_key_string(&j, "id", report->id);
    json_key_string(&j, "sender", report->sender);
    json_key_string(&j, "version", report->version);
    json_key_string(&j, "received", report->received);
    if (report->parts > 0) {
        json_key_uint(&j, "parts", report->parts);
        json_key_uint(&j, "bytes", report->bytes);
        json_key_string(&j, "digest", report->digest);
    }
    json_object_end(&j);
    json_newline(&j);
    const size_t body_bytes = report->parts > 0 ? 0 : report->bytes;
    char *head = json_take(&j, &head_bytes);
    char *text = head != NULL ? arena_alloc(keep, head_bytes + body_bytes + 1) : NULL;
    if (text != NULL) {
        memcpy(text, head, head_bytes);
        if (body_bytes > 0)
            memcpy(text + head_bytes, report->stacks, body_bytes);
        *bytes = head_bytes + body_bytes;
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
    const uint64_t parts = json_get_uint(root, "parts", 0, fault);
    const uint64_t whole = json_get_uint(root, "bytes", 0, fault);
    out->digest = json_get_string(root, "digest", keep, fault);
    cJSON_Delete(root);
    if (fault->code != ERR_NONE)
        return fault->code;
    if (schema > SCHEMA_MOST)
        return fault_set_reason(fault, ERR_UNSUPPORTED, "version of a report", FAULT_NEWER,
                                "a newer version of this program reads it");
    if (schema == 0)
        return fault_set(fault, ERR_UNSUPPORTED, 0, "version of a report");
    if (schema == SCHEMA_MOST &&
        (out->digest == NULL || parts == 0 || parts > REPORT_PARTS_MAX ||
         whole > LIMIT_REPORT_DUMP_BYTES || whole > parts * REPORT_PART_BYTES ||
         whole <= (parts - 1) * REPORT_PART_BYTES))
        return fault_set(fault, ERR_MALFORMED, 0, "parts of a report");
    if (out->id == NULL || !queue_id_is_valid(out->id) || out->received == NULL ||
        strlen(out->received) + 1 > REPORT_TIME_BYTES || strlen(out->received) < 13 ||
        !is_word(out->received) || !is_word(out->sender) || !is_word(out->version))
        return fault_set(fault, ERR_MALFORMED, 0, "head of a report");
    out->stacks = stop + 1;
    out->bytes = bytes - (size_t)(out->stacks - text);
    if (schema == SCHEMA_MOST) {
        out->parts = (uint32_t)parts;
        out->stacks = NULL;
        out->bytes = (size_t)whole;
    }
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

/* The bytes of the piece at AT; 0: no stack begins in what fits into a message. */
static size_t piece_bytes(const struct report *report, size_t at)
{
    const size_t left = report->bytes - at;
    return left <= REPORT_PART_BYTES ? left : last_start(report->stacks + at, REPORT_PART_BYTES);
}

/* Fails: ERR_MALFORMED one stack is larger than a message; ERR_LIMIT. Nothing is stored yet. */
static enum status check_pieces(const struct report *report, struct fault *fault)
{
    uint32_t count = 0;
    for (size_t at = 0; at < report->bytes && fault->code == ERR_NONE; count++) {
        const size_t bytes = piece_bytes(report, at);
        at += bytes;
        if (bytes == 0)
            (void)fault_set_hint(fault, ERR_MALFORMED, at, "stack", "larger than 900 kB");
        else if (count == PIECES_MAX)
            (void)fault_set_hint(fault, ERR_MALFORMED, at, "report", "of too many pieces");
    }
    return fault->code;
}

static enum status put_message(struct queue *queue, const struct report *report,
                               struct fault *fault)
{
    struct arena work;
    size_t bytes = 0;
    arena_init(&work, 0);
    char *text = report->id != NULL ? report_write(report, &work, &bytes) : NULL;
    if (text == NULL)
        (void)fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "report");
    else
        (void)queue->transport->put(queue, QUEUE_REPORTS, report->id, text, bytes, fault);
    arena_free(&work);
    return fault->code;
}

static enum status put_pieces(struct queue *queue, const struct report *report, struct fault *fault)
{
    size_t at = 0;
    for (uint32_t n = 0; fault->code == ERR_NONE && (at < report->bytes || n == 0); n++) {
        struct report piece = *report;
        char id[QUEUE_ID_BYTES];
        piece.stacks = report->stacks + at;
        piece.bytes = piece_bytes(report, at);
        if (n > 0) {
            (void)snprintf(id, sizeof id, "-%u-%s", (unsigned)n, report->id);
            piece.id = id;
        }
        at += piece.bytes;
        (void)put_message(queue, &piece, fault);
    }
    return fault->code;
}

enum status report_put(struct queue *queue, const struct report *report, struct fault *fault)
{
    struct report whole = *report;
    char digest[65];
    const bool in_parts = report->bytes > REPORT_PART_BYTES && report_is_record(report);
    if (!queue_id_is_valid(report->id) || strlen(report->id) > QUEUE_ID_BYTES - ID_ROOM ||
        !is_word(report->version) || !is_word(report->sender) ||
        report->bytes > LIMIT_REPORT_DUMP_BYTES)
        return fault_set(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "report");
    if (!in_parts && check_pieces(report, fault) != ERR_NONE)
        return fault->code;
    text_sha256(report->stacks, report->bytes, digest);
    if (queue_claim(queue, report->id, digest, fault) != ERR_NONE)
        return fault->code;
    if (!in_parts)
        return put_pieces(queue, report, fault);
    whole.digest = digest;
    if (report_put_parts(queue, &whole, fault) != ERR_NONE)
        return fault->code;
    return put_message(queue, &whole, fault);
}
