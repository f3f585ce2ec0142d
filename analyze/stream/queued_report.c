/* Reports in a queue: see queued_report.h. */
#include "stream/queued_report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/text.h"
#include "stream/count_worker.h"

enum {
    PIECES_MAX = 10000,
    ID_ROOM = 16 /* before the id, for ids made of it */,
    SCHEMA_PARTS = 2,
    SCHEMA_GROUP = 3
};

static uint64_t schema_of(const struct report *report)
{
    if (report->member_count > 0)
        return SCHEMA_GROUP;
    return report->parts > 0 ? SCHEMA_PARTS : 1;
}

char *report_write(const struct report *report, struct arena *keep, size_t *bytes)
{
    struct json j;
    size_t head_bytes = 0;
    json_to_text(&j, false);
    json_object(&j);
    json_key_uint(&j, "schema_version", schema_of(report));
    json_key_string(&j, "id", report->id);
    json_key_string(&j, "sender", report->sender);
    json_key_string(&j, "version", report->version);
    json_key_string(&j, "received", report->received);
    if (report->parts > 0) {
        json_key_uint(&j, "parts", report->parts);
        json_key_uint(&j, "bytes", report->bytes);
        json_key_string(&j, "digest", report->digest);
    }
    if (report->member_count > 0) {
        json_key_array(&j, "members");
        for (uint32_t i = 0; i < report->member_count; i++) {
            json_string(&j, report->members[i].id);
            json_uint(&j, report->members[i].bytes);
        }
        json_array_end(&j);
        json_key_bool(&j, "split", report->is_split);
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

static enum status read_members(const cJSON *list, struct arena *keep, struct report *out,
                                struct fault *fault)
{
    const int size = cJSON_IsArray(list) ? cJSON_GetArraySize(list) : 0;
    const cJSON *item = NULL;
    if (size < 2 || size % 2 != 0 || size / 2 > REPORT_MEMBERS_MAX)
        return fault_set(fault, ERR_MALFORMED, 0, "members of a report");
    struct report_member *members = ARENA_ARRAY(keep, (size_t)size / 2, struct report_member);
    if (members == NULL)
        return fault_no_memory(fault, "members of a report");
    cJSON_ArrayForEach(item, list)
    {
        struct report_member *m = &members[out->member_count];
        if (m->id == NULL) {
            m->id = cJSON_IsString(item) ? arena_string(keep, item->valuestring) : NULL;
            if (m->id == NULL || !queue_id_is_valid(m->id))
                return fault_set(fault, ERR_MALFORMED, 0, "members of a report");
            continue;
        }
        if (!cJSON_IsNumber(item) || item->valuedouble < 0 ||
            item->valuedouble > (double)REPORT_PART_BYTES)
            return fault_set(fault, ERR_MALFORMED, 0, "members of a report");
        m->bytes = (size_t)item->valuedouble;
        out->bytes += m->bytes;
        out->member_count++;
    }
    out->members = members;
    return ERR_NONE;
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
    if (fault->code == ERR_NONE && schema > SCHEMA_GROUP) {
        cJSON_Delete(root);
        return fault_set_reason(fault, ERR_UNSUPPORTED, "version of a report", FAULT_NEWER,
                                "a newer version of this program reads it");
    }
    out->id = json_get_string(root, "id", keep, fault);
    out->sender = json_get_string(root, "sender", keep, fault);
    out->version = json_get_string(root, "version", keep, fault);
    out->received = json_get_string(root, "received", keep, fault);
    const uint64_t parts = json_get_uint(root, "parts", 0, fault);
    const uint64_t whole = json_get_uint(root, "bytes", 0, fault);
    out->digest = json_get_string(root, "digest", keep, fault);
    if (fault->code == ERR_NONE && schema == SCHEMA_GROUP) {
        out->is_split = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(root, "split"));
        (void)read_members(cJSON_GetObjectItemCaseSensitive(root, "members"), keep, out, fault);
    }
    cJSON_Delete(root);
    if (fault->code != ERR_NONE)
        return fault->code;
    if (schema == 0)
        return fault_set(fault, ERR_UNSUPPORTED, 0, "version of a report");
    if (schema == SCHEMA_PARTS &&
        (out->digest == NULL || parts == 0 || parts > REPORT_PARTS_MAX ||
         whole > LIMIT_REPORT_DUMP_BYTES || whole > parts * REPORT_PART_BYTES ||
         whole <= (parts - 1) * REPORT_PART_BYTES))
        return fault_set(fault, ERR_MALFORMED, 0, "parts of a report");
    if (out->id == NULL || !queue_id_is_valid(out->id) || out->received == NULL ||
        strlen(out->received) + 1 > REPORT_TIME_BYTES || strlen(out->received) < 13 ||
        !is_word(out->received) || !is_word(out->sender) || !is_word(out->version))
        return fault_set(fault, ERR_MALFORMED, 0, "head of a report");
    out->stacks = stop + 1;
    const size_t members = out->bytes; /* of a group: the sum of theirs */
    out->bytes = bytes - (size_t)(out->stacks - text);
    if (out->member_count > 0 && members != out->bytes)
        return fault_set(fault, ERR_TRUNCATED, bytes, "members of a report");
    if (schema == SCHEMA_PARTS) {
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

/* One piece of a text: the lines about modules that apply to it, of the pieces before it, and its
 * own bytes. */
struct piece {
    uint32_t number;
    const char *stated, *data;
    size_t stated_bytes, bytes;
};

typedef enum status piece_fn(void *context, const struct piece *piece, struct fault *fault);

/* Cuts a text and shows TAKE each piece. Fails: ERR_MALFORMED one stack is larger than a message,
 * or there are too many pieces; ERR_MEMORY; and as TAKE does. */
static enum status cut(const struct report *report, piece_fn *take, void *context,
                       struct fault *fault)
{
    struct piece piece = {.stated = ""};
    struct arena work;
    struct stated_modules *modules = stated_modules_new();
    if (modules == NULL)
        return fault_no_memory(fault, "report");
    arena_init(&work, 0);
    /* most texts state no module: to look at each of their lines would cost more than all else */
    const bool may_state =
        report->bytes > 0 && (memchr(report->stacks, '#', report->bytes) != NULL ||
                              memchr(report->stacks, '|', report->bytes) != NULL);
    for (size_t at = 0; fault->code == ERR_NONE && (at < report->bytes || at == 0);
         at += piece.bytes, piece.number++) {
        const size_t left = report->bytes - at;
        const size_t room =
            piece.stated_bytes < REPORT_PART_BYTES ? REPORT_PART_BYTES - piece.stated_bytes : 0;
        piece.data = report->bytes > 0 ? report->stacks + at : ""; /* which may be NULL */
        piece.bytes = left;
        if (left > room)
            piece.bytes = room > 0 ? last_start(piece.data, room) : 0;
        if (piece.bytes == 0 && report->bytes > 0)
            (void)fault_set_hint(fault, ERR_MALFORMED, at, "stack", "larger than 900 kB");
        else if (piece.number == PIECES_MAX)
            (void)fault_set_hint(fault, ERR_MALFORMED, at, "report", "of too many pieces");
        if (fault->code != ERR_NONE || take(context, &piece, fault) != ERR_NONE ||
            piece.bytes == left)
            break;
        arena_reset(&work);
        if (!may_state)
            continue;
        if (stated_modules_add(modules, piece.data, piece.bytes, fault) != ERR_NONE)
            break;
        piece.stated = stated_modules_text(modules, &work, &piece.stated_bytes);
        if (piece.stated == NULL)
            (void)fault_no_memory(fault, "report");
    }
    arena_free(&work);
    stated_modules_free(modules);
    return fault->code;
}

static enum status only_check(void *context, const struct piece *piece, struct fault *fault)
{
    (void)context;
    (void)piece;
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
        (void)fault_no_memory(fault, "report");
    else
        (void)queue->transport->put(queue, QUEUE_REPORTS, report->id, text, bytes, fault);
    arena_free(&work);
    return fault->code;
}

struct putting {
    struct queue *queue;
    const struct report *report;
};

static enum status put_piece(void *context, const struct piece *piece, struct fault *fault)
{
    const struct putting *p = context;
    struct report report = *p->report;
    char id[QUEUE_ID_BYTES];
    struct arena work;
    arena_init(&work, 0);
    char *text = arena_alloc(&work, piece->stated_bytes + piece->bytes + 1);
    if (text == NULL) {
        (void)fault_no_memory(fault, "report");
    } else {
        memcpy(text, piece->stated, piece->stated_bytes);
        if (piece->bytes > 0)
            memcpy(text + piece->stated_bytes, piece->data, piece->bytes);
        report.stacks = text;
        report.bytes = piece->stated_bytes + piece->bytes;
        (void)snprintf(id, sizeof id, "-%u-%s", (unsigned)piece->number, p->report->id);
        if (piece->number > 0)
            report.id = id;
        (void)put_message(p->queue, &report, fault);
    }
    arena_free(&work);
    return fault->code;
}

static bool is_in_parts(const struct report *report)
{
    return report->bytes > REPORT_PART_BYTES && report_is_record(report);
}

enum status report_check(const struct report *report, struct fault *fault)
{
    if (!queue_id_is_valid(report->id) || strlen(report->id) > QUEUE_ID_BYTES - ID_ROOM ||
        !is_word(report->version) || !is_word(report->sender) ||
        report->bytes > LIMIT_REPORT_DUMP_BYTES)
        return fault_set(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "report");
    return is_in_parts(report) ? ERR_NONE : cut(report, only_check, NULL, fault);
}

enum status report_put(struct queue *queue, const struct report *report, struct fault *fault)
{
    struct report whole = *report;
    char digest[65];
    if (!is_in_parts(report))
        return cut(report, put_piece, &(struct putting){queue, report}, fault);
    text_sha256(report->stacks, report->bytes, digest);
    whole.digest = digest;
    if (report_put_parts(queue, &whole, fault) != ERR_NONE)
        return fault->code;
    return put_message(queue, &whole, fault);
}
