/* See work.h. */
#include "stream/work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/text.h"
#include "base/thread.h"
#include "compare/signature_tally.h"
#include "stream/count.h"
#include "stream/partial.h"
#include "stream/report.h"
#include "stream/shadow.h"
#include "stream/totals.h"
#include "stream/work_parts.h"
#include "symbol/stack_raw.h"

enum {
    TAKE_MOST = 16,
    REDUCE_MOST = 32, /* partial results of one transaction: about 20 MB */
    WAIT_MS = 500,
    JUDGE_EVERY_MS = 1000, /* while reports come, a sampled one is judged so often */
    REPORT_DISTINCT = 1 << 13,
    ROW_BYTES = 80,        /* numbers, times and tabs of a row */
    SECTION_BYTES = 200000 /* texts of one section, which double at most when they are escaped */
};

/* One round of a worker. */
struct round {
    const struct work_options *options;
    struct work_figures *figures;
    struct arena keep;
    struct queue_message *messages;
    bool *sent;  /* whose partial result is written */
    bool unsent; /* the queue refused a partial result */
    uint32_t count;
    struct partial_text text;
};

static enum status count_report(struct round *r, const struct report *report,
                                struct signature_tally *tally, struct count_result *result,
                                struct fault *fault)
{
    const struct count_options options = {.store = r->options->store,
                                          .rules = r->options->rules,
                                          .workers = r->options->workers,
                                          .distinct_max = REPORT_DISTINCT,
                                          .record_is_one = true,
                                          .example_is_stack = true,
                                          .to_the_end = true};
    struct stack_input *input = NULL;
    if (stack_input_open_bytes(report->stacks, report->bytes, &input, fault) == ERR_NONE)
        (void)count_stacks(&options, input, tally, result, fault);
    stack_input_close(input);
    return fault->code;
}

/* Stores the partial results so far. The id makes a repetition one message; what is repeated in
 * another grouping is found by the reducer. */
static enum status send(struct round *r, struct fault *fault)
{
    struct queue *queue = r->options->queue;
    char digest[65];
    if (r->text.bytes == 0)
        return ERR_NONE;
    text_sha256(r->text.text, r->text.bytes, digest);
    (void)queue->transport->put(queue, QUEUE_PARTIALS, digest, r->text.text, r->text.bytes, fault);
    r->text.bytes = 0;
    return fault->code;
}

/* How many rows from FROM on fit into one section, and how many stacks they are. */
static uint32_t section_rows(const struct signature_count *rows, uint32_t from, uint32_t count,
                             uint64_t *stacks)
{
    size_t bytes = 0;
    uint32_t n = 0;
    *stacks = 0;
    for (; from + n < count; n++) {
        const struct signature_count *row = &rows[from + n];
        bytes += strlen(row->text) + strlen(text_or_empty(row->example)) + ROW_BYTES;
        if (bytes > SECTION_BYTES)
            break;
        *stacks += row->count;
    }
    return n;
}

/* Adds the partial result of a report to the text. A long one is divided into sections with ids of
 * their own, ID~1, ID~2: each fits into a message, and the same report is always divided alike. */
static enum status write_sections(struct round *r, const struct report *report,
                                  struct signature_tally *tally, const struct count_result *result,
                                  struct fault *fault)
{
    struct signature_count *rows = NULL;
    uint32_t count = 0, at = 0;
    uint64_t floor = 0;
    if (signature_tally_rank(tally, UINT32_MAX, &r->keep, &rows, &count, &floor, fault) != ERR_NONE)
        return fault->code;
    for (uint32_t i = 0; i < count; i++)
        rows[i].first_seen = report->received;
    for (uint32_t n = 0; fault->code == ERR_NONE && (at < count || n == 0); n++) {
        struct partial p = {.of = report->id,
                            .hour = arena_text(&r->keep, report->received, 13),
                            .version = report->version,
                            .rows = rows + at,
                            .bad = n == 0 ? result->bad : 0};
        p.count = section_rows(rows, at, count, &p.stacks);
        if (n > 0)
            p.of = arena_printf(&r->keep, "%s~%u", report->id, (unsigned)n);
        if (p.count == 0 && count > 0)
            return fault_set(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "signature that is too long");
        if (r->text.bytes > QUEUE_MESSAGE_BYTES - 2 * SECTION_BYTES && send(r, fault) != ERR_NONE)
            r->unsent = true;
        partial_write_columns(&r->text, &p);
        if (r->text.failed || p.of == NULL || p.hour == NULL)
            (void)fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "partial result");
        at += p.count;
    }
    return fault->code;
}

/* Adds the partial result of a message to the text. Fails: as the report is damaged. */
static enum status resolve_message(struct round *r, uint32_t i, struct fault *fault)
{
    struct signature_tally tally = {.count = 0};
    struct count_result result = {0};
    struct report report;
    const struct queue_message *m = &r->messages[i];
    if (report_read(m->data, m->bytes, &r->keep, &report, fault) == ERR_NONE &&
        count_report(r, &report, &tally, &result, fault) == ERR_NONE)
        (void)write_sections(r, &report, &tally, &result, fault);
    signature_tally_free(&tally);
    r->figures->stacks += result.stacks;
    r->figures->bad += result.bad;
    r->figures->reports += fault->code == ERR_NONE;
    return fault->code;
}

static void bury(struct round *r, enum queue_channel channel, uint32_t i, const char *reason)
{
    struct fault fault = FAULT_INIT;
    r->figures->buried++;
    if (queue_bury(r->options->queue, channel, &r->messages[i], reason, &fault) != ERR_NONE)
        r->figures->failures++;
}

/* Resolves what was taken, and settles it once all partial results are stored. */
static enum status resolve_round(struct round *r, struct fault *fault)
{
    struct queue *queue = r->options->queue;
    r->unsent = false;
    for (uint32_t i = 0; i < r->count; i++) {
        struct fault bad = FAULT_INIT;
        char why[256];
        if (r->messages[i].delivered > QUEUE_DELIVERIES_MAX) {
            bury(r, QUEUE_REPORTS, i, "delivered too often: workers died of it");
            continue;
        }
        const uint32_t before = r->text.bytes;
        r->sent[i] = resolve_message(r, i, &bad) == ERR_NONE;
        if (r->sent[i])
            continue;
        if (r->unsent || bad.code == ERR_MEMORY) {
            *fault = bad; /* not the report's fault */
            return fault->code;
        }
        r->text.bytes = before < r->text.bytes ? before : r->text.bytes;
        fault_describe(&bad, why, sizeof why);
        bury(r, QUEUE_REPORTS, i, why);
    }
    if (send(r, fault) != ERR_NONE)
        return fault->code;
    for (uint32_t i = 0; i < r->count; i++) {
        struct fault ignored = FAULT_INIT; /* it comes again, and is dropped by its id */
        if (!r->sent[i])
            continue;
        work_forward(r->options, &r->messages[i], r->figures);
        (void)queue->transport->settle(queue, QUEUE_REPORTS, &r->messages[i], QUEUE_DONE, &ignored);
    }
    return ERR_NONE;
}

/* Gives back what was taken and not settled. */
static void give_back(struct round *r, enum queue_channel channel)
{
    for (uint32_t i = 0; i < r->count; i++) {
        struct fault ignored = FAULT_INIT;
        (void)r->options->queue->transport->settle(r->options->queue, channel, &r->messages[i],
                                                   QUEUE_AGAIN, &ignored);
    }
}

typedef enum status round_fn(struct round *r, void *context, struct fault *fault);

/* Takes and processes until it is to stop. A failure of the queue is waited out. */
static enum status run_rounds(const struct work_options *o, enum queue_channel channel,
                              round_fn *process, void *context, struct work_figures *figures,
                              struct fault *fault)
{
    struct round r = {.options = o, .figures = figures};
    const uint32_t wait_ms = o->idle_ms != 0 && o->idle_ms < WAIT_MS ? o->idle_ms : WAIT_MS;
    uint64_t last_ns = clock_ns(), judged_ns = 0;
    bool has_looked = false; /* once at least, however late its processor comes */
    arena_init(&r.keep, 0);
    while (!o->stopping() && (o->idle_ms == 0 || !has_looked ||
                              clock_ns() - last_ns < (uint64_t)o->idle_ms * 1000000U)) {
        struct fault bad = FAULT_INIT;
        arena_reset(&r.keep);
        r.text.bytes = 0;
        r.count = 0;
        (void)o->queue->transport->take(o->queue, channel,
                                        channel == QUEUE_PARTIALS ? REDUCE_MOST : TAKE_MOST,
                                        wait_ms, &r.keep, &r.messages, &r.count, &bad);
        has_looked = true;
        if (r.count > 0) {
            r.sent = ARENA_ARRAY(&r.keep, r.count, bool);
            if (r.sent == NULL)
                (void)fault_set(&bad, ERR_MEMORY, FAULT_NO_OFFSET, "messages");
            else
                (void)process(&r, context, &bad);
            last_ns = clock_ns();
        }
        if (o->judge != NULL && bad.code == ERR_NONE &&
            (r.count == 0 || clock_ns() - judged_ns > (uint64_t)JUDGE_EVERY_MS * 1000000U)) {
            judged_ns = clock_ns();
            if (work_judge_one(o, figures))
                last_ns = clock_ns();
        }
        figures->failures += bad.code != ERR_NONE;
        if (o->progress != NULL)
            o->progress(o->context, figures);
        if (bad.code == ERR_NONE)
            continue;
        if (r.count > 0 && bad.code != ERR_IO && bad.code != ERR_LIMIT) {
            give_back(&r, channel);
            *fault = bad;
            break;
        }
        thread_sleep_ms(QUEUE_RETRY_MS); /* what was taken comes again when its lease is over */
    }
    free(r.text.text);
    arena_free(&r.keep);
    return fault->code;
}

static enum status work_round(struct round *r, void *context, struct fault *fault)
{
    (void)context;
    return resolve_round(r, fault);
}

enum status work_run(const struct work_options *options, struct work_figures *figures,
                     struct fault *fault)
{
    return run_rounds(options, QUEUE_REPORTS, work_round, NULL, figures, fault);
}

/* ---- the reducer ------------------------------------------------------------------------ */

/* Adds the sections of one message, inside a transaction. */
static enum status add_sections(struct round *r, struct totals *totals,
                                const struct queue_message *m, struct arena *work,
                                struct fault *fault)
{
    size_t used = 0;
    bool is_new = false;
    if (shadow_is_text(m->data, m->bytes)) {
        struct shadow shadow;
        if (shadow_read(m->data, m->bytes, work, &shadow, fault) == ERR_NONE &&
            totals_add_shadow(totals, &shadow, &is_new, fault) == ERR_NONE)
            r->figures->judged += is_new;
        return fault->code;
    }
    for (size_t at = 0; fault->code == ERR_NONE && at < m->bytes; at += used) {
        struct partial p;
        arena_reset(work);
        if (partial_read(m->data + at, m->bytes - at, work, &p, &used, fault) != ERR_NONE ||
            totals_add(totals, &p, &is_new, fault) != ERR_NONE)
            break;
        r->figures->reports += is_new;
        r->figures->stacks += is_new ? p.stacks : 0;
        r->figures->bad += is_new ? p.bad : 0;
    }
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
    for (uint32_t i = from; fault->code == ERR_NONE && i < end; i++)
        (void)add_sections(r, totals, &r->messages[i], &work, fault);
    arena_free(&work);
    if (totals_end(totals, fault) != ERR_NONE)
        *r->figures = before;
    return fault->code;
}

static void settle_messages(struct round *r, uint32_t from, uint32_t end)
{
    struct queue *queue = r->options->queue;
    for (uint32_t i = from; i < end; i++) {
        struct fault ignored = FAULT_INIT; /* it comes again, and is dropped by its id */
        (void)queue->transport->settle(queue, QUEUE_PARTIALS, &r->messages[i], QUEUE_DONE,
                                       &ignored);
    }
}

/* One transaction for all that was taken: a commit waits for the disk. If it fails, one transaction
 * per message finds the message that is damaged. */
static enum status reduce_round(struct round *r, void *context, struct fault *fault)
{
    struct fault together = FAULT_INIT;
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
        char why[256];
        fault_describe(&bad, why, sizeof why);
        bury(r, QUEUE_PARTIALS, i, why);
    }
    return ERR_NONE;
}

enum status reduce_run(const struct work_options *options, struct totals *totals,
                       struct work_figures *figures, struct fault *fault)
{
    return run_rounds(options, QUEUE_PARTIALS, reduce_round, totals, figures, fault);
}
