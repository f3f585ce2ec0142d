#include <wchar.h>

#include "victims/victim.h"

static HANDLE record;

static bool open_record(void)
{
    static wchar_t path[VICTIM_PATH_UNITS + 16];
    const DWORD units = GetEnvironmentVariableW(TRUTH_OUT_VARIABLE, path, VICTIM_PATH_UNITS);
    if (units == 0 || units >= VICTIM_PATH_UNITS)
        return false;
    wcscpy(path + units, L"\\record.rec");
    record = CreateFileW(path, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                         NULL, OPEN_EXISTING, 0, NULL);
    return record != INVALID_HANDLE_VALUE;
}

/* Crashes once the record of the hang has been begun: the worker was stopped meanwhile, so that is
 * as soon as it runs again, with the capture still at work. */
static int watch_record(void)
{
    LARGE_INTEGER size = {0};
    /* clang-format off */
    HERE_BLOCK(while (size.QuadPart == 0) { GetFileSizeEx(record, &size); Sleep(10); } size.LowPart = (DWORD)*victim_null;);
    /* clang-format on */
    return (int)size.LowPart;
}

static DWORD WINAPI worker(void *argument)
{
    (void)argument;
    truth_thread("worker", false);
    return (DWORD)HERE(watch_record()) + 1;
}

SCENARIO(crash_meanwhile, .kind = KIND_HANG, .group = "A4",
         .sentence = "Another thread crashes while a hang is being captured: the first record, "
                     "that of the hang, stays whole.")
{
    if (open_record())
        CloseHandle(CreateThread(NULL, 0, worker, NULL, 0, NULL));
    victim_ready();
    return HERE_SYSTEM((Sleep(INFINITE), 1)) + 1;
}
