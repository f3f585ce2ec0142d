/* Installing and uninstalling: everything that the crash path needs is opened, created and measured
 * here, while the program is healthy.
 *
 * Both may come in any order and from any thread, so they take turns.  The hooks never wait for
 * that.  A thread that is in a hook while the hooks are removed is either captured, which ends the
 * process, or goes on as if there had been no hook: cap.crash.claimed_by decides. */
#include "capture/cap.h"

#include <dbghelp.h>
#include <stddef.h>
#include <string.h>
#include <wchar.h>

enum {
    FLUSH_LIMIT_MS = 20000,
    FOLDER_UNITS = 1024,
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
    if (!cap.installed || cap.crash.claimed_by != CAP_OPEN ||
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
    while (InterlockedCompareExchange(&cap.crash.claimed_by, CAP_CLOSED, CAP_OPEN) != CAP_OPEN) {
        if (cap.crash.ready) /* a thread came first */
            cap_crash_take();
        Sleep(1);
    }
    return 0;
}

/* Code range of an exported function: from its unwind data, else X86_BYTES of it. */
struct cap_bounds cap_code_of(const char *name, uint32_t x86_bytes)
{
    struct cap_bounds range = {0, 0};
    FARPROC function = GetProcAddress(GetModuleHandleW(L"ntdll.dll"), name);
    if (function == NULL)
        return range;
    range.low_va = (uintptr_t)function;
    range.high_va = range.low_va + x86_bytes;
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

/* The section CAP_OWN_SECTION of the image that the capture is linked into. */
static struct cap_bounds own_code(void)
{
    struct cap_bounds none = {0, 0};
    HMODULE image = NULL;
    if (!GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS |
                                GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT,
                            (const wchar_t *)(uintptr_t)capture_on_terminate, &image))
        return none;
    const uint64_t base_va = (uintptr_t)image;
    const IMAGE_NT_HEADERS *headers =
        (const IMAGE_NT_HEADERS *)(base_va + (uint32_t)((const IMAGE_DOS_HEADER *)image)->e_lfanew);
    const IMAGE_SECTION_HEADER *section = IMAGE_FIRST_SECTION(headers);
    for (uint32_t i = 0; i < headers->FileHeader.NumberOfSections; i++, section++)
        if (memcmp(section->Name, CAP_OWN_SECTION, sizeof section->Name) == 0)
            return (struct cap_bounds){base_va + section->VirtualAddress,
                                       base_va + section->VirtualAddress +
                                           section->Misc.VirtualSize};
    return none;
}

static bool start_monitor(void)
{
    DWORD id = 0;
    if (!cap_event(&cap.go, false) || !cap_event(&cap.done, true) ||
        !cap_event(&cap.flushed, false) || !cap_event(&cap.walked, true) ||
        !cap_event(&cap.hang_over, true) || !cap_event(&cap.never, true) ||
        !cap_event(&cap.held, false) || !cap_event(&cap.release, true) ||
        !cap_event(&cap.thread_up, false) || !cap_runners_start())
        return false;
    cap.quitting = 0;
    cap.crash.ready = 0;
    cap.watched_id = 0;
    cap.beat_ns = 0;
    InterlockedExchange(&cap.crash.claimed_by, CAP_OPEN);
    cap.monitor = CreateThread(NULL, 0, monitor, NULL, 0, &id);
    cap.monitor_id = id;
    return cap.monitor != NULL && cap_wait_for_thread();
}

static void stop_monitor(void)
{
    if (cap.monitor != NULL) {
        InterlockedExchange(&cap.quitting, 1);
        SetEvent(cap.go);
        WaitForSingleObject(cap.monitor, INFINITE);
        CloseHandle(cap.monitor);
    }
    cap.monitor = NULL;
    cap.monitor_id = 0;
    InterlockedExchange(&cap.crash.claimed_by, CAP_CLOSED);
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
    static wchar_t folder[FOLDER_UNITS];
    const uint32_t bytes = options->size < sizeof cap.options ? options->size : sizeof cap.options;
    if (options->version != CAPTURE_VERSION || options->size < CAPTURE_OPTIONS_FIRST_BYTES)
        return false;
    cap_crash_clear(&cap.options, sizeof cap.options);
    cap_crash_copy(&cap.options, options, bytes);
    if (options->folder == NULL || wcslen(options->folder) >= FOLDER_UNITS)
        return false;
    wcscpy(folder, options->folder); /* needed again after a hang */
    cap.options.folder = folder;
    return true;
}

static bool set_up(void)
{
    if (cap.frequency.QuadPart == 0) /* times count from the first installation */
        cap_start_clock();
    cap.process = GetCurrentProcess();
    cap.process_id = GetCurrentProcessId();
    cap.writer = RECORD_WRITER_IN_PROCESS;
    cap.main_id = GetCurrentThreadId();
    cap.dispatcher = cap_code_of("KiUserExceptionDispatcher", CAP_X86_DISPATCHER);
    cap.thread_start = cap_code_of("RtlUserThreadStart", CAP_X86_THREAD_START);
    cap.own_code = own_code();
    if (!cap_files_open() || !cap_modules_start() || !cap_ring_start(cap.options.ring_bytes))
        return false;
    if (uses_dbghelp()) { /* before any other call of dbghelp, as the article says */
        SymSetOptions(SYMOPT_DEFERRED_LOADS | SYMOPT_UNDNAME | SYMOPT_LOAD_LINES);
        SymInitialize(GetCurrentProcess(), NULL, TRUE);
    }
    return start_monitor() && cap_hooks_open();
}

/* Undoes what set_up() did, also if that stopped halfway. */
static void take_down(void)
{
    cap_hooks_close();
    stop_monitor();
    cap_runners_stop();
    cap_modules_stop();
    cap_ring_stop();
    cap_files_close();
}

static SRWLOCK changing = SRWLOCK_INIT;

bool capture_install(const struct capture_options *options)
{
    bool ok = false;
    AcquireSRWLockExclusive(&changing);
    if (!cap.installed && take_options(options)) {
        cap_files_limit();
        if (cap.options.from_outside)
            ok = cap_outside_start(&cap.options);
        else if (!(ok = set_up()))
            take_down();
        InterlockedExchange(&cap.installed, ok);
    }
    ReleaseSRWLockExclusive(&changing);
    return ok;
}

void capture_uninstall(void)
{
    if (cap.crash.claimed_by == (LONG)GetCurrentThreadId())
        return; /* the host's own crash handler: the capture is not over */
    AcquireSRWLockExclusive(&changing);
    if (cap.installed && !cap_outside_pause()) { /* a watcher ends when this process ends */
        (void)capture_flush();
        InterlockedExchange(&cap.installed, 0);
        take_down();
    }
    ReleaseSRWLockExclusive(&changing);
}
