/* Installing and uninstalling: everything that the crash path needs is opened, created and measured
 * here, while the program is healthy. */
#include "capture/cap.h"

#include <dbghelp.h>
#include <stddef.h>

enum {
    FLUSH_LIMIT_MS = 20000,
    /* Size of the options in version 1, before they grew. */
    CAPTURE_OPTIONS_FIRST_BYTES = offsetof(struct capture_options, keep_bytes) + sizeof(uint64_t),
};

/* A record that holds only the captures on demand. */
static void flush(void)
{
    static struct cap_thread threads[CAP_THREADS];
    const uint32_t count =
        cap_crash_threads(threads, CAP_THREADS, (uint32_t)cap.flush_for, cap.main_id);
    cap_crash_record_begin(RECORD_KIND_ON_DEMAND, (uint32_t)cap.flush_for, NULL, 0);
    cap_crash_record_modules();
    cap_crash_record_code_map();
    cap_crash_record_threads(threads, count);
    cap_crash_record_captures();
    for (uint32_t i = 0; i < count; i++)
        CloseHandle(threads[i].handle);
    InterlockedExchange(&cap.flush_for, 0);
    SetEvent(cap.flushed);
}

bool capture_flush(void)
{
    uint64_t asked, cost_ns, dearest_ns;
    const LONG me = (LONG)GetCurrentThreadId();
    if (!cap.installed || cap.crash.claimed_by != 0 ||
        !cap_crash_ring_totals(&asked, &cost_ns, &dearest_ns) ||
        InterlockedCompareExchange(&cap.flush_for, me, 0) != 0)
        return false;
    SetEvent(cap.go);
    return WaitForSingleObject(cap.flushed, FLUSH_LIMIT_MS) == WAIT_OBJECT_0;
}

static DWORD WINAPI monitor(void *argument)
{
    (void)argument;
    SetEvent(cap.thread_up);
    while (!cap.quitting) {
        WaitForSingleObject(cap.go, CAPTURE_POLL_MS);
        if (cap.crash.ready)
            cap_crash_take();
        if (cap.flush_for != 0)
            flush();
        cap_hang_check();
    }
    return 0;
}

/* Code range of an exported function: from its unwind data, else its first page. */
struct cap_bounds cap_code_of(const char *name)
{
    struct cap_bounds range = {0, 0};
    FARPROC function = GetProcAddress(GetModuleHandleW(L"ntdll.dll"), name);
    if (function == NULL)
        return range;
    range.low_va = (uintptr_t)function;
    range.high_va = range.low_va + 64;
#if defined(_WIN64)
    DWORD64 base = 0;
    const RUNTIME_FUNCTION *entry = RtlLookupFunctionEntry(range.low_va, &base, NULL);
    if (entry != NULL) {
        range.low_va = base + entry->BeginAddress;
        range.high_va = base + entry->EndAddress;
    }
#endif
    return range;
}

static bool start_monitor(void)
{
    DWORD id = 0;
    cap.go = CreateEventW(NULL, FALSE, FALSE, NULL);
    cap.done = CreateEventW(NULL, TRUE, FALSE, NULL);
    cap.flushed = CreateEventW(NULL, FALSE, FALSE, NULL);
    cap.walked = CreateEventW(NULL, TRUE, FALSE, NULL);
    cap.hang_over = CreateEventW(NULL, TRUE, TRUE, NULL);
    cap.thread_up = CreateEventW(NULL, FALSE, FALSE, NULL);
    if (cap.go == NULL || cap.done == NULL || cap.flushed == NULL || cap.walked == NULL ||
        cap.hang_over == NULL || cap.thread_up == NULL || !cap_runners_start())
        return false;
    cap.monitor = CreateThread(NULL, 0, monitor, NULL, 0, &id);
    cap.monitor_id = id;
    return cap.monitor != NULL && cap_wait_for_thread();
}

static bool uses_dbghelp(void)
{
    for (uint32_t i = 1; i < RECORD_WALKER_COUNT; i++)
        if ((cap_walkers[i].traits & RECORD_WALKER_TRAIT_DBGHELP) != 0 &&
            (cap.options.walkers == 0 || (cap.options.walkers & 1u << i) != 0))
            return true;
    return false;
}

void cap_start_clock(void)
{
    QueryPerformanceFrequency(&cap.frequency);
    QueryPerformanceCounter(&cap.installed_at);
}

/* Options may come from a host compiled with an older or newer version: the fields that both sides
 * know are used. */
static bool take_options(const struct capture_options *options)
{
    const uint32_t bytes = options->size < sizeof cap.options ? options->size : sizeof cap.options;
    if (options->version != CAPTURE_VERSION || options->size < CAPTURE_OPTIONS_FIRST_BYTES)
        return false;
    cap_crash_clear(&cap.options, sizeof cap.options);
    cap_crash_copy(&cap.options, options, bytes);
    return cap.options.folder != NULL;
}

bool capture_install(const struct capture_options *options)
{
    if (InterlockedExchange(&cap.installed, 1) != 0)
        return false;
    if (!take_options(options)) {
        InterlockedExchange(&cap.installed, 0);
        return false;
    }
    cap_files_limit();
    if (cap.options.from_outside)
        return cap_outside_start(&cap.options);
    cap_start_clock();
    cap.process = GetCurrentProcess();
    cap.process_id = GetCurrentProcessId();
    cap.writer = RECORD_WRITER_IN_PROCESS;
    cap.main_id = GetCurrentThreadId();
    cap.dispatcher = cap_code_of("KiUserExceptionDispatcher");
    cap.thread_start = cap_code_of("RtlUserThreadStart");
    if (!cap_files_open() || !cap_modules_start() || !cap_ring_start(cap.options.ring_bytes))
        return false;
    if (uses_dbghelp()) { /* before any other call of dbghelp, as the article says */
        SymSetOptions(SYMOPT_DEFERRED_LOADS | SYMOPT_UNDNAME | SYMOPT_LOAD_LINES);
        SymInitialize(GetCurrentProcess(), NULL, TRUE);
    }
    return start_monitor() && cap_doors_open();
}

void capture_uninstall(void)
{
    if (!cap.installed)
        return;
    if (cap_outside_pause())
        return; /* the watcher ends when this process ends */
    (void)capture_flush();
    cap_doors_close();
    InterlockedExchange(&cap.quitting, 1);
    SetEvent(cap.go);
    WaitForSingleObject(cap.monitor, INFINITE);
    cap_modules_stop();
    cap_files_close();
    InterlockedExchange(&cap.installed, 0);
}
