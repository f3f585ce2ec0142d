/* Runners: threads for jobs that may block, while the monitor waits with a time limit. Two are made
 * at install; the third is the crashed thread itself, for jobs that must or should run there. A
 * runner that does not return keeps its job; its results are then ignored, and further jobs for it
 * are refused. */
#include "capture/cap.h"

enum {
    THREADS = 2,
    RUNNERS = 3,
    RUNNER_STACK_BYTES = 256 << 10,
    START_LIMIT_MS = 5000,
    WAIT_MS = 20, /* a time limit is waited for in steps */
};

static struct runner {
    HANDLE thread, start, finished;
    void (*job)(void *);
    void *argument;
    volatile LONG busy, failed;
} runners[RUNNERS];

static void run_job(struct runner *runner)
{
    if (!cap_crash_guarded(runner->job, runner->argument)) /* for example, a damaged heap */
        InterlockedExchange(&runner->failed, 1);
    InterlockedExchange(&runner->busy, 0);
    SetEvent(runner->finished);
}

static DWORD WINAPI serve(void *argument)
{
    struct runner *runner = argument;
    SetEvent(cap.thread_up);
    while (WaitForSingleObject(runner->start, INFINITE) == WAIT_OBJECT_0)
        run_job(runner);
    return 0;
}

void cap_crash_serve_until_done(void)
{
    struct runner *runner = &runners[CAP_RUNNER_CRASHED];
    HANDLE turns[2] = {cap.done, runner->start};
    while (WaitForMultipleObjects(2, turns, FALSE, INFINITE) == WAIT_OBJECT_0 + 1)
        run_job(runner);
}

bool cap_crash_busy(enum cap_runner runner)
{
    return runners[runner].busy != 0;
}

bool cap_wait_for_thread(void)
{
    return WaitForSingleObject(cap.thread_up, START_LIMIT_MS) == WAIT_OBJECT_0;
}

bool cap_runners_start(void)
{
    for (int i = 0; i < RUNNERS; i++) {
        DWORD id = 0;
        runners[i].start = CreateEventW(NULL, FALSE, FALSE, NULL);
        runners[i].finished = CreateEventW(NULL, FALSE, FALSE, NULL);
        if (runners[i].start == NULL || runners[i].finished == NULL)
            return false;
        if (i >= THREADS)
            continue;
        /* A small stack, because under Wine the dump contains all of it. */
        runners[i].thread = CreateThread(NULL, RUNNER_STACK_BYTES, serve, &runners[i],
                                         STACK_SIZE_PARAM_IS_A_RESERVATION, &id);
        if (runners[i].thread == NULL || !cap_wait_for_thread())
            return false;
        cap.runner_ids[i] = id;
    }
    return true;
}

bool cap_crash_start(enum cap_runner runner, void (*job)(void *), void *argument)
{
    struct runner *r = &runners[runner];
    if (InterlockedExchange(&r->busy, 1) != 0)
        return false;
    r->job = job;
    r->argument = argument;
    r->failed = 0;
    ResetEvent(r->finished);
    SetEvent(r->start);
    return true;
}

/* Each step counts its nominal length. Where more programs run than processors, this thread wakes
 * late as well, so the limit grows with the load, and only a job that really waits exceeds it. */
static bool wait_for(HANDLE event, uint32_t limit_ms)
{
    uint32_t left_ms = limit_ms;
    for (;;) {
        const uint32_t step_ms = left_ms < WAIT_MS ? left_ms : WAIT_MS;
        const DWORD answer = WaitForSingleObject(event, step_ms);
        left_ms -= step_ms;
        if (answer != WAIT_TIMEOUT || left_ms == 0)
            return answer == WAIT_OBJECT_0;
    }
}

bool cap_crash_finish(enum cap_runner runner, uint32_t limit_ms)
{
    struct runner *r = &runners[runner];
    return wait_for(r->finished, limit_ms) && !r->failed;
}

bool cap_crash_wait_idle(enum cap_runner runner, uint32_t limit_ms)
{
    struct runner *r = &runners[runner];
    return r->busy == 0 || (wait_for(r->finished, limit_ms), r->busy == 0);
}

bool cap_crash_run(enum cap_runner runner, void (*job)(void *), void *argument, uint32_t limit_ms)
{
    return cap_crash_start(runner, job, argument) && cap_crash_finish(runner, limit_ms);
}
