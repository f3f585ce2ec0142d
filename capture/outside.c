/* The capture from outside: no hook is installed here.  A watcher process, started from the
 * program's folder, takes record and dump; this process only shares its heartbeat, in memory. */
#include <wchar.h>

#include "capture/cap.h"
#include "capture/watcher/beat.h"

enum { PATH_UNITS = 1024, ATTACH_LIMIT_MS = 60000 };

#if defined(_WIN64)
#define WATCHER L"twinstack-watch.exe"
#else
#define WATCHER L"twinstack-watch-x86.exe"
#endif

static struct watch_beat *beat; /* NULL: no watcher */

static bool share_beat(const struct capture_options *options)
{
    wchar_t name[64];
    swprintf(name, 64, WATCH_BEAT_NAME, GetCurrentProcessId());
    HANDLE mapping =
        CreateFileMappingW(INVALID_HANDLE_VALUE, NULL, PAGE_READWRITE, 0, sizeof *beat, name);
    beat = mapping != NULL ? MapViewOfFile(mapping, FILE_MAP_WRITE, 0, 0, sizeof *beat) : NULL;
    if (beat == NULL)
        return false;
    beat->hang_ms = (LONG)options->hang_ms;
    beat->end_after_hang = options->end_after_hang;
    return true;
}

static bool watcher_path(wchar_t path[PATH_UNITS])
{
    const DWORD units = GetModuleFileNameW(NULL, path, PATH_UNITS - 32);
    wchar_t *name = units > 0 ? wcsrchr(path, L'\\') : NULL;
    if (name == NULL)
        return false;
    wcscpy(name + 1, WATCHER);
    return true;
}

/* Waits until the watcher has attached or given up. */
bool cap_outside_start(const struct capture_options *options)
{
    wchar_t path[PATH_UNITS], command[2 * PATH_UNITS], name[64];
    STARTUPINFOW startup = {.cb = sizeof startup};
    PROCESS_INFORMATION watcher;

    swprintf(name, 64, WATCH_EVENT_NAME, GetCurrentProcessId());
    HANDLE attached = CreateEventW(NULL, TRUE, FALSE, name);
    swprintf(command, 2 * PATH_UNITS, L"twinstack-watch %lu \"%ls\"", GetCurrentProcessId(),
             options->folder);
    if (attached == NULL || !share_beat(options) || !watcher_path(path) ||
        !CreateProcessW(path, command, NULL, NULL, FALSE, 0, NULL, NULL, &startup, &watcher))
        return false;
    HANDLE either[2] = {attached, watcher.hProcess};
    const bool ok = WaitForMultipleObjects(2, either, FALSE, ATTACH_LIMIT_MS) == WAIT_OBJECT_0;
    CloseHandle(watcher.hThread);
    CloseHandle(watcher.hProcess);
    CloseHandle(attached);
    return ok;
}

bool cap_outside_beat(void)
{
    LARGE_INTEGER now;
    if (beat == NULL)
        return false;
    QueryPerformanceCounter(&now);
    if (beat->thread_id == 0)
        beat->thread_id = (LONG)GetCurrentThreadId();
    InterlockedExchange64(&beat->ticks, now.QuadPart);
    return true;
}

bool cap_outside_pause(void)
{
    if (beat != NULL)
        InterlockedExchange64(&beat->ticks, 0);
    return beat != NULL;
}
