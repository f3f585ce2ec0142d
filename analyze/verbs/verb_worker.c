/* twinstack worker: takes reports from a queue, resolves and counts them. twinstack reduce: adds
 * their partial results up. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/files.h"
#include "base/log.h"
#include "base/process.h"
#include "base/thread.h"
#include "conduct/shadow_judge.h"
#include "conduct/stream.h"
#include "stream/totals.h"
#include "stream/work.h"
#include "study/work_metrics.h"
#include "symbol/symbol_store.h"
#include "verbs/common.h"
#include "verbs/fetch_options.h"
#include "verbs/figures_text.h"
#include "verbs/verbs.h"

struct worker_options {
    const char *queue, *rules, *cache, *totals, *sample, *dumps, *also, *metrics;
    struct option_list roots;
    uint64_t jobs, idle_ms;
    bool merge;
    struct fetch_words fetch;
};

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

static void print_end(const char *verb, const struct work_figures *f)
{
    (void)fprintf(
        stderr,
        "twinstack %s: %" PRIu64 " report%s, %" PRIu64 " stack%s, %" PRIu64 " bad line%s, %" PRIu64
        " dead letter%s, %" PRIu64 " failure%s of the queue, %" PRIu64 " judged\n",
        verb, f->reports, plural(f->reports), f->stacks, plural(f->stacks), f->bad, plural(f->bad),
        f->buried, plural(f->buried), f->failures, plural(f->failures), f->judged);
    if (f->newer > 0)
        (void)fprintf(stderr, "twinstack %s: left %" PRIu64 " message%s to a newer version\n", verb,
                      f->newer, plural(f->newer));
}

/* SIGTERM and Ctrl-C end the work after the reports that were taken. */
static int end_of(const char *verb, const struct work_figures *figures, const struct fault *fault)
{
    print_end(verb, figures);
    return fault->code != ERR_NONE ? verb_fault(fault) : EXIT_GOOD;
}

/* Both verbs take no words and need a queue. */
static int check_words(const struct verb *self, const struct worker_options *o,
                       const struct option_list *words)
{
    if (!verb_takes_no_words(self, words))
        return EXIT_USAGE;
    return o->queue == NULL ? verb_usage_error(self, "--queue is missing") : EXIT_GOOD;
}

/* --sample, --dumps and --also. */
static int read_sampling(const struct verb *self, const struct worker_options *o, double *sample)
{
    struct fault fault = FAULT_INIT;
    *sample = 0;
    if (o->sample == NULL && (o->dumps != NULL || o->also != NULL))
        return verb_usage_error(self, "--dumps and --also need --sample");
    if (o->sample != NULL && !parse_share(o->sample, sample))
        return verb_usage_error(self, "--sample is a share such as 1%%");
    if (o->sample != NULL && o->dumps == NULL)
        return verb_usage_error(self, "--sample needs --dumps, the folder of the server's dumps");
    if (o->also != NULL && shadow_also(o->also, &fault) != ERR_NONE)
        return verb_usage_error(self, "--also: %s", fault.hint);
    return EXIT_GOOD;
}

/* --metrics: written after each round. */
static void set_metrics(struct work_options *work, struct work_metrics *metrics)
{
    metrics->queue = work->queue;
    work->progress = work_metrics_write;
    work->context = metrics;
}

static int work(const struct verb *self, void *given, const struct option_list *words,
                struct arena *keep)
{
    (void)keep;
    const struct worker_options *o = given;
    const struct symbol_store_options options = {.roots = o->roots.items,
                                                 .root_count = o->roots.count,
                                                 .indexing = INDEXING_AUTO,
                                                 .cache = o->cache,
                                                 .system = true,
                                                 .fetch = fetch_options_make(&o->fetch)};
    struct work_options work = {.workers = (uint32_t)o->jobs,
                                .idle_ms = (uint32_t)o->idle_ms,
                                .stopping = process_interrupted};
    struct work_figures figures = {0};
    struct work_metrics metrics = {.path = o->metrics, .role = "worker"};
    struct fault fault = FAULT_INIT;
    int code = check_words(self, o, words);
    if (code == EXIT_GOOD)
        code = read_sampling(self, o, &work.sample);
    if (code == EXIT_GOOD && (o->jobs < 1 || o->jobs > VERB_JOBS_MAX))
        code = verb_usage_error(self, "-j is 1 to %d", VERB_JOBS_MAX);
    if (code != EXIT_GOOD)
        return code;
    process_catch_interrupts();
    if (queue_open_patiently(o->queue, process_interrupted, &work.queue, &fault) != ERR_NONE)
        return verb_fault(&fault);
    if (symbol_store_open(&options, &work.store, &fault) != ERR_NONE) {
        code = verb_fault(&fault);
    } else {
        fetch_options_check(work.store);
        set_metrics(&work, &metrics);
        struct shadow_judging judging = {
            .dumps = o->dumps, .symbols = work.store, .also = o->also != NULL};
        (void)stream_work(&work, o->rules, o->sample != NULL ? &judging : NULL, &figures, &fault);
        work_metrics_end(&metrics, &figures);
        code = end_of("worker", &figures, &fault);
    }
    symbol_store_close(work.store);
    queue_close(work.queue);
    return code;
}

static int run_worker(const struct verb *self, int argc, char **argv)
{
    struct worker_options o = {.jobs = 1};
    const struct option_row rows[] = {
        OPTION(QUEUE, &o.queue),
        OPTION_AS(SYMBOLS, &o.roots, "read only and shared, with other workers, too"),
        OPTION(RULES, &o.rules),
        OPTION_AS(JOBS, &o.jobs, "stacks; default 1"),
        OPTION(IDLE, &o.idle_ms),
        OPTION(METRICS, &o.metrics),
        {"--sample", OPTION_STRING, &o.sample, "SHARE",
         "judge this share of the records that have a dump, e.g. 1%"},
        OPTION_AS(DUMPS, &o.dumps, "the server's: dumps/ in its --spool"),
        {"--also", OPTION_STRING, &o.also, "NAME=COMMAND",
         "a second resolver of the same dumps, in the adapter's protocol"},
        OPTION(CACHE, &o.cache),
        FETCH_OPTION_ROWS(o.fetch),
    };
    return verb_main(self, rows, COUNT_OF(rows), work, &o, argc, argv);
}

const struct verb verb_worker = {
    .name = "worker",
    .summary = "resolve and count the reports of a queue",
    .usage = "--queue nats://HOST:PORT|DIR --symbols DIR",
    .details =
        "Takes reports, publishes their partial results, and acknowledges the reports once the\n"
        "results are stored.\n"
        "Any number of workers may share a queue, on any machine; `twinstack reduce` adds up.\n"
        "SIGTERM ends it after the reports that it has taken. A report that cannot be read goes "
        "to\n"
        "the queue's dead letters, with the reason.\n\n"
        "With --sample, the record and the dump of some reports are judged like a case without a\n"
        "truth, after they were counted. The report's id decides which, so a report that arrives\n"
        "twice is treated the same way both times.\n\n"
        "examples:\n  twinstack worker --queue nats://127.0.0.1:4222 --symbols symbols -j 2\n"
        "  twinstack worker --queue spool --symbols symbols --idle 5s\n"
        "  twinstack worker --queue spool --symbols symbols --sample 1% --dumps spool/dumps \\\n"
        "      --also 'rust-minidump=minidump-stackwalk --json {dump}'",
    .exits = "  0  ended by a signal, or nothing came for --idle\n  2  usage\n"
             "  3  the queue or the symbols cannot be opened",
    .run = run_worker,
};

/* Waits while the disk has no room for the database. Fails: as totals_open(). */
static enum status open_totals(const char *file, struct work_metrics *metrics,
                               struct totals **totals, struct fault *fault)
{
    struct work_figures figures = {.waiting = true, .disk_full = true};
    for (bool is_said = false; totals_open(file, true, totals, fault) != ERR_NONE &&
                               fault->reason == FAULT_FULL && !process_interrupted();
         is_said = true) {
        if (!is_said) {
            log_fault(fault);
            log_note("waits, and tries again; nothing is lost");
        }
        work_metrics_write(metrics, &figures);
        fault_clear(fault);
        thread_sleep_ms(QUEUE_RETRY_MS);
    }
    return fault->code;
}

/* --merge: the sum of other totals, made anew. */
static int merge(const struct verb *self, const struct worker_options *o,
                 const struct option_list *words)
{
    struct fault fault = FAULT_INIT;
    uint64_t same = 0;
    if (words->count == 0 || o->queue != NULL)
        return verb_usage_error(self, "--merge takes the files of totals, and no --queue");
    if (totals_merge(o->totals, words->items, words->count, &same, &fault) != ERR_NONE) {
        (void)verb_fault(&fault);
        return EXIT_DATABASE;
    }
    if (same > 0)
        log_warn("%" PRIu64 " report%s sent to two queues and count%s twice: let each sender have "
                 "one queue",
                 same, same == 1 ? " was" : "s were", same == 1 ? "s" : "");
    (void)printf("%s is the sum of %u totals\n", o->totals, (unsigned)words->count);
    return EXIT_GOOD;
}

static int reduce(const struct verb *self, void *given, const struct option_list *words,
                  struct arena *keep)
{
    const struct worker_options *o = given;
    struct work_options work = {.idle_ms = (uint32_t)o->idle_ms, .stopping = process_interrupted};
    struct work_figures figures = {0};
    struct work_metrics metrics = {.path = o->metrics, .role = "reducer"};
    struct totals *totals = NULL;
    struct fault fault = FAULT_INIT;
    if (o->merge)
        return merge(self, o, words);
    int code = check_words(self, o, words);
    if (code != EXIT_GOOD)
        return code;
    process_catch_interrupts();
    const char *name = path_base(o->totals);
    const char *folder =
        name != o->totals ? arena_text(keep, o->totals, (size_t)(name - o->totals)) : ".";
    if (queue_open_patiently(o->queue, process_interrupted, &work.queue, &fault) != ERR_NONE)
        return verb_fault(&fault);
    set_metrics(&work, &metrics);
    if (folder == NULL || folder_make(folder, &fault) != ERR_NONE ||
        open_totals(o->totals, &metrics, &totals, &fault) != ERR_NONE) {
        (void)verb_fault(&fault);
        code = process_interrupted() ? EXIT_GOOD : EXIT_DATABASE;
    } else {
        (void)reduce_run(&work, totals, &figures, &fault);
        work_metrics_end(&metrics, &figures);
        code = end_of("reduce", &figures, &fault);
    }
    queue_close(work.queue);
    totals_close(totals);
    return code;
}

static int run_reduce(const struct verb *self, int argc, char **argv)
{
    struct worker_options o = {.totals = STREAM_TOTALS};
    const struct option_row rows[] = {
        OPTION(QUEUE, &o.queue),
        OPTION_AS(TOTALS, &o.totals, "here they are written"),
        OPTION(IDLE, &o.idle_ms),
        OPTION(METRICS, &o.metrics),
        OPTION_AS(MERGE, &o.merge, "totals of several queues, and exit"),
    };
    return verb_main(self, rows, COUNT_OF(rows), reduce, &o, argc, argv);
}

const struct verb verb_reduce = {
    .name = "reduce",
    .summary = "add up what workers counted",
    .usage = "--queue nats://HOST:PORT|DIR [--totals FILE] | --merge FILE... [--totals FILE]",
    .details =
        "Keeps the totals in a database of its own: each partial result counts once, however "
        "often\n"
        "it is delivered. `twinstack serve --totals FILE` shows them as \"Head problems\". One\n"
        "reducer per database.\n\n"
        "--merge makes the file anew each time, from totals that reducers may be writing.\n\n"
        "examples:\n  twinstack reduce --queue nats://127.0.0.1:4222 --totals totals.db\n"
        "  twinstack reduce --merge east.db west.db --totals all.db",
    .exits = "  0  ended by a signal, or nothing came for --idle\n  2  usage\n"
             "  3  the queue cannot be opened\n  4  the database is not usable",
    .run = run_reduce,
};
