/* Records that are larger than a message: their bytes are items of the queue. See queued_report.h.
 */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "capture/record.h"
#include "stream/queued_report.h"

/* The name of part N: that of a report and of its bytes, so that no other report has it. */
static void part_name(const struct report *report, uint32_t n, char out[QUEUE_ID_BYTES])
{
    char text[2 * QUEUE_ID_BYTES], digest[65];
    (void)snprintf(text, sizeof text, "%s %s", report->id, report->digest);
    text_sha256(text, strlen(text), digest);
    (void)snprintf(out, QUEUE_ID_BYTES, "-part-%u-%s", (unsigned)n, digest);
}

/* What part 0 becomes once the record is counted: a message that comes once more, since its lease
 * was over or the queue was killed, finds it and is no damaged one. No record begins like this. */
static const char counted[] = "counted";

static bool is_counted(const struct queue_item *item)
{
    return item->bytes == sizeof counted - 1 && memcmp(item->data, counted, item->bytes) == 0;
}

bool report_is_record(const struct report *report)
{
    const size_t bytes = sizeof RECORD_MAGIC - 1;
    return report->parts > 0 ||
           (report->bytes >= bytes && memcmp(report->stacks, RECORD_MAGIC, bytes) == 0);
}

enum status report_put_parts(struct queue *queue, struct report *report, struct fault *fault)
{
    report->parts = 0;
    for (size_t at = 0; at < report->bytes && fault->code == ERR_NONE; report->parts++) {
        const size_t left = report->bytes - at;
        const size_t bytes = left < REPORT_PART_BYTES ? left : REPORT_PART_BYTES;
        struct queue_item have = {NULL, 0};
        struct arena work;
        char name[QUEUE_ID_BYTES];
        arena_init(&work, 0);
        part_name(report, report->parts, name);
        (void)queue->transport->item_add(queue, QUEUE_PARTS, name, report->stacks + at, bytes,
                                         &work, &have, fault);
        arena_free(&work);
        at += bytes;
    }
    return fault->code;
}

enum status report_assemble(struct queue *queue, struct report *report, struct arena *keep,
                            struct fault *fault)
{
    char digest[65];
    size_t at = 0;
    if (report->parts == 0)
        return ERR_NONE;
    char *whole = arena_alloc(keep, report->bytes + 1);
    if (whole == NULL)
        return fault_no_memory(fault, "record in parts");
    for (uint32_t n = 0; n < report->parts; n++) {
        struct queue_item item = {NULL, 0};
        struct arena work;
        char name[QUEUE_ID_BYTES];
        arena_init(&work, 0);
        part_name(report, n, name);
        const enum status status =
            queue->transport->item_get(queue, QUEUE_PARTS, name, &work, &item, fault);
        const bool is_over = n == 0 && status == ERR_NONE && is_counted(&item);
        if (status == ERR_NONE && item.bytes <= report->bytes - at) {
            memcpy(whole + at, item.data, item.bytes);
            at += item.bytes;
        }
        arena_free(&work);
        if (is_over)
            return fault_set(fault, ERR_ABSENT, FAULT_NO_OFFSET, "parts of a counted record");
        if (status != ERR_NONE && status != ERR_ABSENT)
            return fault->code;
        fault_clear(fault);
    }
    text_sha256(whole, at, digest);
    if (at != report->bytes || strcmp(digest, report->digest) != 0)
        return fault_set_hint(fault, ERR_MALFORMED, at, "record in parts",
                              "parts of it are missing or damaged");
    report->stacks = whole;
    return ERR_NONE;
}

/* True when that is stored. Without DATA the part is removed. */
static bool replace_part(struct queue *queue, const struct report *report, uint32_t n,
                         const char *data)
{
    struct fault ignored = FAULT_INIT; /* it is removed when it is old */
    char name[QUEUE_ID_BYTES];
    part_name(report, n, name);
    return queue->transport->item_set(queue, QUEUE_PARTS, name, data,
                                      data != NULL ? strlen(data) : 0, &ignored) == ERR_NONE;
}

/* The mark first: who dies on the way leaves no parts of which some are missing. Where there was no
 * room for it, there is when the others are gone. */
void report_drop_parts(struct queue *queue, const struct report *report)
{
    if (report->parts == 0)
        return;
    const bool is_marked = replace_part(queue, report, 0, counted);
    for (uint32_t n = 1; n < report->parts; n++)
        (void)replace_part(queue, report, n, NULL);
    if (!is_marked)
        (void)replace_part(queue, report, 0, counted);
}
