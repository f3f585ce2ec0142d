/* The reducer: partial results into totals. See work.h. */
#include "stream/partial.h"
#include "stream/shadow_result.h"
#include "stream/slice.h"
#include "stream/totals.h"
#include "stream/work_round.h"

enum { REDUCE_MOST = 32 /* partial results of one transaction: about 20 MB */ };

/* Adds the partial results in TEXT, inside a transaction. */
static enum status add_results(struct round *r, struct totals *totals, const char *text,
                               size_t bytes, struct fault *fault)
{
    struct arena work;
    size_t used = 0;
    bool is_new = false;
    arena_init(&work, 0);
    for (size_t at = 0; fault->code == ERR_NONE && at < bytes; at += used) {
        struct partial p;
        arena_reset(&work);
        if (partial_read(text + at, bytes - at, &work, &p, &used, fault) != ERR_NONE ||
            totals_add(totals, &p, &is_new, fault) != ERR_NONE)
            break;
        r->figures->reports += is_new ? report_count_of(p.of) : 0;
        r->figures->stacks += is_new ? p.stacks : 0;
        r->figures->bad += is_new ? p.bad : 0;
    }
    arena_free(&work);
    return fault->code;
}

static enum status add_message(struct round *r, struct totals *totals,
                               const struct queue_message *m, struct arena *work,
                               struct fault *fault)
{
    struct shadow shadow;
    struct slice slice;
    const char *whole = NULL;
    size_t bytes = 0;
    bool is_new = false;
    if (slice_is_text(m->data, m->bytes)) {
        if (slice_read(m->data, m->bytes, work, &slice, fault) == ERR_NONE &&
            totals_add_slice(totals, &slice, work, &whole, &bytes, fault) == ERR_NONE &&
            whole != NULL)
            (void)add_results(r, totals, whole, bytes, fault);
        return fault->code;
    }
    if (!shadow_is_text(m->data, m->bytes))
        return add_results(r, totals, m->data, m->bytes, fault);
    if (shadow_read(m->data, m->bytes, work, &shadow, fault) == ERR_NONE &&
        totals_add_shadow(totals, &shadow, &is_new, fault) == ERR_NONE)
        r->figures->judged += is_new;
    return fault->code;
}

/* Adds messages FROM to END; all of them or nothing is in the database. */
static enum status add_messages(struct round *r, struct totals *totals, uint32_t from, uint32_t end,
                                struct fault *fault)
{
    const struct work_figures before = *r->figures;
    struct arena work;
    if (totals_begin(totals, fault) != ERR_NONE)
        return fault->code;
    arena_init(&work, 0);
    for (uint32_t i = from; fault->code == ERR_NONE && i < end; i++) {
        arena_reset(&work);
        (void)add_message(r, totals, &r->messages[i], &work, fault);
    }
    arena_free(&work);
    if (totals_end(totals, fault) != ERR_NONE)
        *r->figures = before;
    return fault->code;
}

static void settle_messages(struct round *r, uint32_t from, uint32_t end)
{
    for (uint32_t i = from; i < end; i++)
        (void)work_settle(r, QUEUE_PARTIALS, i, QUEUE_DONE);
}

/* One transaction for all that was taken: a commit waits for the disk. If it fails, one transaction
 * per message finds the message that is damaged. */
static enum status reduce_round(struct round *r, void *context, struct fault *fault)
{
    struct fault together = FAULT_INIT;
    hold_begin(r->hold, HOLD_ROUND, QUEUE_PARTIALS, r->messages, r->settled, r->count);
    if (add_messages(r, context, 0, r->count, &together) == ERR_NONE) {
        settle_messages(r, 0, r->count);
        return ERR_NONE;
    }
    for (uint32_t i = 0; i < r->count; i++) {
        struct fault bad = FAULT_INIT;
        if (add_messages(r, context, i, i + 1, &bad) == ERR_NONE) {
            settle_messages(r, i, i + 1);
            continue;
        }
        if (bad.code == ERR_IO || bad.code == ERR_MEMORY || bad.code == ERR_TIMEOUT) {
            *fault = bad; /* the disk is full, or another process writes: later */
            return fault->code;
        }
        if (bad.reason == FAULT_NEWER) {
            (void)work_settle(r, QUEUE_PARTIALS, i, QUEUE_LATER);
            r->figures->newer++;
            continue;
        }
        char why[256];
        fault_describe(&bad, why, sizeof why);
        work_bury(r, QUEUE_PARTIALS, i, why);
    }
    return ERR_NONE;
}

enum status reduce_run(const struct work_options *options, struct totals *totals,
                       struct work_figures *figures, struct fault *fault)
{
    return work_rounds(options, QUEUE_PARTIALS, REDUCE_MOST, reduce_round, totals, figures, fault);
}
