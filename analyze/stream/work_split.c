/* A group that was delivered before: one of its reports may kill workers, and only it is to be
 * buried. The group is put again as one that is split, in one message; then each of its reports
 * goes alone. Nothing is resolved on the way, so no worker dies of it, and all of it can be
 * repeated.
 *
 * Another worker may have resolved the group, nevertheless: the reducer counts either the group or
 * its reports, whichever comes first. */
#include <stdio.h>

#include "stream/work_round.h"

static enum status put(struct round *r, const char *id, const struct report *report,
                       struct fault *fault)
{
    struct queue *queue = r->options->queue;
    struct arena work;
    size_t bytes = 0;
    arena_init(&work, 0);
    char *text = report_write(report, &work, &bytes);
    if (text == NULL)
        (void)fault_no_memory(fault, "report");
    else
        (void)queue->transport->put(queue, QUEUE_REPORTS, id, text, bytes, fault);
    arena_free(&work);
    r->unsent = r->unsent || fault->code != ERR_NONE;
    return fault->code;
}

enum status work_put_members(struct round *r, const struct report *report, struct fault *fault)
{
    size_t at = 0;
    for (uint32_t i = 0; i < report->member_count && fault->code == ERR_NONE; i++) {
        struct report member = report_member_at(report, i, at);
        char id[QUEUE_ID_BYTES];
        at += member.bytes;
        report_member_id(report->id, i, id);
        member.id = id;
        (void)put(r, id, &member, fault);
    }
    return fault->code;
}

bool work_split(struct round *r, uint32_t i, struct fault *fault)
{
    struct report report;
    struct fault unread = FAULT_INIT; /* what is wrong with it is found when it is resolved */
    char id[QUEUE_ID_BYTES];
    const struct queue_message *m = &r->messages[i];
    if (report_read(m->data, m->bytes, &r->keep, &report, &unread) != ERR_NONE ||
        report.member_count == 0)
        return false;
    if (report.is_split) {
        if (work_put_members(r, &report, fault) != ERR_NONE)
            return false;
    } else {
        report.is_split = true;
        const int bytes = snprintf(id, sizeof id, "-s%s", report.id);
        if (bytes < 0 || (size_t)bytes >= sizeof id || put(r, id, &report, fault) != ERR_NONE)
            return false;
    }
    return work_settle(r, QUEUE_REPORTS, i, QUEUE_DONE);
}
