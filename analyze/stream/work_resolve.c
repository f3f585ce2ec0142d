/* The worker: reports in, partial results out. See work.h. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "base/thread.h"
#include "compare/signature_tally.h"
#include "stacks/stack_raw.h"
#include "stream/count.h"
#include "stream/slice.h"
#include "stream/work_round.h"

enum { TAKE_MOST = 16, REPORT_DISTINCT = 1 << 13, STACK_BYTES_LEAST = 2 };

static enum status count_bytes(struct round *r, const char *stacks, size_t bytes,
                               struct signature_tally *tally, struct count_result *result,
                               struct fault *fault)
{
    const size_t most = bytes / STACK_BYTES_LEAST + 1; /* room for more costs time */
    const struct count_options options = {
        .store = r->options->store,
        .rules = r->options->rules,
        .workers = r->options->workers,
        .distinct_max = most < REPORT_DISTINCT ? (uint32_t)most : (uint32_t)REPORT_DISTINCT,
        .record_is_one = true,
        .example_is_stack = true,
        .to_the_end = true};
    struct stack_input *input = NULL;
    if (stack_input_open_bytes(stacks, bytes, &input, fault) == ERR_NONE)
        (void)count_stacks(&options, input, tally, result, fault);
    stack_input_close(input);
    return fault->code;
}

/* True for a text that means the same whatever text is before and after it. */
static bool is_plain(const char *text, size_t bytes)
{
    const char *const end = text + bytes;
    if (bytes == 0 || text[0] != '>' || text[bytes - 1] != '\n')
        return false;
    for (const char *line = text; line < end;) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        while (line < stop && (*line == ' ' || *line == '\t'))
            line++;
        if (stop == NULL || stack_raw_states(line, stop))
            return false;
        line = stop + 1;
    }
    return true;
}

/* The members of a group that are plain and follow each other are read as one text: to begin costs
 * more than a stack. */
static enum status count_report(struct round *r, const struct report *report,
                                struct signature_tally *tally, struct count_result *result,
                                struct fault *fault)
{
    size_t from = 0, at = 0;
    if (report->member_count == 0)
        return count_bytes(r, report->stacks, report->bytes, tally, result, fault);
    for (uint32_t i = 0; i < report->member_count && fault->code == ERR_NONE; i++) {
        const size_t bytes = report->members[i].bytes;
        if (!is_plain(report->stacks + at, bytes)) {
            if (at > from)
                (void)count_bytes(r, report->stacks + from, at - from, tally, result, fault);
            if (fault->code == ERR_NONE)
                (void)count_bytes(r, report->stacks + at, bytes, tally, result, fault);
            from = at + bytes;
        }
        at += bytes;
    }
    return fault->code == ERR_NONE && at > from
               ? count_bytes(r, report->stacks + from, at - from, tally, result, fault)
               : fault->code;
}

/* ---- partial results --------------------------------------------------------------------- */

static enum status put(struct round *r, const char *id, const char *text, size_t bytes,
                       struct fault *fault)
{
    struct queue *queue = r->options->queue;
    r->unsent = queue->transport->put(queue, QUEUE_PARTIALS, id, text, bytes, fault) != ERR_NONE;
    return fault->code;
}

/* Stores the first BYTES of the results. The id makes a repetition one message; what is repeated in
 * another grouping is found by the reducer. */
static enum status send(struct round *r, uint32_t bytes, struct fault *fault)
{
    char digest[65];
    if (bytes == 0)
        return ERR_NONE;
    text_sha256(r->text.text, bytes, digest);
    if (put(r, digest, r->text.text, bytes, fault) != ERR_NONE)
        return fault->code;
    memmove(r->text.text, r->text.text + bytes, r->text.bytes - bytes);
    r->text.bytes -= bytes;
    return ERR_NONE;
}

/* Stores the result of one report that is larger than a message. */
static enum status send_slices(struct round *r, const char *of, struct fault *fault)
{
    char digest[65];
    const uint32_t count = (r->text.bytes + SLICE_BYTES - 1) / SLICE_BYTES;
    text_sha256(r->text.text, r->text.bytes, digest);
    for (uint32_t i = 0; fault->code == ERR_NONE && i < count; i++) {
        struct arena work;
        size_t bytes = 0;
        char id[65];
        const uint32_t at = i * SLICE_BYTES, left = r->text.bytes - at;
        const struct slice slice = {.of = of,
                                    .digest = digest,
                                    .number = i,
                                    .count = count,
                                    .data = r->text.text + at,
                                    .bytes = left < SLICE_BYTES ? left : SLICE_BYTES};
        arena_init(&work, 0);
        char *text = slice_write(&slice, &work, &bytes);
        if (text == NULL) {
            (void)fault_no_memory(fault, "partial result");
        } else {
            text_sha256(text, bytes, id);
            (void)put(r, id, text, bytes, fault);
        }
        arena_free(&work);
    }
    r->text.bytes = 0;
    return fault->code;
}

/* Adds the result of a report to the text. It is one result, whatever the symbols made of it: two
 * workers that find other names must not each store another share of the stacks. */
static enum status write_result(struct round *r, const struct report *report,
                                struct signature_tally *tally, const struct count_result *result,
                                struct fault *fault)
{
    struct signature_count *rows = NULL;
    struct partial p = {.of = report->id,
                        .hour = arena_text(&r->keep, report->received, 13),
                        .version = report->version,
                        .stacks = result->stacks,
                        .bad = result->bad};
    const uint32_t before = r->text.bytes;
    if (signature_tally_rank(tally, UINT32_MAX, &r->keep, &rows, &p.count, &p.floor, fault) !=
        ERR_NONE)
        return fault->code;
    for (uint32_t i = 0; i < p.count; i++)
        rows[i].first_seen = report->received;
    p.rows = rows;
    partial_write_columns(&r->text, &p);
    if (r->text.failed || p.hour == NULL)
        return fault_no_memory(fault, "partial result");
    if (r->text.bytes <= QUEUE_MESSAGE_BYTES || send(r, before, fault) != ERR_NONE ||
        r->text.bytes <= QUEUE_MESSAGE_BYTES)
        return fault->code;
    return send_slices(r, report->id, fault);
}

/* ---- reports ----------------------------------------------------------------------------- */

/* Adds the partial result of a message to the text. Fails: as the report is damaged. */
static enum status resolve_message(struct round *r, uint32_t i, struct report *report,
                                   struct fault *fault)
{
    struct signature_tally tally = {.count = 0};
    struct count_result result = {0};
    struct report whole;
    const struct queue_message *m = &r->messages[i];
    memset(report, 0, sizeof *report);
    if (report_read(m->data, m->bytes, &r->keep, report, fault) == ERR_NONE) {
        whole = *report;
        if (report->is_split)
            return work_put_members(r, report, fault);
        if (report_assemble(r->options->queue, &whole, &r->keep, fault) == ERR_ABSENT) {
            fault_clear(fault); /* counted: only its end is left to do */
            return ERR_NONE;
        }
        if (fault->code == ERR_NONE && count_report(r, &whole, &tally, &result, fault) == ERR_NONE)
            (void)write_result(r, &whole, &tally, &result, fault);
    }
    signature_tally_free(&tally);
    r->figures->stacks += result.stacks;
    r->figures->bad += result.bad;
    r->figures->reports += fault->code == ERR_NONE ? report_count_of(report->id) : 0;
    return fault->code;
}

static void finish(struct round *r, uint32_t i, const struct report *report)
{
    const bool is_forwarded = work_forward(r->options, &r->messages[i], report, r->figures);
    if (work_settle(r, QUEUE_REPORTS, i, QUEUE_DONE) && !is_forwarded)
        report_drop_parts(r->options->queue, report);
}

/* Resolves messages FROM to END, and settles them once all partial results are stored. */
static enum status resolve_some(struct round *r, uint32_t from, uint32_t end, struct fault *fault)
{
    struct report *reports = ARENA_ARRAY(&r->keep, (size_t)r->count, struct report);
    if (reports == NULL)
        return fault_no_memory(fault, "messages");
    r->unsent = false;
    for (uint32_t i = from; i < end; i++) {
        struct fault bad = FAULT_INIT;
        char why[256];
        const uint32_t before = r->text.bytes;
        if (resolve_message(r, i, &reports[i], &bad) == ERR_NONE)
            continue;
        if (r->unsent || bad.code == ERR_MEMORY || bad.code == ERR_IO) {
            *fault = bad; /* not the report's fault */
            return fault->code;
        }
        r->text.bytes = before < r->text.bytes ? before : r->text.bytes;
        if (bad.reason == FAULT_NEWER) {
            (void)work_settle(r, QUEUE_REPORTS, i, QUEUE_LATER);
            r->figures->newer++;
            continue;
        }
        fault_describe(&bad, why, sizeof why);
        work_bury(r, QUEUE_REPORTS, i, why);
    }
    if (send(r, r->text.bytes, fault) != ERR_NONE)
        return fault->code;
    for (uint32_t i = from; i < end; i++)
        if (!r->settled[i])
            finish(r, i, &reports[i]);
    return ERR_NONE;
}

/* Resolves one that was delivered before. Nothing else is lost if the worker dies of it: the others
 * are settled, or their trials have not begun. */
static enum status resolve_alone(struct round *r, uint32_t i, uint32_t deaths, struct fault *fault)
{
    const struct work_options *o = r->options;
    if (work_split(r, i, fault) || fault->code != ERR_NONE)
        return fault->code;
    if (deaths + 1 >= QUEUE_DEATHS_MAX) { /* the first death was with others */
        work_bury(r, QUEUE_REPORTS, i, "delivered too often: workers died of it");
        return ERR_NONE;
    }
    if (work_trial(o, QUEUE_REPORTS, &r->messages[i], deaths, fault) != ERR_NONE)
        return fault->code;
    (void)resolve_some(r, i, i + 1, fault);
    work_survived(o, QUEUE_REPORTS, &r->messages[i], fault->code == ERR_NONE ? 0 : deaths);
    return fault->code;
}

struct suspect {
    struct queue_message message;
    uint32_t deaths;
};

ARRAY_ORDER(fewest_deaths, struct suspect, deaths)

/* Moves the messages that were delivered before to the end, those with the fewest deaths first.
 * Returns how many are before them. */
static uint32_t sort_suspects(struct round *r, struct suspect *suspects)
{
    uint32_t fresh = 0, found = 0;
    for (uint32_t i = 0; i < r->count; i++) {
        if (r->messages[i].delivered < 2)
            r->messages[fresh++] = r->messages[i];
        else
            suspects[found++] = (struct suspect){
                r->messages[i], work_deaths(r->options, QUEUE_REPORTS, &r->messages[i])};
    }
    array_sort(suspects, found, sizeof *suspects, fewest_deaths);
    for (uint32_t i = 0; i < found; i++)
        r->messages[fresh + i] = suspects[i].message;
    return fresh;
}

static enum status work_round(struct round *r, void *context, struct fault *fault)
{
    struct suspect *suspects = ARENA_ARRAY(&r->keep, (size_t)r->count, struct suspect);
    const uint64_t newer = r->figures->newer;
    (void)context;
    if (suspects == NULL)
        return fault_no_memory(fault, "messages");
    const uint32_t fresh = sort_suspects(r, suspects);
    hold_begin(r->hold, HOLD_ROUND, QUEUE_REPORTS, r->messages, r->settled, r->count);
    (void)resolve_some(r, 0, fresh, fault);
    for (uint32_t i = fresh; fault->code == ERR_NONE && i < r->count; i++)
        (void)resolve_alone(r, i, suspects[i - fresh].deaths, fault);
    if (r->figures->newer - newer == r->count)
        thread_sleep_ms(QUEUE_RETRY_MS); /* nothing here is for this worker */
    return fault->code;
}

enum status work_run(const struct work_options *options, struct work_figures *figures,
                     struct fault *fault)
{
    return work_rounds(options, QUEUE_REPORTS, TAKE_MOST, work_round, NULL, figures, fault);
}
