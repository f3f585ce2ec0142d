/* One test, one child process: this program again with "--here NAME". */
#include <stdio.h>
#include <stdlib.h>
#include <windows.h>

#include "isolate.h"

static DWORD CALLBACK end_late_test(void *seconds)
{
    Sleep((DWORD)(uintptr_t)seconds * 1000);
    TerminateProcess(GetCurrentProcess(), WAIT_TIMEOUT);
    return 0;
}

/* The first limit reached ends the test, so a test can only shorten its time here. */
void isolate_limit(unsigned seconds)
{
    HANDLE thread =
        CreateThread(NULL, 0, end_late_test, (void *)(uintptr_t)isolate_seconds(seconds), 0, NULL);
    if (thread)
        CloseHandle(thread);
}

/* A busy Wine refuses a start now and then (ERROR_INTERNAL_ERROR): such a start is tried again. */
static bool start_child(char *line, STARTUPINFOA *start, PROCESS_INFORMATION *child)
{
    enum { TRIES = 3, PAUSE_MS = 200 };
    for (int i = 1;; i++) {
        if (CreateProcessA(NULL, line, NULL, NULL, TRUE, 0, NULL, NULL, start, child))
            return true;
        if (i == TRIES || GetLastError() != ERROR_INTERNAL_ERROR)
            return false;
        Sleep(PAUSE_MS);
    }
}

int isolate_run(const struct test_case *test, isolate_body_fn *body, const char *program, char *why,
                size_t why_bytes)
{
    char line[1024];
    STARTUPINFOA start = {.cb = sizeof start};
    PROCESS_INFORMATION child;
    DWORD code = 0;

    (void)body; /* the child is this program again */
    why[0] = '\0';
    fflush(NULL);
    snprintf(line, sizeof line, "\"%s\" --here %s", program, test->name);
    if (!start_child(line, &start, &child)) {
        snprintf(why, why_bytes, "cannot start: error %lu", GetLastError());
        return ISOLATE_FAIL;
    }
    WaitForSingleObject(child.hProcess, INFINITE);
    GetExitCodeProcess(child.hProcess, &code);
    CloseHandle(child.hThread);
    CloseHandle(child.hProcess);
    if (code == ISOLATE_PASS || code == ISOLATE_FAIL || code == ISOLATE_SKIP)
        return (int)code;
    if (code == WAIT_TIMEOUT)
        snprintf(why, why_bytes, "time limit");
    else
        snprintf(why, why_bytes, "exit status 0x%08lx", code);
    return ISOLATE_FAIL;
}

void isolate_clock(char **argv)
{
    (void)argv; /* no such library is known here */
}

bool isolate_folder(char *out, size_t out_bytes)
{
    char root[MAX_PATH];
    if (!GetTempPathA(sizeof root, root))
        return false;
    snprintf(out, out_bytes, "%stwinstack-test-%lu-%llu", root, GetCurrentProcessId(),
             GetTickCount64());
    return CreateDirectoryA(out, NULL) != 0;
}

void isolate_environment(const char *name, const char *value)
{
    (void)_putenv_s(name, value != NULL ? value : "");
}
