/* twinstack-watch PID FOLDER EVENT: watches a process from outside, debugger-style, and takes
 * record and dump of what no hook inside sees: fail-fast, or a handler that was replaced.
 * Signals EVENT once it is attached.
 *
 * A second-chance exception stops the process, so everything is read at one moment and
 * nothing runs in it.  `rtl` walks only its own process; from here dbghelp walks. */
#include <stdlib.h>
#include <wchar.h>

#include "capture/cap.h"

#include <dbghelp.h>
#include <psapi.h>

enum { EXIT_USAGE = 2, EXIT_NOT_ATTACHED = 3, QUIET_MS = 300, ARGUMENTS = 4 };

static struct cap_thread threads[CAP_THREADS];
static uint32_t thread_count;
static bool taken;

static void add_thread(uint32_t id, HANDLE handle)
{
    if (thread_count == CAP_THREADS)
        return;
    threads[thread_count].id = id;
    threads[thread_count].handle = handle;
    threads[thread_count].flags = thread_count == 0 ? RECORD_THREAD_MAIN : 0u;
    thread_count++;
}

static void add_module(void *base)
{
    static wchar_t path[1024];
    DWORD units = K32GetModuleFileNameExW(cap.process, base, path, sizeof path / sizeof path[0]);
    cap_modules_add((uintptr_t)base, 0, path, units, cap_crash_now_ns());
}

static void write_stacks(uint32_t thread_id, HANDLE thread, const CONTEXT *context)
{
    static struct cap_walk walk;
    cap_crash_walk_begin(&walk, RECORD_WALKER_RTL, thread_id);
    cap_crash_walk_not(&walk, RECORD_STATE_NOT_APPLICABLE, "walks only its own process");
    cap_crash_record_stack(&walk);
    cap_crash_walk_begin(&walk, RECORD_WALKER_DBGHELP, thread_id);
    SymSetOptions(SYMOPT_DEFERRED_LOADS | SYMOPT_UNDNAME | SYMOPT_LOAD_LINES);
    if (SymInitialize(cap.process, NULL, TRUE))
        cap_walk_dbghelp(context, thread, false, &walk);
    else
        cap_crash_walk_not(&walk, RECORD_STATE_FAULTED, "SymInitialize failed");
    cap_crash_record_stack(&walk);
    cap_crash_record_timing(RECORD_STAGE_WALK, RECORD_WALKER_DBGHELP, walk.walk_ns, 0);
}

static void take(uint32_t thread_id, EXCEPTION_RECORD *record)
{
    CONTEXT context = {.ContextFlags = CONTEXT_FULL};
    EXCEPTION_POINTERS pointers = {record, &context};
    HANDLE thread = NULL;
    uint64_t bytes = 0, ns = 0;
    for (uint32_t i = 0; i < thread_count; i++)
        if (threads[i].id == thread_id) {
            thread = threads[i].handle;
            threads[i].flags |= RECORD_THREAD_SUSPECT;
        }
    if (thread == NULL || !GetThreadContext(thread, &context))
        return;
    taken = true;
    cap_crash_record_begin(RECORD_KIND_CRASH, thread_id, record, RECORD_DOOR_WATCHER);
    cap_crash_record_modules();
    cap_crash_record_threads(threads, thread_count);
    write_stacks(thread_id, thread, &context);
    if (cap_dump_write(cap.dump, &pointers, thread_id, false, &bytes, &ns))
        cap_crash_record_timing(RECORD_STAGE_DUMP_WRITE, 0, ns, bytes);
}

/* Returns how the event is to be continued. */
static DWORD on_exception(const DEBUG_EVENT *event)
{
    EXCEPTION_DEBUG_INFO info = event->u.Exception;
    static bool greeted; /* attaching makes one breakpoint of its own */
    if (info.dwFirstChance && info.ExceptionRecord.ExceptionCode == EXCEPTION_BREAKPOINT &&
        !greeted) {
        greeted = true;
        return DBG_CONTINUE;
    }
    if (!info.dwFirstChance && !taken)
        take(event->dwThreadId, &info.ExceptionRecord);
    return DBG_EXCEPTION_NOT_HANDLED;
}

/* Returns false when the process has ended. */
static bool on_event(const DEBUG_EVENT *event)
{
    DWORD how = DBG_CONTINUE;
    switch (event->dwDebugEventCode) {
    case CREATE_PROCESS_DEBUG_EVENT:
        cap.process = event->u.CreateProcessInfo.hProcess;
        add_thread(event->dwThreadId, event->u.CreateProcessInfo.hThread);
        add_module(event->u.CreateProcessInfo.lpBaseOfImage);
        break;
    case CREATE_THREAD_DEBUG_EVENT:
        add_thread(event->dwThreadId, event->u.CreateThread.hThread);
        break;
    case LOAD_DLL_DEBUG_EVENT:
        add_module(event->u.LoadDll.lpBaseOfDll);
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

int wmain(int argc, wchar_t **argv)
{
    DEBUG_EVENT event;
    if (argc != ARGUMENTS)
        return EXIT_USAGE;
    cap.options.folder = argv[2];
    cap.process_id = (uint32_t)wcstoul(argv[1], NULL, 10);
    cap.writer = RECORD_WRITER_WATCHER;
    cap_start_clock();
    cap.thread_start = cap_code_of("RtlUserThreadStart");
    HANDLE attached = OpenEventW(EVENT_MODIFY_STATE, FALSE, argv[3]);
    if (attached == NULL || !cap_open_files() || !DebugActiveProcess(cap.process_id))
        return EXIT_NOT_ATTACHED;
    DebugSetProcessKillOnExit(FALSE);

    /* What is there already is told first; after a while of quiet that was all. */
    while (WaitForDebugEvent(&event, QUIET_MS))
        if (!on_event(&event))
            return 0;
    SetEvent(attached);
    while (WaitForDebugEvent(&event, INFINITE))
        if (!on_event(&event))
            return 0;
    return EXIT_NOT_ATTACHED;
}
