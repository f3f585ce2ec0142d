/* The shadow comparison of a worker: sampled reports go through a channel of their own, so that an
 * outside program that is slow, hangs or crashes delays and loses nothing that is counted. */
#include <string.h>

#include "base/text.h"
#include "stream/queued_report.h"
#include "stream/shadow_result.h"
#include "stream/work_round.h"

enum { WAIT_MS = 20 };

/* Each sampled report of a group goes as one of its own, under the id that its dump has. */
static void forward_members(const struct work_options *options, const struct report *group,
                            struct work_figures *figures)
{
    size_t at = 0;
    for (uint32_t i = 0; i < group->member_count; i++) {
        const struct report member = report_member_at(group, i, at);
        struct queue_message message = {.id = member.id};
        struct arena work;
        at += member.bytes;
        arena_init(&work, 0);
        message.data = report_write(&member, &work, &message.bytes);
        if (message.data != NULL)
            (void)work_forward(options, &message, &member, figures);
        arena_free(&work);
    }
}

bool work_forward(const struct work_options *options, const struct queue_message *message,
                  const struct report *report, struct work_figures *figures)
{
    struct fault fault = FAULT_INIT;
    if (options->judge != NULL && report->member_count > 0 && !report->is_split)
        forward_members(options, report, figures);
    if (options->judge == NULL || report->member_count > 0 || !report_is_record(report) ||
        !shadow_is_sampled(report->id, options->sample))
        return false;
    if (options->queue->transport->put(options->queue, QUEUE_SHADOW, message->id, message->data,
                                       message->bytes, &fault) == ERR_NONE)
        return true;
    figures->failures++;
    return false;
}

/* Publishes the result under an id of its own, made from the report's. */
static enum status publish(const struct work_options *options, const struct shadow *shadow,
                           struct arena *keep, struct fault *fault)
{
    char digest[65];
    size_t bytes = 0;
    char *text = shadow_write(shadow, keep, &bytes);
    const char *name = arena_printf(keep, "shadow/%s", shadow->id);
    if (text == NULL || name == NULL)
        return fault_no_memory(fault, "shadow comparison");
    text_sha256(name, strlen(name), digest);
    return options->queue->transport->put(options->queue, QUEUE_PARTIALS, digest, text, bytes,
                                          fault);
}

static enum status judge(const struct work_options *options, const struct queue_message *message,
                         struct arena *keep, struct work_figures *figures, struct fault *fault)
{
    struct report report;
    struct shadow shadow;
    memset(&shadow, 0, sizeof shadow);
    if (report_read(message->data, message->bytes, keep, &report, fault) != ERR_NONE)
        return fault->code;
    if (report_assemble(options->queue, &report, keep, fault) == ERR_ABSENT) {
        fault_clear(fault); /* it was judged before */
        return ERR_NONE;
    }
    if (fault->code != ERR_NONE)
        return fault->code;
    if (options->judge(options->judge_context, &report, keep, &shadow, fault) == ERR_ABSENT) {
        fault_clear(fault); /* the sender left no dump: nothing to compare */
        return ERR_NONE;
    }
    if (fault->code != ERR_NONE)
        return fault->code;
    shadow.id = report.id;
    shadow.hour = arena_text(keep, report.received, 13);
    shadow.version = report.version;
    if (shadow.hour == NULL)
        return fault_no_memory(fault, "shadow comparison");
    if (publish(options, &shadow, keep, fault) == ERR_NONE)
        figures->judged++;
    return fault->code;
}

static void end_judged(const struct work_options *options, struct queue_message *message,
                       struct arena *keep)
{
    struct fault ignored = FAULT_INIT;
    struct report report;
    if (options->queue->transport->settle(options->queue, QUEUE_SHADOW, message, QUEUE_DONE,
                                          &ignored) == ERR_NONE &&
        report_read(message->data, message->bytes, keep, &report, &ignored) == ERR_NONE)
        report_drop_parts(options->queue, &report);
}

/* Judges MESSAGE, which DEATHS workers have died of, and settles it unless it is to come again. */
static void end_message(const struct work_options *options, struct hold *hold,
                        struct queue_message *message, uint32_t deaths, struct arena *keep,
                        struct work_figures *figures)
{
    const bool done = false;
    const char *reason = "delivered too often: workers died of it";
    struct fault fault = FAULT_INIT, ignored = FAULT_INIT;
    char text[256];
    if (deaths < QUEUE_DEATHS_MAX) {
        hold_begin(hold, HOLD_JUDGED, QUEUE_SHADOW, message, &done, 1);
        (void)judge(options, message, keep, figures, &fault);
        hold_end(hold, HOLD_JUDGED);
        if (fault.code == ERR_NONE) {
            end_judged(options, message, keep);
            return;
        }
        if (fault.code == ERR_MEMORY || fault.code == ERR_INTERRUPTED || fault.code == ERR_IO ||
            fault.code == ERR_LIMIT || fault.reason == FAULT_NEWER) {
            figures->failures++;
            (void)options->queue->transport->settle(
                options->queue, QUEUE_SHADOW, message,
                fault.reason == FAULT_NEWER ? QUEUE_LATER : QUEUE_AGAIN, &ignored);
            return;
        }
        fault_describe(&fault, text, sizeof text);
        reason = text;
    }
    figures->buried++;
    if (queue_bury(options->queue, QUEUE_SHADOW, message, reason, &ignored) != ERR_NONE)
        figures->failures++;
}

/* Only one is taken at a time, so a worker that dies has it alone. */
static void judge_message(const struct work_options *options, struct hold *hold,
                          struct queue_message *message, struct arena *keep,
                          struct work_figures *figures)
{
    struct fault fault = FAULT_INIT;
    const bool is_suspect = message->delivered > 1;
    const uint32_t deaths = is_suspect ? work_deaths(options, QUEUE_SHADOW, message) + 1 : 0;
    if (is_suspect && deaths < QUEUE_DEATHS_MAX &&
        work_trial(options, QUEUE_SHADOW, message, deaths - 1, &fault) != ERR_NONE) {
        figures->failures++;
        (void)options->queue->transport->settle(options->queue, QUEUE_SHADOW, message, QUEUE_LATER,
                                                &fault);
        return;
    }
    end_message(options, hold, message, deaths, keep, figures);
    if (is_suspect && deaths < QUEUE_DEATHS_MAX)
        work_survived(options, QUEUE_SHADOW, message, deaths - 1);
}

bool work_judge_one(const struct work_options *options, struct hold *hold,
                    struct work_figures *figures)
{
    struct queue_message *messages = NULL;
    struct fault fault = FAULT_INIT;
    struct arena keep;
    uint32_t count = 0;
    arena_init(&keep, 0);
    if (options->queue->transport->take(options->queue, QUEUE_SHADOW, 1, WAIT_MS, &keep, &messages,
                                        &count, &fault) != ERR_NONE)
        figures->failures++;
    for (uint32_t i = 0; i < count; i++)
        judge_message(options, hold, &messages[i], &keep, figures);
    arena_free(&keep);
    return count > 0;
}
