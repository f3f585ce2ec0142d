/* twinstack-watch PID FOLDER: watches a process from outside, debugger-style, and writes record and
 * dump for crashes that no hook inside the process sees: fail-fast, a handler that was replaced, a
 * hang with the heap or the loader locked. Signals the process's event (beat.h) once it is
 * attached, and checks its heartbeat, if it shares one.
 *
 * A second-chance exception stops the process, and for a hang every thread is stopped here, so
 * everything is read at one moment while nothing in it runs. `rtl` walks only its own process; from
 * here dbghelp walks. */
#include <stdlib.h>
#include <wchar.h>

#include "capture/cap.h"
#include "capture/watcher/beat.h"

#include <dbghelp.h>
#include <psapi.h>

enum { EXIT_USAGE = 2, EXIT_NOT_ATTACHED = 3, QUIET_MS = 300, ARGUMENTS = 3 };

static struct cap_thread threads[CAP_THREADS];
static bool stopped[CAP_THREADS];
static uint32_t thread_count;
static const struct watch_beat *beat; /* NULL: the process shares none */
static bool taken;

static void add_module(void *base, HANDLE file)
{
    enum { ROOM = 1024, PREFIX = 4 /* of \\?\C:\... */ };
    static wchar_t room[ROOM];
    wchar_t *path = room;
    DWORD units = K32GetModuleFileNameExW(cap.process, base, room, ROOM);
    if (units == 0 && file != NULL) { /* being loaded and not yet in the loader's lists */
        units = GetFinalPathNameByHandleW(file, room, ROOM, 0);
        units = units > PREFIX && units < ROOM ? units - PREFIX : 0;
        path = room + PREFIX;
    }
    cap_modules_add((uintptr_t)base, 0, path, units, cap_crash_now_ns());
    if (file != NULL)
        CloseHandle(file);
}

/* The suspect comes first. False: the thread is gone. */
static bool list_threads(uint32_t suspect_id)
{
    thread_count = cap_crash_threads(threads, CAP_THREADS, suspect_id, cap.main_id);
    for (uint32_t i = 1; i < thread_count; i++) {
        if (threads[i].id == suspect_id) {
            const struct cap_thread first = threads[0];
            threads[0] = threads[i];
            threads[i] = first;
        }
    }
    return thread_count > 0 && threads[0].id == suspect_id;
}

static void close_threads(void)
{
    for (uint32_t i = 0; i < thread_count; i++)
        CloseHandle(threads[i].handle);
}

static void start_dbghelp(void)
{
    SymSetOptions(SYMOPT_DEFERRED_LOADS | SYMOPT_UNDNAME | SYMOPT_LOAD_LINES);
    SymInitialize(cap.process, NULL, TRUE);
}

static void write_walk(uint32_t i, const CONTEXT *context)
{
    static struct cap_walk walk;
    if (i == 0) {
        cap_crash_walk_begin(&walk, RECORD_WALKER_RTL, threads[i].id);
        cap_crash_walk_not(&walk, RECORD_STATE_NOT_APPLICABLE, "walks only its own process");
        cap_crash_record_stack(&walk);
    }
    cap_crash_walk_begin(&walk, RECORD_WALKER_DBGHELP, threads[i].id);
    cap_walk_dbghelp(context, threads[i].handle, threads[i].bounds, false, &walk);
    cap_crash_record_stack(&walk);
    if (i == 0)
        cap_crash_record_timing(RECORD_STAGE_WALK, RECORD_WALKER_DBGHELP, walk.walk_ns, 0);
}

static void write_dump(EXCEPTION_POINTERS *pointers)
{
    uint64_t bytes = 0, ns = 0;
    if (cap_dump_write(cap.dump, pointers, threads[0].id, false, &bytes, &ns) == 0)
        cap_crash_record_timing(RECORD_STAGE_DUMP_WRITE, 0, ns, bytes);
}

/* ---- a crash: the debug event keeps the process stopped ---- */

static void take_crash(uint32_t thread_id, EXCEPTION_RECORD *record)
{
    CONTEXT context = {.ContextFlags = CONTEXT_FULL};
    EXCEPTION_POINTERS pointers = {record, &context};
    if (!list_threads(thread_id) || !GetThreadContext(threads[0].handle, &context))
        return;
    taken = true;
    start_dbghelp();
    cap_crash_record_begin(RECORD_KIND_CRASH, thread_id, record, RECORD_HOOK_WATCHER);
    cap_crash_record_modules();
    cap_crash_record_threads(threads, thread_count);
    write_walk(0, &context);
    write_dump(&pointers);
    close_threads();
}

/* ---- a hang ---- */

static bool stop_thread(uint32_t i, CONTEXT *context)
{
    stopped[i] = SuspendThread(threads[i].handle) != (DWORD)-1;
    context->ContextFlags = CONTEXT_FULL;
    return stopped[i] && GetThreadContext(threads[i].handle, context);
}

/* Returns how many threads could not be resumed. */
static uint32_t resume_all(void)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < thread_count; i++) {
        left += stopped[i] && ResumeThread(threads[i].handle) == (DWORD)-1;
        stopped[i] = false;
    }
    return left;
}

static void take_hang(LONG64 ticks, uint64_t late_ns)
{
    static CONTEXT contexts[CAP_THREADS];
    static bool walkable[CAP_THREADS];
    start_dbghelp(); /* takes the longest, so it runs before any thread is suspended */
    if (!list_threads((uint32_t)beat->thread_id)) {
        close_threads();
        return;
    }
    const uint64_t start_ns = cap_crash_now_ns();
    /* If this program were killed now, no other one could resume the threads. So the process that
     * hangs ends with it. */
    DebugSetProcessKillOnExit(TRUE);
    for (uint32_t i = 0; i < thread_count; i++)
        walkable[i] = stop_thread(i, &contexts[i]);
    const uint64_t suspend_ns = cap_crash_now_ns() - start_ns;
    taken = walkable[0] && beat->ticks == ticks; /* otherwise the thread continued in time */
    if (taken) {
        cap_crash_record_begin(RECORD_KIND_HANG, threads[0].id, NULL, RECORD_HOOK_WATCHER);
        cap_crash_record_modules();
        cap_crash_record_threads(threads, thread_count);
        for (uint32_t i = 0; i < thread_count; i++)
            if (walkable[i])
                write_walk(i, &contexts[i]);
        cap_crash_record_timing(RECORD_STAGE_SUSPEND, 0, suspend_ns, 0);
        cap_crash_record_timing(RECORD_STAGE_HANG_FOUND, 0, late_ns, 0);
        write_dump(NULL);
    }
    const uint64_t dump_ns = cap_crash_now_ns() - start_ns;
    const uint32_t left = resume_all();
    DebugSetProcessKillOnExit(FALSE);
    close_threads();
    if (!taken)
        return;
    cap_crash_record_stops(&(struct cap_stops){.dump_ns = dump_ns}, 1, left);
    if (beat->end_after_hang)
        TerminateProcess(cap.process, CAPTURE_EXIT_HANG);
}

static void check_beat(void)
{
    LARGE_INTEGER now;
    const LONG64 ticks = beat != NULL ? beat->ticks : 0;
    if (taken || ticks == 0 || beat->hang_ms == 0)
        return;
    QueryPerformanceCounter(&now);
    const int64_t late_ms = (now.QuadPart - ticks) * 1000 / cap.frequency.QuadPart - beat->hang_ms;
    if (late_ms >= 0)
        take_hang(ticks, (uint64_t)late_ms * 1000000u);
}

/* ---- events ---- */

/* Returns how to continue after the event. */
static DWORD on_exception(const DEBUG_EVENT *event)
{
    EXCEPTION_DEBUG_INFO info = event->u.Exception;
    static bool greeted; /* attaching itself raises one breakpoint */
    if (info.dwFirstChance && info.ExceptionRecord.ExceptionCode == EXCEPTION_BREAKPOINT &&
        !greeted) {
        greeted = true;
        return DBG_CONTINUE;
    }
    if (!info.dwFirstChance && !taken)
        take_crash(event->dwThreadId, &info.ExceptionRecord);
    return DBG_EXCEPTION_NOT_HANDLED;
}

/* Returns false when the process has ended. */
static bool on_event(const DEBUG_EVENT *event)
{
    DWORD how = DBG_CONTINUE;
    switch (event->dwDebugEventCode) {
    case CREATE_PROCESS_DEBUG_EVENT:
        cap.process = event->u.CreateProcessInfo.hProcess;
        cap.main_id = event->dwThreadId;
        add_module(event->u.CreateProcessInfo.lpBaseOfImage, event->u.CreateProcessInfo.hFile);
        break;
    case LOAD_DLL_DEBUG_EVENT:
        add_module(event->u.LoadDll.lpBaseOfDll, event->u.LoadDll.hFile);
        break;
    case UNLOAD_DLL_DEBUG_EVENT:
        cap_modules_remove((uintptr_t)event->u.UnloadDll.lpBaseOfDll);
        break;
    case EXCEPTION_DEBUG_EVENT:
        how = on_exception(event);
        break;
    default:
        break;
    }
    ContinueDebugEvent(event->dwProcessId, event->dwThreadId, how);
    return event->dwDebugEventCode != EXIT_PROCESS_DEBUG_EVENT;
}

static const struct watch_beat *open_beat(void)
{
    wchar_t name[64];
    swprintf(name, 64, WATCH_BEAT_NAME, (unsigned long)cap.process_id);
    HANDLE mapping = OpenFileMappingW(FILE_MAP_READ, FALSE, name);
    return mapping != NULL ? MapViewOfFile(mapping, FILE_MAP_READ, 0, 0, sizeof *beat) : NULL;
}

int wmain(int argc, wchar_t **argv)
{
    DEBUG_EVENT event;
    wchar_t name[64];
    if (argc != ARGUMENTS)
        return EXIT_USAGE;
    cap.process_id = (uint32_t)wcstoul(argv[1], NULL, 10);
    cap.options.folder = argv[2];
    cap.writer = RECORD_WRITER_WATCHER;
    cap_start_clock();
    cap.thread_start = cap_code_of("RtlUserThreadStart", CAP_X86_THREAD_START);
    swprintf(name, 64, WATCH_EVENT_NAME, (unsigned long)cap.process_id);
    HANDLE attached = OpenEventW(EVENT_MODIFY_STATE, FALSE, name);
    beat = open_beat();
    if (attached == NULL || !cap_files_open() || !DebugActiveProcess(cap.process_id))
        return EXIT_NOT_ATTACHED;
    DebugSetProcessKillOnExit(FALSE);

    /* The system first reports what is already loaded; a period without events ends that. */
    while (WaitForDebugEvent(&event, QUIET_MS))
        if (!on_event(&event))
            return 0;
    SetEvent(attached);
    for (;;) {
        if (WaitForDebugEvent(&event, CAPTURE_POLL_MS)) {
            if (!on_event(&event))
                return 0;
        } else if (GetLastError() != ERROR_SEM_TIMEOUT) {
            return EXIT_NOT_ATTACHED;
        }
        check_beat();
    }
}
