/* The rounds of workers and of the reducer: see work.h. */
#include "stream/work.h"

#include <stdlib.h>

#include "base/files.h"
#include "base/log.h"
#include "base/thread.h"
#include "stream/work_round.h"

enum {
    WAIT_MS = 500,
    JUDGE_EVERY_MS = 1000, /* while reports come, a sampled one is judged so often */
    COUNT_BYTES = 16       /* of a number as text */
};

bool work_settle(struct round *r, enum queue_channel channel, uint32_t i, enum queue_end end)
{
    struct fault ignored = FAULT_INIT;
    struct queue *queue = r->options->queue;
    hold_done(r->hold, &r->settled[i]);
    return queue->transport->settle(queue, channel, &r->messages[i], end, &ignored) == ERR_NONE;
}

void work_bury(struct round *r, enum queue_channel channel, uint32_t i, const char *reason)
{
    struct fault fault = FAULT_INIT;
    r->figures->buried++;
    hold_done(r->hold, &r->settled[i]);
    if (queue_bury(r->options->queue, channel, &r->messages[i], reason, &fault) != ERR_NONE)
        r->figures->failures++;
}

/* What was taken and not settled: now to anyone, or after its lease. */
static void give_back(struct round *r, enum queue_channel channel, enum queue_end end)
{
    for (uint32_t i = 0; r->settled != NULL && i < r->count; i++)
        if (!r->settled[i])
            (void)work_settle(r, channel, i, end);
    hold_end(r->hold, HOLD_ROUND);
}

static void take_and_process(struct round *r, enum queue_channel channel, uint32_t most,
                             uint32_t wait_ms, round_fn *process, void *context,
                             struct fault *fault)
{
    const struct work_options *o = r->options;
    arena_reset(&r->keep);
    r->text.bytes = 0;
    r->count = 0;
    r->settled = NULL;
    (void)o->queue->transport->take(o->queue, channel, most, wait_ms, &r->keep, &r->messages,
                                    &r->count, fault);
    if (r->count == 0)
        return;
    r->settled = ARENA_ARRAY(&r->keep, r->count, bool);
    if (r->settled == NULL)
        (void)fault_no_memory(fault, "messages");
    else
        (void)process(r, context, fault);
}

/* Reports why nothing goes on, once per cause, and when it does again. */
static void report_wait(const struct fault *fault, struct work_figures *figures)
{
    const bool is_full = fault->reason == FAULT_FULL || fault->code == ERR_LIMIT;
    if (fault->code == ERR_NONE && (figures->disk_full || figures->waiting))
        log_note("goes on");
    else if (fault->code != ERR_NONE && (!figures->waiting || is_full != figures->disk_full)) {
        log_fault(fault);
        log_note("waits, and tries again; nothing is lost");
    }
    figures->waiting = fault->code != ERR_NONE;
    figures->disk_full = figures->waiting && is_full;
}

static bool may_go_on(const struct fault *fault)
{
    return fault->code == ERR_NONE || fault->code == ERR_IO || fault->code == ERR_LIMIT ||
           fault->code == ERR_TIMEOUT;
}

enum status work_rounds(const struct work_options *o, enum queue_channel channel, uint32_t most,
                        round_fn *process, void *context, struct work_figures *figures,
                        struct fault *fault)
{
    struct round r = {.options = o, .figures = figures, .hold = hold_new(o)};
    const uint32_t wait_ms = o->idle_ms != 0 && o->idle_ms < WAIT_MS ? o->idle_ms : WAIT_MS;
    uint64_t last_ns = clock_ns(), judged_ns = 0;
    bool has_looked = false; /* once at least, however late its processor comes */
    if (r.hold == NULL)
        return fault_no_memory(fault, "messages");
    arena_init(&r.keep, 0);
    while (!o->stopping() && (o->idle_ms == 0 || !has_looked ||
                              clock_ns() - last_ns < (uint64_t)o->idle_ms * 1000000U)) {
        struct fault bad = FAULT_INIT;
        take_and_process(&r, channel, most, wait_ms, process, context, &bad);
        has_looked = true;
        if (r.count > 0)
            last_ns = clock_ns();
        if (o->judge != NULL && bad.code == ERR_NONE &&
            (r.count == 0 || clock_ns() - judged_ns > (uint64_t)JUDGE_EVERY_MS * 1000000U)) {
            judged_ns = clock_ns();
            if (work_judge_one(o, r.hold, figures))
                last_ns = clock_ns();
        }
        figures->failures += bad.code != ERR_NONE;
        if (bad.code != ERR_NONE || r.count > 0 || !figures->disk_full)
            report_wait(&bad, figures); /* that nothing comes does not mean that there is room */
        if (o->progress != NULL)
            o->progress(o->context, figures);
        give_back(&r, channel, may_go_on(&bad) ? QUEUE_LATER : QUEUE_AGAIN);
        if (!may_go_on(&bad)) {
            *fault = bad;
            break;
        }
        if (bad.code != ERR_NONE && !o->stopping())
            thread_sleep_ms(QUEUE_RETRY_MS);
    }
    hold_free(r.hold);
    free(r.text.text);
    arena_free(&r.keep);
    return fault->code;
}
