/* Runners: threads for jobs that may block, while the monitor waits with a time limit. Two are made
 * at install; the third is the crashed thread itself, for jobs that must or should run there; the
 * fourth is one of the first two while it holds the locks of the program (stopped.c). A
 * runner that does not return keeps its job; its results are then ignored, and further jobs for it
 * are refused. */
#include "capture/cap.h"

enum {
    THREADS = 2,
    RUNNERS = 4,
    RUNNER_STACK_BYTES = 256 << 10,
    START_LIMIT_MS = 5000,
    STOP_LIMIT_MS = 5000,
    WAIT_MS = 20, /* a time limit is waited for in steps */
};

static struct runner {
    HANDLE thread, start, finished;
    void (*job)(void *);
    void *argument;
    volatile LONG busy; /* JOB_* */
    volatile LONG failed;
    volatile LONG state; /* of the thread: STATE_* */
} runners[RUNNERS];

enum { STATE_NONE, STATE_RUNS, STATE_QUITS };
enum { JOB_NONE, JOB_COMES, JOB_GIVEN };

static void run_job(struct runner *runner)
{
    if (!cap_crash_guarded(runner->job, runner->argument)) /* for example, a damaged heap */
        InterlockedExchange(&runner->failed, 1);
    InterlockedExchange(&runner->busy, JOB_NONE);
    SetEvent(runner->finished);
}

static DWORD WINAPI serve(void *argument)
{
    struct runner *runner = argument;
    SetEvent(cap.thread_up);
    while (WaitForSingleObject(runner->start, INFINITE) == WAIT_OBJECT_0) {
        if (runner->busy == JOB_GIVEN)
            run_job(runner);
        if (InterlockedCompareExchange(&runner->state, STATE_NONE, STATE_QUITS) == STATE_QUITS)
            break;
    }
    return 0;
}

void cap_crash_serve_until(enum cap_runner which, HANDLE end)
{
    struct runner *runner = &runners[which];
    HANDLE turns[2] = {end, runner->start};
    while (WaitForMultipleObjects(2, turns, FALSE, INFINITE) == WAIT_OBJECT_0 + 1)
        run_job(runner);
}

bool cap_crash_busy(enum cap_runner runner)
{
    return runners[runner].busy != JOB_NONE;
}

bool cap_event(HANDLE *event, bool stays_set)
{
    if (*event == NULL)
        *event = CreateEventW(NULL, stays_set, FALSE, NULL);
    return *event != NULL && ResetEvent(*event);
}

bool cap_wait_for_thread(void)
{
    return WaitForSingleObject(cap.thread_up, START_LIMIT_MS) == WAIT_OBJECT_0;
}

/* A thread that was left because its job did not come back serves on. */
static bool start_thread(int i)
{
    struct runner *r = &runners[i];
    DWORD id = 0;
    if (r->thread != NULL) {
        if (InterlockedCompareExchange(&r->state, STATE_RUNS, STATE_QUITS) == STATE_QUITS)
            return true;
        CloseHandle(r->thread); /* its job came back, and it ended */
    }
    ResetEvent(r->start);
    r->state = STATE_RUNS;
    /* A small stack, because under Wine the dump contains all of it. */
    r->thread =
        CreateThread(NULL, RUNNER_STACK_BYTES, serve, r, STACK_SIZE_PARAM_IS_A_RESERVATION, &id);
    cap.runner_ids[i] = id;
    if (r->thread == NULL)
        r->state = STATE_NONE;
    return r->thread != NULL && cap_wait_for_thread();
}

bool cap_runners_start(void)
{
    for (int i = 0; i < RUNNERS; i++)
        if (!cap_event(&runners[i].start, false) || !cap_event(&runners[i].finished, false) ||
            (i < THREADS && !start_thread(i)))
            return false;
    return true;
}

/* The events stay: the next installation needs them, and a thread may still wait for one. */
void cap_runners_stop(void)
{
    for (int i = 0; i < THREADS; i++) {
        struct runner *r = &runners[i];
        if (InterlockedCompareExchange(&r->state, STATE_QUITS, STATE_RUNS) != STATE_RUNS)
            continue;
        SetEvent(r->start);
        if (WaitForSingleObject(r->thread, STOP_LIMIT_MS) != WAIT_OBJECT_0)
            continue;
        CloseHandle(r->thread);
        r->thread = NULL;
        cap.runner_ids[i] = 0;
    }
}

bool cap_crash_start(enum cap_runner runner, void (*job)(void *), void *argument)
{
    struct runner *r = &runners[runner];
    if (InterlockedCompareExchange(&r->busy, JOB_COMES, JOB_NONE) != JOB_NONE)
        return false;
    r->job = job;
    r->argument = argument;
    r->failed = 0;
    ResetEvent(r->finished);
    InterlockedExchange(&r->busy, JOB_GIVEN);
    SetEvent(r->start);
    return true;
}

/* Whether the job came back. Each step counts its nominal length: where more programs run than
 * processors, this thread wakes late as well, so the limit grows with the load, and only a job that
 * really waits exceeds it. The event alone says nothing: a runner that was stopped after an earlier
 * job came back, and before it could say so, sets it during the next one. */
static bool wait_for(const struct runner *r, uint32_t limit_ms)
{
    uint32_t left_ms = limit_ms;
    while (r->busy != JOB_NONE && left_ms > 0) {
        const uint32_t step_ms = left_ms < WAIT_MS ? left_ms : WAIT_MS;
        if (WaitForSingleObject(r->finished, step_ms) != WAIT_OBJECT_0)
            left_ms -= step_ms;
    }
    return r->busy == JOB_NONE;
}

bool cap_crash_finish(enum cap_runner runner, uint32_t limit_ms)
{
    return wait_for(&runners[runner], limit_ms) && !runners[runner].failed;
}

bool cap_crash_wait_idle(enum cap_runner runner, uint32_t limit_ms)
{
    return wait_for(&runners[runner], limit_ms);
}

bool cap_crash_run(enum cap_runner runner, void (*job)(void *), void *argument, uint32_t limit_ms)
{
    return cap_crash_start(runner, job, argument) && cap_crash_finish(runner, limit_ms);
}
