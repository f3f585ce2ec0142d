/* Workers and the reducer: what turns reports into totals.
 *
 * A worker takes reports, resolves and counts each, publishes the partial results of those it took
 * as one message, waits until that is stored, and then settles the reports. Whatever dies on the
 * way, a report is then delivered again and counted again; the reducer drops the partial result of
 * an id that it has. A report has one result, which counts whole or not at all (slice.h), so names
 * that differ from worker to worker move no stack from one result to another. So each stored report
 * counts exactly once.
 *
 * A report that is delivered again is resolved alone: if workers die of it, only it is buried. */
#ifndef STREAM_WORK_H
#define STREAM_WORK_H

#include <stdbool.h>

#include "stream/queue.h"

struct report;
struct shadow;
struct signature_rules;
struct symbol_store;
struct totals;

struct work_figures {
    uint64_t reports, stacks, bad, buried, failures;
    uint64_t judged; /* sampled records */
    uint64_t newer;  /* messages that were left to a worker of a newer version */
    bool waiting;    /* the last round failed; it is tried again */
    bool disk_full;  /* because of the disk or the room of the queue */
};

/* Judges the record of REPORT and its dump as a case without a truth: fills verdict, signature and
 * engines of OUT, in KEEP. Fails: ERR_ABSENT there is no dump; ERR_MALFORMED, ...: the report's
 * fault; ERR_IO, ERR_MEMORY, ERR_INTERRUPTED: try again. */
typedef enum status work_judge_fn(void *context, const struct report *report, struct arena *keep,
                                  struct shadow *out, struct fault *fault);

struct work_options {
    struct queue *queue;
    struct symbol_store *store;
    const struct signature_rules *rules;
    uint32_t workers;     /* threads that resolve */
    uint32_t renew_ms;    /* how often leases are renewed; 0: QUEUE_RENEW_MS */
    uint32_t idle_ms;     /* end when nothing came for so long; 0: never */
    double sample;        /* share of records that are judged, 0 to 1: see shadow_is_sampled() */
    work_judge_fn *judge; /* NULL: no shadow comparison */
    void *judge_context;
    bool (*stopping)(void);
    /* Called after every round, also of one that took nothing; NULL: none */
    void (*progress)(void *context, const struct work_figures *figures);
    void *context;
};

/* Works until `stopping` is true or nothing came for `idle_ms`; what was taken is finished first. A
 * queue that fails is tried again. Fails: ERR_MEMORY. */
enum status work_run(const struct work_options *options, struct work_figures *figures,
                     struct fault *fault);

/* The same for the reducer: partial results into TOTALS; `store`, `rules` and `workers` are not
 * used. Fails: ERR_IO the database cannot be written; ERR_MEMORY. */
enum status reduce_run(const struct work_options *options, struct totals *totals,
                       struct work_figures *figures, struct fault *fault);

#endif
