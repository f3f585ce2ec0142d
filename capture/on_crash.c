/* The hooks that see a crash, and how a crash becomes a case.
 *
 *   vectored handler       sees every exception first, also those that the program will
 *                          handle: stores a candidate, nothing more, and goes on.  Only a
 *                          stack overflow is taken at once: no other hook is called for it.
 *   unhandled filter       no handler took the exception: claims the crash
 *   SIGABRT and others     the C runtime gives up without an exception: claims, with a
 *                          context captured on the spot
 *
 * The thread that claims the crash publishes its pointers and waits.  The monitor does the
 * work and ends the process.  A crash of that thread in its own handler ends the process
 * with what is on disk; other threads that crash meanwhile are kept waiting. */
#include "capture/cap.h"

#include <signal.h>
#include <stdlib.h>
#include <winternl.h>

enum {
    CODE_DEBUG_TEXT = 0x40010006,
    CODE_DEBUG_TEXT_WIDE = 0x4001000A,
    CODE_THREAD_NAME = 0x406D1388,
    CODE_FATAL_APP_EXIT = 0x40000015,
    CODE_INVALID_PARAMETER = 0xC0000417,
    ABORT_EXIT = 3,
    PURE_CALL_EXIT = 255,
    CANDIDATE_STACK_BYTES = 16 << 10, /* a candidate is only walked with this much room left */
    HOST_LIMIT_MS = 5000,             /* reserved for the host's on_crash() */
};

static bool are_open;
static void *vectored;
static LPTOP_LEVEL_EXCEPTION_FILTER previous_filter;
/* The filter before ours was first installed. One that was installed over ours may call ours, so
 * ours never calls that. */
static LPTOP_LEVEL_EXCEPTION_FILTER below;
static bool is_below_another;
static void (*previous_abort)(int);
static _invalid_parameter_handler previous_invalid_parameter;
static _purecall_handler previous_pure_call;
static uint32_t claimed_exit_code; /* the exit code, whichever thread ends the process */

/* ---- claiming ---- */

enum claim {
    CLAIM_MINE,
    CLAIM_LATE,   /* another crash is being captured, which ends the process */
    CLAIM_CLOSED, /* no capture is installed any more: as if there were no hook */
};

/* Waits without room on the stack: the system call itself, which uses none. */
static void wait_for(HANDLE event)
{
    (void)NtWaitForSingleObject(event, FALSE, NULL);
}

enum context_source { CONTEXT_OF_EXCEPTION, CONTEXT_CAPTURED };
enum own_stack { OWN_STACK_USABLE, OWN_STACK_USED_UP };

/* Waits while a hang is being captured: the crash comes after it. */
static enum claim claim(EXCEPTION_POINTERS *pointers, uint32_t hooks, uint32_t exit_code,
                        enum context_source context, enum own_stack stack)
{
    const LONG me = (LONG)GetCurrentThreadId();
    LONG owner;
    while ((owner = InterlockedCompareExchange(&cap.crash.claimed_by, me, CAP_OPEN)) ==
           CAP_CLAIMED_BY_HANG)
        wait_for(cap.hang_over);
    if (owner != CAP_OPEN)
        return owner == CAP_CLOSED ? CLAIM_CLOSED : CLAIM_LATE;
    cap.crash.thread_id = (uint32_t)me;
    cap.crash.hooks = hooks;
    claimed_exit_code = exit_code;
    cap.crash.captured_context = context == CONTEXT_CAPTURED;
    cap.crash.own_stack_usable = stack == OWN_STACK_USABLE;
    cap.crash.pointers = pointers;
    cap.crash.bounds = cap_crash_own_bounds();
    InterlockedExchange(&cap.crash.ready, 1);
    return CLAIM_MINE;
}

static uint64_t context_pc(const CONTEXT *context)
{
#if defined(_WIN64)
    return context->Rip;
#else
    return context->Eip;
#endif
}

/* Walkers, the dump and the host's on_crash() run on this thread: no exception of its arithmetic
 * may interrupt them.  The registers at the crash have been stored before. */
static void wait_for_monitor(void)
{
    RESET_FLOATING_POINT();
    SetEvent(cap.go);
    cap_crash_serve_until(CAP_RUNNER_CRASHED, cap.done);
}

static void end_process(uint32_t exit_code)
{
    if (cap.options.on_crash != NULL)
        cap.options.on_crash();
    TerminateProcess(GetCurrentProcess(), exit_code);
}

/* ---- the vectored handler ---- */

static bool is_chatter(uint32_t code)
{
    return code == CODE_DEBUG_TEXT || code == CODE_DEBUG_TEXT_WIDE || code == CODE_THREAD_NAME;
}

static struct cap_candidate *candidate_of(uint32_t thread_id)
{
    for (int i = 0; i < CAP_CANDIDATES; i++)
        if (cap.candidates[i].thread_id == (LONG)thread_id)
            return &cap.candidates[i];
    for (int i = 0; i < CAP_CANDIDATES; i++)
        if (InterlockedCompareExchange(&cap.candidates[i].thread_id, (LONG)thread_id, 0) == 0)
            return &cap.candidates[i];
    return NULL;
}

static NOINLINE void store_candidate(const EXCEPTION_POINTERS *pointers, struct cap_bounds bounds)
{
    const uint32_t me = GetCurrentThreadId();
    struct cap_candidate *candidate = candidate_of(me);
    if (candidate == NULL)
        return; /* more threads raise exceptions than we keep candidates for: the filter walks
                 * anyway */
    candidate->code = pointers->ExceptionRecord->ExceptionCode;
    candidate->address_va = (uintptr_t)pointers->ExceptionRecord->ExceptionAddress;
    cap_crash_walk_begin(&candidate->walk, RECORD_WALKER_RTL, me);
    cap_crash_walk_rtl(pointers->ContextRecord, NULL, bounds, false, &candidate->walk);
}

/* Keeps its own frame small: after a stack overflow only one page is left, half of it used. */
static LONG CALLBACK on_exception(EXCEPTION_POINTERS *pointers)
{
    const uint32_t code = pointers->ExceptionRecord->ExceptionCode;
    const uint32_t me = GetCurrentThreadId();
    if (is_chatter(code) || cap_crash_is_ours(me))
        return EXCEPTION_CONTINUE_SEARCH;
    if (cap.crash.claimed_by == (LONG)me) {
        if (cap_crash_busy(CAP_RUNNER_CRASHED))
            return EXCEPTION_CONTINUE_SEARCH; /* jobs catch their own faults */
        TerminateProcess(GetCurrentProcess(), cap.crash.pointers->ExceptionRecord->ExceptionCode);
    }
    if (code == EXCEPTION_STACK_OVERFLOW) {
        if (claim(pointers, RECORD_HOOK_VECTORED, code, CONTEXT_OF_EXCEPTION, OWN_STACK_USED_UP) !=
            CLAIM_CLOSED)
            wait_for(cap.never); /* the monitor looks for crashes, and ends the process */
        return EXCEPTION_CONTINUE_SEARCH;
    }
    struct cap_bounds bounds = cap_crash_own_bounds();
    if ((uintptr_t)&bounds < bounds.low_va + CANDIDATE_STACK_BYTES)
        return EXCEPTION_CONTINUE_SEARCH;
    store_candidate(pointers, bounds);
    return EXCEPTION_CONTINUE_SEARCH;
}

/* ---- the unhandled-exception filter and the C runtime's hooks ---- */

/* As if there were no filter of ours. */
static LONG pass_on(EXCEPTION_POINTERS *pointers)
{
    return below != NULL ? below(pointers) : EXCEPTION_CONTINUE_SEARCH;
}

static LONG WINAPI on_unhandled(EXCEPTION_POINTERS *pointers)
{
    const EXCEPTION_RECORD *record = pointers->ExceptionRecord;
    const uint32_t me = GetCurrentThreadId();
    /* The capture itself crashed: keep what is already on disk. */
    if (cap_crash_is_ours(me) || cap.crash.claimed_by == (LONG)me)
        TerminateProcess(GetCurrentProcess(), record->ExceptionCode);
    uint32_t hooks = RECORD_HOOK_UNHANDLED;
    for (int i = 0; i < CAP_CANDIDATES; i++)
        if (cap.candidates[i].thread_id == (LONG)me &&
            cap.candidates[i].code == record->ExceptionCode &&
            cap.candidates[i].address_va == (uintptr_t)record->ExceptionAddress)
            hooks |= RECORD_HOOK_VECTORED;
    const enum claim claimed =
        claim(pointers, hooks, record->ExceptionCode, CONTEXT_OF_EXCEPTION, OWN_STACK_USABLE);
    if (claimed == CLAIM_CLOSED)
        return pass_on(pointers);
    if (claimed == CLAIM_LATE)
        wait_for(cap.never);
    wait_for_monitor();
    end_process(record->ExceptionCode);
    return EXCEPTION_EXECUTE_HANDLER;
}

/* The exception that a hook without one reports. One thread owns it; the others wait. */
static struct {
    volatile LONG owner; /* a thread; 0: none */
    CONTEXT context;
    EXCEPTION_RECORD record;
    EXCEPTION_POINTERS pointers;
} made = {.pointers = {&made.record, &made.context}};

/* A hook without an exception: the context is captured here, so its first frame is a return
 * address in this function.  Returns only if there is no capture. */
static CAP_OWN_CODE void on_runtime_hook(uint32_t code, uint32_t hook, uint32_t exit_code)
{
    const LONG me = (LONG)GetCurrentThreadId();
    if (cap.crash.claimed_by == me)
        return; /* the host's own crash handler aborts: keep what is already on disk */
    if (cap.crash.claimed_by == CAP_CLOSED)
        return;
    if (InterlockedCompareExchange(&made.owner, me, 0) != 0)
        wait_for(cap.never);
    RtlCaptureContext(&made.context);
    made.record.ExceptionCode = code;
    made.record.ExceptionFlags = EXCEPTION_NONCONTINUABLE;
    made.record.ExceptionAddress = (void *)(uintptr_t)context_pc(&made.context);
    const enum claim claimed =
        claim(&made.pointers, hook, exit_code, CONTEXT_CAPTURED, OWN_STACK_USABLE);
    if (claimed == CLAIM_CLOSED) {
        InterlockedExchange(&made.owner, 0);
        return;
    }
    if (claimed == CLAIM_LATE)
        wait_for(cap.never);
    wait_for_monitor();
    end_process(exit_code);
}

static CAP_OWN_CODE void on_abort(int number)
{
    (void)number;
    /* The C runtime has taken the handler out: another thread's abort() would end the process in
     * the middle of the capture. */
    if (cap.crash.claimed_by != CAP_CLOSED)
        (void)signal(SIGABRT, on_abort);
    on_runtime_hook(CODE_FATAL_APP_EXIT, RECORD_HOOK_SIGABRT, ABORT_EXIT);
}

static CAP_OWN_CODE void on_invalid_parameter(const wchar_t *expression, const wchar_t *function,
                                              const wchar_t *file, unsigned line,
                                              uintptr_t reserved)
{
    (void)expression, (void)function, (void)file, (void)line, (void)reserved;
    on_runtime_hook((uint32_t)CODE_INVALID_PARAMETER, RECORD_HOOK_INVALID_PARAMETER,
                    (uint32_t)CODE_INVALID_PARAMETER);
}

static CAP_OWN_CODE void on_pure_call(void)
{
    on_runtime_hook(CODE_FATAL_APP_EXIT, RECORD_HOOK_PURE_CALL, PURE_CALL_EXIT);
}

CAP_OWN_CODE void capture_on_terminate(void)
{
    on_runtime_hook(CODE_FATAL_APP_EXIT, RECORD_HOOK_TERMINATE, ABORT_EXIT);
}

bool cap_hooks_open(void)
{
    vectored = AddVectoredExceptionHandler(1, on_exception);
    previous_filter = SetUnhandledExceptionFilter(on_unhandled);
    if (!is_below_another)
        below = previous_filter;
    previous_abort = signal(SIGABRT, on_abort);
    previous_invalid_parameter = _set_invalid_parameter_handler(on_invalid_parameter);
    previous_pure_call = _set_purecall_handler(on_pure_call);
    are_open = true;
    return vectored != NULL;
}

/* What the program has put in the place of ours since stays. */
void cap_hooks_close(void)
{
    if (!are_open)
        return;
    are_open = false;
    if (vectored != NULL)
        RemoveVectoredExceptionHandler(vectored);
    const LPTOP_LEVEL_EXCEPTION_FILTER filter = SetUnhandledExceptionFilter(previous_filter);
    if (filter != on_unhandled) {
        SetUnhandledExceptionFilter(filter);
        is_below_another = filter != NULL;
    }
    void (*const abort_handler)(int) =
        signal(SIGABRT, previous_abort != SIG_ERR ? previous_abort : SIG_DFL);
    if (abort_handler != on_abort && abort_handler != SIG_ERR)
        (void)signal(SIGABRT, abort_handler);
    const _invalid_parameter_handler invalid =
        _set_invalid_parameter_handler(previous_invalid_parameter);
    if (invalid != on_invalid_parameter)
        (void)_set_invalid_parameter_handler(invalid);
    const _purecall_handler pure = _set_purecall_handler(previous_pure_call);
    if (pure != on_pure_call)
        (void)_set_purecall_handler(pure);
}

/* ---- the monitor's part ---- */

static struct cap_walk suspect_walk;
static struct cap_thread threads[CAP_THREADS];

void cap_crash_take(void)
{
    const struct cap_crash *crash = &cap.crash;
    const EXCEPTION_RECORD *record = crash->pointers->ExceptionRecord;

    cap_crash_try_unwind_data();
    cap_crash_walk_begin(&suspect_walk, RECORD_WALKER_RTL, crash->thread_id);
    cap_crash_walk_rtl(crash->pointers->ContextRecord, NULL, crash->bounds, crash->captured_context,
                       &suspect_walk);
    cap_crash_record_begin(RECORD_KIND_CRASH, crash->thread_id, record, crash->hooks);
    cap_crash_record_modules();
    cap_crash_record_stack(&suspect_walk);
    cap_crash_record_timing(RECORD_STAGE_WALK, RECORD_WALKER_RTL, suspect_walk.walk_ns, 0);
    cap_crash_record_timing(RECORD_STAGE_RECORD_WRITE, 0,
                            cap_crash_now_ns() - suspect_walk.at_ns - suspect_walk.walk_ns,
                            cap.record_bytes);
    cap_crash_record_code_map();

    const uint32_t count = cap_crash_threads(threads, CAP_THREADS, crash->thread_id, cap.main_id);
    cap_crash_record_threads(threads, count);
    struct cap_subject subject = {
        .exception = crash->pointers,
        .seed = crash->pointers->ContextRecord,
        .thread_id = crash->thread_id,
        .bounds = crash->bounds,
        .seed_is_return = crash->captured_context,
        .can_run = crash->own_stack_usable,
        .no_backtrace = "no stack left to run on",
    };
    for (uint32_t i = 0; i < count; i++)
        if (threads[i].id == crash->thread_id)
            subject.thread = threads[i].handle;
    cap_crash_cheap_walkers(&subject);
    cap_crash_record_captures();
    if (cap_crash_dump(&subject, false, cap_crash_dump_limit_ms()) && cap.options.tuned_dump)
        cap_crash_dump(&subject, true, cap_crash_dump_limit_ms());
    cap_crash_late_walkers(&subject);

    if (crash->own_stack_usable) {
        SetEvent(cap.done);
        Sleep(HOST_LIMIT_MS);
    }
    TerminateProcess(GetCurrentProcess(), claimed_exit_code);
}
