/* Runs scenarios, several at a time: see collect.h. Workers take scenarios from a schedule; each
 * worker has its own runner, and each result goes into the slot of its scenario. */
#include "collect/collect.h"

#include <stdio.h>
#include <string.h>

#include "base/files.h"
#include "base/log.h"
#include "base/text.h"
#include "base/thread.h"
#include "base/turns.h"
#include "collect/runner.h"
#include "collect/schedule.h"
#include "collect/sealing.h"

enum {
    OUTER_LIMIT_EXTRA_MS =
        45000, /* time beyond the launcher's own limit, for start, two dumps and truth */
    JOBS_MAX = RUNNER_WORKERS_MAX / 2,
    LATER_MS = 20,
    WHY_BYTES = 1024,
};

static const char launcher_name[] = "twinstack-launch.exe";

struct queue {
    struct evidence evidence;
    const struct collect_options *options; /* with absolute folders */
    const char *launcher;                  /* twinstack-launch.exe  */
    struct collected *results;
    char (*whys)[WHY_BYTES]; /* one a result */
    uint32_t count;
    struct schedule schedule;
    struct mutex *lock; /* over schedule and done */
    collect_done_fn *done;
    void *context;
};

struct worker {
    struct queue *queue;
    uint32_t index;
    enum schedule_kind kind;
    struct thread *thread;
    struct fault fault; /* why its runner did not open */
};

/* A victim's turn on the processors. A hang takes it only when it begins to compute, which is when
 * its record is written. */
struct victim_turn {
    struct queue *queue;
    struct runner *runner;
    struct turns *turns;
    struct turn turn;
    const char *folder;  /* of a hang that still waits; NULL: it computes */
    uint64_t started_ns; /* to compute; 0: not yet */
};

/* Why the launcher failed, from its output. */
static void explain(struct collected *result, char *why, const char *what, const char *said)
{
    result->outcome = COLLECT_ERROR;
    (void)snprintf(why, WHY_BYTES, "%s%s%.*s", what, said[0] != '\0' ? ": " : "",
                   (int)strcspn(said, "\r\n"), said);
    result->why = why;
}

static void explain_fault(struct collected *result, char *why, const struct fault *fault)
{
    result->outcome = COLLECT_ERROR;
    if (fault->code == ERR_INTERRUPTED)
        result->outcome = COLLECT_INTERRUPTED;
    else if (fault->code == ERR_TIMEOUT)
        result->outcome = COLLECT_TIME_LIMIT;
    fault_describe(fault, why, WHY_BYTES);
    result->why = why;
}

/* Starts the victim; its files land in FOLDER. */
static enum status start_victim(const struct queue *q, struct runner *runner,
                                const struct scenario *scenario, const char *folder,
                                struct arena *scratch, struct process_result *out,
                                struct fault *fault)
{
    const uint64_t limit_ms = q->options->timeout_ms != 0 ? q->options->timeout_ms
                                                          : scenario->limit_ms * thread_overload();
    const char *limit = arena_printf(scratch, "%llu", (unsigned long long)limit_ms);
    const char *launcher = runner_guest_path(runner, q->launcher, scratch);
    const char *out_folder = runner_guest_path(runner, folder, scratch);
    const char *program = runner_guest_path(runner, scenario->program, scratch);
    const char *const args[] = {launcher, "--out", out_folder,     "--limit-ms",
                                limit,    program, scenario->name, NULL};

    if (launcher == NULL || out_folder == NULL || program == NULL || limit == NULL)
        return fault_no_memory(fault, "victim");
    const uint64_t outer_ms = limit_ms + OUTER_LIMIT_EXTRA_MS;
    return runner_run(runner, args, outer_ms < UINT32_MAX ? (uint32_t)outer_ms : UINT32_MAX,
                      scratch, out, fault);
}

/* The launcher's last line. Later events, such as the end of Wine itself, are ignored. */
static bool launcher_is_done(const char *part, struct arena *scratch)
{
    const char *outcome = path_join(scratch, part, "outcome.json");
    return outcome != NULL && path_is_file(outcome);
}

/* The launcher left no outcome: it did not start, ended together with Wine's server, or the system
 * refused to start the victim, which a busy Wine does now and then. */
static bool launcher_was_lost(const struct process_result *ended, const char *part,
                              struct arena *scratch)
{
    return !ended->timed_out && ended->exit_code != 0 && !launcher_is_done(part, scratch);
}

/* Starts the victim in an empty folder. A launcher that was lost is started a second time. */
static enum status start_twice(const struct queue *q, struct runner *runner,
                               const struct collected *result, const char *part,
                               struct arena *scratch, struct process_result *ended,
                               struct fault *fault)
{
    const struct scenario *scenario = result->scenario;

    for (bool again = false;; again = true) {
        if (path_remove(part, fault) != ERR_NONE || folder_make(part, fault) != ERR_NONE ||
            start_victim(q, runner, scenario, part, scratch, ended, fault) != ERR_NONE || again ||
            !launcher_was_lost(ended, part, scratch))
            return fault->code;
        const char *said =
            ended->errors[0] != '\0' ? ended->errors : "the launcher printed nothing";
        log_warn("scenario=%s variant=%s exit=%d %.*s; starting it a second time", scenario->name,
                 scenario->variant, ended->exit_code, (int)strcspn(said, "\r\n"), said);
        if (runner_reset(runner, fault) != ERR_NONE)
            return fault->code;
    }
}

/* Writes into a folder beside the case's, so that the case's folder appears whole or not at all. */
static void run_into(struct queue *q, struct runner *runner, struct collected *result, char *why,
                     const char *part, struct arena *scratch)
{
    struct fault fault = FAULT_INIT;
    struct process_result ended = {0};

    if (path_remove(result->folder, &fault) != ERR_NONE ||
        start_twice(q, runner, result, part, scratch, &ended, &fault) != ERR_NONE) {
        explain_fault(result, why, &fault);
        return;
    }
    if (ended.timed_out) {
        result->outcome = COLLECT_TIME_LIMIT;
        result->why = "neither the victim nor its launcher ended in time";
        (void)runner_reset(runner, &fault);
        return;
    }
    if (ended.exit_code != 0 && !launcher_is_done(part, scratch)) {
        explain(result, why, "the victim could not be started", ended.errors);
        return;
    }
    if (evidence_seal(&q->evidence, runner, result->scenario, part, &fault) != ERR_NONE) {
        explain_fault(result, why, &fault);
        return;
    }
    if (path_rename(part, result->folder, &fault) != ERR_NONE) {
        explain_fault(result, why, &fault);
        return;
    }
    result->outcome = COLLECT_SEALED;
}

/* A case is put in place only when it is sealed. */
static bool is_there(const struct queue *q, const struct collected *result)
{
    return q->options->reuse_sealed && path_is_folder(result->folder);
}

static bool is_skipped(const struct queue *q, const struct collected *result)
{
    return q->options->skip != NULL &&
           q->options->skip(q->options->skip_context, result->scenario, result->repeat);
}

/* The capture opens its record at once, under a name of its own, and writes it when it begins to
 * compute. */
static bool has_record(const char *folder)
{
    struct fault ignored = FAULT_INIT;
    struct arena scratch;
    const char **names = NULL;
    size_t count = 0;
    bool found = false;

    arena_init(&scratch, 0);
    (void)folder_list(folder, &scratch, &names, &count, &ignored);
    for (size_t i = 0; i < count && !found; i++) {
        const char *path =
            text_glob("*.rec", names[i]) ? path_join(&scratch, folder, names[i]) : NULL;
        found = path != NULL && path_bytes(path) > 0;
    }
    arena_free(&scratch);
    return found;
}

static void look_for_record(void *context)
{
    struct victim_turn *v = context;
    if (v->folder == NULL || !has_record(v->folder))
        return;
    v->folder = NULL;
    v->started_ns = clock_ns();
    mutex_lock(v->queue->lock);
    schedule_computes(&v->queue->schedule, v->started_ns);
    mutex_unlock(v->queue->lock);
    turns_force(v->turns, &v->turn);
    runner_move(v->runner, v->turn.processor);
}

static void end_hang(struct queue *q, uint64_t life_ns, uint64_t computing_ns)
{
    mutex_lock(q->lock);
    const bool was_last = schedule_ended(&q->schedule, life_ns, computing_ns);
    mutex_unlock(q->lock);
    if (was_last)
        turns_reserve(q->options->turns, 0);
}

static void run_in_turn(struct queue *q, struct runner *runner, struct collected *result, char *why,
                        const char *part, struct arena *scratch)
{
    struct victim_turn v = {.queue = q,
                            .runner = runner,
                            .turns = q->options->turns,
                            .turn.processor = runner->processor};
    const bool waits = q->schedule.waiting_count > 0 && schedule_waits(result->scenario);
    const uint64_t start_ns = clock_ns();

    if (waits) {
        runner->processor = 0; /* while it waits, the system decides */
        v.folder = part;
        runner->while_context = &v;
        runner->while_running = look_for_record;
    } else {
        turns_take(v.turns, &v.turn);
        runner_move(runner, v.turn.processor);
    }
    run_into(q, runner, result, why, part, scratch);
    runner->while_running = NULL;
    turns_give(v.turns, &v.turn);
    result->crowded = v.turn.crowded;
    if (waits) {
        const uint64_t end_ns = clock_ns();
        end_hang(q, end_ns - start_ns, v.started_ns != 0 ? end_ns - v.started_ns : 0);
    }
}

/* Skips a hang that need not run. */
static void pass_over(struct queue *q, const struct collected *result)
{
    if (q->schedule.waiting_count > 0 && schedule_waits(result->scenario))
        end_hang(q, 0, 0);
}

static void run_one(struct queue *q, struct runner *runner, uint32_t index)
{
    struct collected *result = &q->results[index];
    struct fault ignored = FAULT_INIT;
    struct arena scratch;
    const uint64_t start_ns = clock_ns();
    bool ran = false;

    arena_init(&scratch, 0);
    if (is_skipped(q, result)) {
        result->outcome = COLLECT_SKIPPED;
    } else if (is_there(q, result)) {
        result->outcome = COLLECT_SEALED;
    } else if (result->scenario->unsupported != NULL) {
        result->outcome = COLLECT_UNSUPPORTED;
        result->why = result->scenario->unsupported;
    } else {
        const char *part = arena_printf(&scratch, "%s.part", result->folder);
        run_in_turn(q, runner, result, q->whys[index], part, &scratch);
        ran = true;
        if (result->outcome != COLLECT_SEALED) {
            (void)path_remove(part, &ignored);
            result->folder = NULL;
        }
    }
    if (!ran)
        pass_over(q, result);
    if (result->outcome == COLLECT_UNSUPPORTED)
        result->folder = NULL;
    result->wall_ns = clock_ns() - start_ns;
    arena_free(&scratch);
}

static bool take_next(struct queue *q, enum schedule_kind kind, uint32_t *index)
{
    for (;;) {
        mutex_lock(q->lock);
        const enum schedule_next next = schedule_take(&q->schedule, kind, clock_ns(), index);
        mutex_unlock(q->lock);
        if (next != SCHEDULE_LATER || process_interrupted())
            return next == SCHEDULE_ONE && !process_interrupted();
        thread_sleep_ms(LATER_MS);
    }
}

static void work(void *argument)
{
    struct worker *w = argument;
    struct queue *q = w->queue;
    struct runner runner;
    uint32_t index = 0;

    if (runner_open(q->options, w->index, &runner, &w->fault) == ERR_NONE) {
        while (take_next(q, w->kind, &index)) {
            run_one(q, &runner, index);
            mutex_lock(q->lock);
            if (q->done != NULL && q->results[index].outcome != COLLECT_INTERRUPTED &&
                q->results[index].outcome != COLLECT_SKIPPED)
                q->done(q->context, &q->results[index]);
            mutex_unlock(q->lock);
        }
    }
    runner_close(&runner);
}

enum status collect_prepare(const struct collect_options *options, struct fault *fault)
{
    struct runner runner;

    if (runner_is_prepared(options))
        return ERR_NONE;
    (void)runner_open(options, 0, &runner, fault);
    runner_close(&runner);
    return fault->code;
}

static uint32_t job_count(const struct collect_options *options, uint32_t work_count)
{
    uint32_t jobs = options->jobs != 0 ? options->jobs : thread_processors();
    if (jobs > JOBS_MAX)
        jobs = JOBS_MAX;
    return jobs < work_count ? jobs : work_count;
}

/* Workers for hangs, two a lane, and for others; after the last hang, one of each lane goes on with
 * others.  Without lanes all take all. */
static uint32_t place_workers(struct queue *q, uint32_t jobs, enum schedule_kind *kinds)
{
    uint32_t waiting = 0, others = 0, count = 0;

    for (uint32_t i = 0; i < q->count; i++)
        if (!is_skipped(q, &q->results[i]))
            *(schedule_waits(q->results[i].scenario) ? &waiting : &others) += 1;
    if (q->options->jobs == 0)
        schedule_open_lanes(&q->schedule, waiting, others);
    const uint32_t lanes = q->schedule.lanes;
    for (uint32_t i = lanes; i < jobs && (lanes == 0 || i - lanes < others); i++)
        kinds[count++] = lanes == 0 ? SCHEDULE_ALL : SCHEDULE_OTHERS;
    for (uint32_t i = 0; i < 2 * lanes && i < waiting; i++)
        kinds[count++] = i < lanes ? SCHEDULE_ALL : SCHEDULE_HANGS;
    turns_reserve(q->options->turns, lanes);
    return count;
}

static enum status run_workers(struct queue *q, struct fault *fault)
{
    const uint32_t jobs = job_count(q->options, q->count);
    enum schedule_kind kinds[RUNNER_WORKERS_MAX];
    static const struct fault none = FAULT_INIT;
    struct worker workers[RUNNER_WORKERS_MAX];

    memset(workers, 0, sizeof workers);
    if (jobs > 1 && collect_prepare(q->options, fault) != ERR_NONE)
        return fault->code;
    const uint32_t count = place_workers(q, jobs, kinds);
    for (uint32_t i = 0; i < count; i++) {
        workers[i].queue = q;
        workers[i].index = i;
        workers[i].kind = kinds[i];
        workers[i].fault = none;
        workers[i].thread = jobs > 1 ? thread_start(work, &workers[i]) : NULL;
        if (workers[i].thread == NULL && i == 0) /* one worker, or no thread could be started */
            work(&workers[i]);
    }
    for (uint32_t i = 0; i < count; i++)
        thread_join(workers[i].thread);
    turns_reserve(q->options->turns, 0);
    if (process_interrupted())
        return fault_set_hint(fault, ERR_INTERRUPTED, FAULT_NO_OFFSET, "run",
                              "stopped on request; finished cases are kept");
    for (uint32_t i = 0; i < count && !schedule_is_done(&q->schedule); i++) /* no worker is left */
        if (workers[i].fault.code != ERR_NONE && fault->code == ERR_NONE)
            *fault = workers[i].fault;
    return fault->code;
}

static enum status fill_results(struct queue *q, const struct scenario *scenarios, uint32_t count,
                                uint32_t repeat, struct arena *keep, struct fault *fault)
{
    q->count = count * repeat;
    q->results = ARENA_ARRAY(keep, (size_t)q->count + 1, struct collected);
    q->whys = arena_array(keep, (size_t)q->count + 1, WHY_BYTES);
    if (q->results == NULL || q->whys == NULL)
        return fault_no_memory(fault, "run");
    for (uint32_t i = 0; i < q->count; i++) {
        struct collected *result = &q->results[i];
        result->scenario = &scenarios[i % count];
        result->repeat = i / count;
        result->outcome = COLLECT_INTERRUPTED; /* until it has run */
        const char *cases = result->repeat == 0
                                ? arena_printf(keep, "%s/cases", q->options->out_folder)
                                : arena_printf(keep, "%s/cases.%u", q->options->out_folder,
                                               (unsigned)result->repeat);
        result->folder = arena_printf(keep, "%s/%s.%s", cases, result->scenario->name,
                                      result->scenario->variant);
        if (cases == NULL || result->folder == NULL)
            return fault_no_memory(fault, "run");
        if (i % count == 0 && folder_make(cases, fault) != ERR_NONE)
            return fault->code;
    }
    return ERR_NONE;
}

static void fault_absent_launcher(struct fault *fault, const char *path)
{
    fault_set_hint(fault, ERR_ABSENT, FAULT_NO_OFFSET, "program that starts the victims",
                   "build the victims again: `./run setup`");
    fault_set_path(fault, path);
}

enum status collect_run(const struct collect_options *options, const struct scenario *scenarios,
                        uint32_t count, uint32_t repeat, struct arena *keep, collect_done_fn *done,
                        void *context, struct collected **out, struct fault *fault)
{
    struct collect_options here = *options;
    struct queue q;

    *out = NULL;
    memset(&q, 0, sizeof q);
    if (count == 0 || repeat == 0 || count > UINT32_MAX / repeat)
        return fault_set(fault, ERR_USAGE, FAULT_NO_OFFSET, "nothing to run");
    if (folder_make(options->out_folder, fault) != ERR_NONE)
        return fault->code;
    here.out_folder = path_absolute(options->out_folder, keep);
    here.victims_folder = path_absolute(options->victims_folder, keep);
    if (here.out_folder == NULL || here.victims_folder == NULL)
        return fault_set(fault, ERR_ABSENT, FAULT_NO_OFFSET, "folder of the run or of the victims");
    q.options = &here;
    q.done = done;
    q.context = context;
    q.launcher = path_join(keep, here.victims_folder, launcher_name);
    q.lock = mutex_new();
    if (q.launcher == NULL || q.lock == NULL)
        fault_no_memory(fault, "run");
    else if (!path_is_file(q.launcher))
        fault_absent_launcher(fault, q.launcher);
    else if (evidence_open(&here, keep, &q.evidence, fault) == ERR_NONE &&
             fill_results(&q, scenarios, count, repeat, keep, fault) == ERR_NONE &&
             schedule_open(q.results, q.count, job_count(&here, q.count), keep, &q.schedule,
                           fault) == ERR_NONE)
        (void)run_workers(&q, fault);
    *out = q.results;
    evidence_close(&q.evidence);
    mutex_free(q.lock);
    return fault->code;
}
