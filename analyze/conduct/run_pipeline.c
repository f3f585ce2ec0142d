/* Capture, analysis and judging side by side: see run_session.h.
 *
 * One thread starts the victims (collect_run); this one analyses what they leave, in the order in
 * which they end, asks the judges and stores each verdict.  A second one does the same when this
 * one is late: once the last victims only wait, a processor would be idle.  All take turns on
 * the processors (base/turns.h), so that none disturbs the measurements of another.
 *
 * A hang waits for most of its life without a turn, and forces one when its record is there: it
 * must not wait then. Two processors, the crashes a, b and c, and the hang h:
 *
 *   what happens                        turns that are out, and where    times do not count of
 *   a and b start                       a 1, b 2
 *   a has ended: it is judged           judging a 1, b 2
 *   b has ended: c starts               judging a 1, c 2
 *   the record of h is there            judging a 1, c 2, h 1            a, c, h: three on two
 *   a is judged; then c has ended       h 1
 *   b is judged                         h 1, judging b 2
 *   h has ended; b is judged: c next    judging c 1
 *
 * So a case is stored as crowded if its victim or its analysis was. The second judging thread would
 * have taken b only if JUDGED_BESIDE ended victims had waited. */
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/process.h"
#include "base/thread.h"
#include "base/turns.h"
#include "compare/compare.h"
#include "conduct/judging.h"
#include "conduct/packed.h"
#include "conduct/run_session.h"
#include "engine/judge_pool.h"
#include "store/store.h"

/* The second judging thread takes a case only while this many wait. A few cases are judged before
 * its judges have started. */
enum { JUDGED_BESIDE = 4 };

/* A thread that analyses and judges. */
struct judging_thread {
    struct pipeline *p;
    struct analysis analysis;
    struct arena *keep; /* for what its cases hold */
    struct fault fault;
    bool is_second, pool_tried;
};

/* What the threads share, under LOCK. */
struct pipeline {
    struct run_session *s;
    struct mutex *lock;
    struct mutex *storing; /* is held while a verdict is stored; LOCK may be taken meanwhile */
    struct signal *changed;
    const struct collected **ended; /* victims that have ended, in that order */
    uint32_t ended_count, judged_count;
    bool always_crowded; /* other programs use the processors meanwhile, and announce it */
    bool no_more;        /* no victim is running, and none will be started */
    bool stops;          /* the judging side failed: no further victim is started */
    struct arena keep;   /* of the thread that starts victims */
    struct fault fault;  /* its own */
    struct thread *thread;
    struct turns *turns;
    uint32_t limit; /* of the turns at a time */
    struct judging_thread first, second;
    struct judging judging;
};

/* ---- capture ------------------------------------------------------------------------ */

static bool is_not_wanted(const void *context, const struct scenario *scenario, uint32_t repeat)
{
    const struct pipeline *p = context;
    mutex_lock(p->lock);
    const bool stops = p->stops;
    mutex_unlock(p->lock);
    return stops || run_has_case(p->s, scenario, repeat);
}

static void take_ended(void *context, const struct collected *done)
{
    struct pipeline *p = context;
    struct run_session *s = p->s;

    mutex_lock(p->lock);
    s->taken++;
    if (s->progress.captured != NULL)
        s->progress.captured(s->progress.context, done, s->taken, s->to_take);
    p->ended[p->ended_count++] = done;
    signal_wake_all(p->changed);
    mutex_unlock(p->lock);
}

static void capture(void *context)
{
    struct pipeline *p = context;
    struct run_session *s = p->s;

    (void)collect_run(&s->collect, s->scenarios, s->scenario_count, s->request->repeat, &p->keep,
                      take_ended, p, &s->collected, &p->fault);
    if (p->fault.code == ERR_INTERRUPTED) /* cases sealed by then wait for --resume */
        fault_clear(&p->fault);
    mutex_lock(p->lock);
    p->no_more = true;
    signal_wake_all(p->changed);
    mutex_unlock(p->lock);
}

/* The next victim that has ended; NULL: there are no more for J, or judging failed. */
static const struct collected *next_ended(struct judging_thread *j)
{
    struct pipeline *p = j->p;
    const uint32_t wanted = j->is_second ? JUDGED_BESIDE : 1;

    mutex_lock(p->lock);
    while (p->ended_count - p->judged_count < wanted && p->ended_count < p->s->to_take &&
           !p->no_more && !p->stops)
        signal_wait(p->changed, p->lock);
    const struct collected *done = p->ended_count - p->judged_count >= wanted && !p->stops
                                       ? p->ended[p->judged_count++]
                                       : NULL;
    if (done != NULL && done->outcome == COLLECT_TIME_LIMIT)
        p->s->time_limit = true;
    mutex_unlock(p->lock);
    return process_interrupted() ? NULL : done;
}

/* ---- judges ------------------------------------------------------------------------- */

/* Where the judges of J run: in the folder of the run, beside the files that they read. Windows
 * starts no program by a path of more than 260 units; so for a long one it is a temporary folder.
 * NULL: out of memory. */
static const char *judges_folder(const struct judging_thread *j)
{
    enum { LONG_PATH = 200 };
    const struct run_session *s = j->p->s;
    const char *name = j->is_second ? "judges-2" : "judges",
               *out = path_absolute(s->collect.out_folder, j->keep);

    return strlen(out != NULL ? out : s->collect.out_folder) > LONG_PATH
               ? folder_temporary_name(name, j->keep)
               : path_join(j->keep, s->collect.out_folder, name);
}

/* The programs of a thread that keep running. Without them the run only takes longer. */
static void open_pool(struct judging_thread *j)
{
    struct fault ignored = FAULT_INIT;

    if (j->pool_tried || j->p->s->request->no_judges || process_interrupted())
        return;
    j->pool_tried = true;
    const char *folder = judges_folder(j);
    if (folder != NULL)
        (void)judge_pool_open(folder, &j->analysis.judges, &ignored);
}

/* Judges run on this host: under Wine in a prefix of their own. Without Wine they are skipped. */
static void open_windows(struct pipeline *p)
{
    struct run_session *s = p->s;
    struct collect_options options = s->collect;
    struct fault no_launcher = FAULT_INIT;

    if (s->request->no_judges || process_interrupted())
        return;
    options.beside_run = true;
    (void)judging_open_windows(&p->judging, &options, &no_launcher);
}

/* ---- analysis ----------------------------------------------------------------------- */

/* Judges a scenario that left no case: it is unsupported here, or the harness failed. */
static enum status judge_without_case(struct judging_thread *j, const struct collected *done,
                                      struct run_case *out)
{
    const struct scenario *scenario = done->scenario;
    struct crash_case *stub = ARENA_NEW(j->keep, struct crash_case);
    struct compare_input in;

    if (stub == NULL)
        return fault_no_memory(&j->fault, "case");
    memset(&in, 0, sizeof in);
    memset(out, 0, sizeof *out);
    stub->scenario = out->scenario = scenario->name;
    stub->variant = out->variant = scenario->variant;
    stub->kind = out->kind = scenario->kind;
    stub->arch = out->arch = scenario->arch;
    stub->expect.code = out->expected_code = scenario->code;
    stub->expect.exit_code = out->expected_exit_code = scenario->exit_code;
    stub->expect.hooks = scenario->hooks;
    in.crash = stub;
    in.unsupported = done->outcome == COLLECT_UNSUPPORTED ? done->why : NULL;
    in.harness_error = done->outcome == COLLECT_UNSUPPORTED ? NULL : done->why;
    return compare_case(&in, j->keep, &out->result, &j->fault);
}

static enum status judge_case(struct judging_thread *j, const struct collected *done,
                              struct run_case *out)
{
    struct fault fault = FAULT_INIT;
    struct crash_case *crash = ARENA_NEW(j->keep, struct crash_case);
    char why[FAULT_PATH_BYTES + 512];

    if (crash == NULL)
        return fault_no_memory(&j->fault, "case");
    if (case_read(done->folder, j->keep, crash, &fault) == ERR_NONE &&
        analysis_case(&j->analysis, crash, j->keep, out, &fault) == ERR_NONE) {
        packed_sizes_take(crash, &out->timing);
        return ERR_NONE;
    }
    if (fault.code == ERR_MEMORY) {
        j->fault = fault;
        return fault.code;
    }
    fault_describe(&fault, why, sizeof why);
    struct collected failed = *done;
    failed.outcome = COLLECT_ERROR;
    failed.why = arena_string(j->keep, why);
    return judge_without_case(j, &failed, out);
}

/* For the pages that show the run while it goes on. Fails as the store does. */
static enum status put_pace(struct pipeline *p, struct fault *fault)
{
    struct run_session *s = p->s;

    mutex_lock(p->lock);
    s->info.pace.captured = s->stored_count + s->taken;
    mutex_unlock(p->lock);
    s->info.pace.at_ns = clock_wall_ns();
    if (store_put_pace(s->store, s->info.id, &s->info.pace, fault) != ERR_NONE)
        s->database_failed = true;
    return fault->code;
}

static enum status judge_in_turn(struct judging_thread *j, const struct collected *done,
                                 struct run_case *out)
{
    struct pipeline *p = j->p;
    struct turn turn = {0};

    turns_take(p->turns, &turn);
    const enum status status = done->outcome == COLLECT_SEALED ? judge_case(j, done, out)
                                                               : judge_without_case(j, done, out);
    turns_give(p->turns, &turn);
    out->timing.crowded = done->crowded || turn.crowded || p->always_crowded;
    out->repeat = done->repeat;
    return status;
}

static void say_judged(const struct pipeline *p, const struct run_case *c)
{
    const struct run_session *s = p->s;
    if (s->progress.judged == NULL)
        return;
    mutex_lock(p->lock);
    s->progress.judged(s->progress.context, c, s->case_count, s->to_take + s->stored_count);
    mutex_unlock(p->lock);
}

static enum status keep_verdict(struct judging_thread *j, struct run_case *judged)
{
    struct pipeline *p = j->p;
    struct run_session *s = p->s;

    mutex_lock(p->storing);
    if (acceptance_take(&s->known, judged, j->keep, &j->fault) != ERR_NONE) {
        mutex_unlock(p->storing);
        return j->fault.code;
    }
    if (store_put_case(s->store, s->info.id, judged, &j->fault) != ERR_NONE) {
        s->database_failed = true;
    } else {
        s->cases[s->case_count++] = *judged;
        say_judged(p, judged);
        (void)put_pace(p, &j->fault);
    }
    mutex_unlock(p->storing);
    return j->fault.code;
}

/* One thread judges until there is nothing left for it; a fault ends the other one too. */
static void judge_all(void *context)
{
    struct judging_thread *j = context;
    struct pipeline *p = j->p;
    const struct collected *done;
    struct run_case judged;

    while (j->fault.code == ERR_NONE && (done = next_ended(j)) != NULL) {
        open_pool(j);
        memset(&judged, 0, sizeof judged);
        if (judge_in_turn(j, done, &judged) != ERR_NONE)
            break;
        if (process_interrupted())
            break; /* an engine may have been stopped early: the case is judged when the run is
                      resumed */
        (void)keep_verdict(j, &judged);
    }
    mutex_lock(p->lock);
    p->stops = p->stops || j->fault.code != ERR_NONE;
    signal_wake_all(p->changed);
    mutex_unlock(p->lock);
}

static enum status open_symbols(struct pipeline *p)
{
    struct run_session *s = p->s;
    const char *store = path_join(s->keep, s->collect.out_folder, "symbols");
    const struct judging_needs needs = {.symbols = s->request->symbols,
                                        .symbol_count = s->request->symbol_count,
                                        .store = store,
                                        .cache = s->request->cache,
                                        .fetch = s->request->fetch};

    if (store == NULL)
        return fault_no_memory(&s->fault, "symbols");
    if (folder_make(store, &s->fault) != ERR_NONE)
        return s->fault.code;
    return judging_open(&needs, s->keep, &p->judging, &s->fault);
}

/* ---- both ----------------------------------------------------------------------------- */

static void begin_judging(struct pipeline *p, struct judging_thread *j, struct arena *keep)
{
    static const struct fault none = FAULT_INIT;

    j->p = p;
    j->keep = keep;
    j->fault = none;
    j->analysis = p->judging.analysis;
}

static enum status open_pipeline(struct pipeline *p)
{
    struct run_session *s = p->s;
    const uint32_t processors = thread_processors();
    const size_t room = (size_t)s->scenario_count * s->request->repeat + 1;

    p->always_crowded = getenv("TWINSTACK_CROWDED") != NULL;
    p->lock = mutex_new();
    p->changed = signal_new();
    p->limit = s->collect.jobs != 0 ? s->collect.jobs : processors;
    p->storing = mutex_new();
    p->turns = turns_new(p->limit, processors);
    p->ended = ARENA_ARRAY(s->keep, room, const struct collected *);
    if (p->lock == NULL || p->storing == NULL || p->changed == NULL || p->turns == NULL ||
        p->ended == NULL)
        return fault_no_memory(&s->fault, "run");
    s->collect.skip = is_not_wanted;
    s->collect.skip_context = p;
    s->collect.turns = p->turns;
    s->collect.reuse_sealed = s->request->resume != NULL;
    s->to_take = s->scenario_count * s->request->repeat - s->stored_count;
    s->case_count = s->stored_count;
    s->info.pace = (struct run_pace){
        .total = s->to_take + s->stored_count, .had = s->stored_count, .since_ns = clock_wall_ns()};
    if (open_symbols(p) != ERR_NONE)
        return s->fault.code;
    begin_judging(p, &p->first, s->keep);
    arena_init(&s->beside, 0);
    begin_judging(p, &p->second, &s->beside);
    p->second.is_second = true;
    return put_pace(p, &s->fault);
}

static void run_both(struct pipeline *p)
{
    struct run_session *s = p->s;

    p->thread = thread_start(capture, p);
    if (p->thread == NULL) /* then one after the other */
        capture(p);
    open_windows(p);
    p->first.analysis = p->second.analysis = p->judging.analysis;
    open_pool(&p->first);
    struct thread *second = p->limit > 1 ? thread_start(judge_all, &p->second) : NULL;
    judge_all(&p->first);
    thread_join(second);
    s->fault = p->first.fault.code != ERR_NONE ? p->first.fault : p->second.fault;
    mutex_lock(p->lock);
    if (s->fault.code == ERR_NONE && p->no_more)
        s->fault = p->fault;
    mutex_unlock(p->lock);
}

enum status run_take_and_judge(struct run_session *s)
{
    static const struct fault none = FAULT_INIT;
    struct pipeline *p = s->pipeline = ARENA_NEW(s->keep, struct pipeline);

    if (p == NULL)
        return fault_no_memory(&s->fault, "run");
    memset(p, 0, sizeof *p);
    p->s = s;
    p->fault = none;
    arena_init(&p->keep, 0);
    if (open_pipeline(p) == ERR_NONE && collect_prepare(&s->collect, &s->fault) == ERR_NONE)
        run_both(p);
    if (s->fault.code == ERR_INTERRUPTED)
        fault_clear(&s->fault);
    return s->fault.code;
}

void run_end_programs(struct run_session *s)
{
    struct pipeline *p = s->pipeline;

    if (p == NULL)
        return;
    thread_join(p->thread);
    judge_pool_close(p->first.analysis.judges);
    judge_pool_close(p->second.analysis.judges);
    judging_close(&p->judging);
    turns_free(p->turns);
    signal_free(p->changed);
    mutex_free(p->storing);
    mutex_free(p->lock);
    arena_free(&p->keep);
    s->collected = NULL;
    s->pipeline = NULL;
}
