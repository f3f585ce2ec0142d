/* A crash reporter with a deliberate fault, selected by PORT_FAULT, for test_port.py:
 *   drop_top          forgets the innermost frame
 *   absolute          addresses without modules
 *   handler_context   walks from its own handler instead of from the exception
 *   no_dump           writes stack.txt but no dump.dmp
 *   none              no fault
 * It implements capture/capture_port.h for crashes only, and writes stack.txt and dump.dmp. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include <windows.h>

#include "capture/capture_port.h"

#include <dbghelp.h>

enum { PATH_UNITS = 1024, FRAMES = 256 };

static wchar_t folder[PATH_UNITS];
static char fault[32];

static bool is_fault(const char *name)
{
    return strcmp(fault, name) == 0;
}

static void open_path(const wchar_t *name, wchar_t path[PATH_UNITS + 32])
{
    swprintf(path, PATH_UNITS + 32, L"%ls\\%ls", folder, name);
}

static void print_frame(FILE *to, uint64_t pc)
{
    char path[MAX_PATH];
    HMODULE module = NULL;
    if (is_fault("absolute") ||
        !GetModuleHandleExA(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS |
                                GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT,
                            (const char *)(uintptr_t)pc, &module) ||
        GetModuleFileNameA(module, path, sizeof path) == 0) {
        fprintf(to, "?!0x%llX\n", (unsigned long long)pc);
        return;
    }
    fprintf(to, "%s!0x%llX\n", strrchr(path, '\\') + 1,
            (unsigned long long)(pc - (uintptr_t)module));
}

static void print_stack(FILE *to, CONTEXT context)
{
    const uint64_t end = (uintptr_t)((NT_TIB *)NtCurrentTeb())->StackBase;
    for (int i = 0; i < FRAMES && context.Rip != 0 && context.Rsp < end; i++) {
        DWORD64 base = 0, establisher = 0;
        void *data = NULL;
        const bool is_return = i > 0 || is_fault("handler_context");
        if (i > 0 || !is_fault("drop_top"))
            print_frame(to, context.Rip);
        RUNTIME_FUNCTION *function = RtlLookupFunctionEntry(context.Rip - is_return, &base, NULL);
        if (function != NULL) {
            RtlVirtualUnwind(UNW_FLAG_NHANDLER, base, context.Rip, function, &context, &data,
                             &establisher, NULL);
        } else {
            context.Rip = *(const uint64_t *)(uintptr_t)context.Rsp;
            context.Rsp += 8;
        }
    }
}

static LONG WINAPI on_unhandled(EXCEPTION_POINTERS *pointers)
{
    MINIDUMP_EXCEPTION_INFORMATION who = {
        .ThreadId = GetCurrentThreadId(), .ExceptionPointers = pointers, .ClientPointers = FALSE};
    wchar_t path[PATH_UNITS + 32];
    CONTEXT context = *pointers->ContextRecord;
    if (is_fault("handler_context"))
        RtlCaptureContext(&context);
    open_path(L"stack.txt", path);
    FILE *text = _wfopen(path, L"wb");
    if (text != NULL) {
        fprintf(text, "> thread %lu\n", GetCurrentThreadId());
        print_stack(text, context);
        fclose(text);
    }
    if (is_fault("no_dump"))
        TerminateProcess(GetCurrentProcess(), pointers->ExceptionRecord->ExceptionCode);
    open_path(L"dump.dmp", path);
    HANDLE dump = CreateFileW(path, GENERIC_READ | GENERIC_WRITE, 0, NULL, CREATE_ALWAYS, 0, NULL);
    MiniDumpWriteDump(GetCurrentProcess(), GetCurrentProcessId(), dump, MiniDumpNormal, &who, NULL,
                      NULL);
    CloseHandle(dump);
    TerminateProcess(GetCurrentProcess(), pointers->ExceptionRecord->ExceptionCode);
    return EXCEPTION_EXECUTE_HANDLER;
}

bool capture_install(const struct capture_options *options)
{
    const char *name = getenv("PORT_FAULT");
    snprintf(fault, sizeof fault, "%s", name != NULL ? name : "none");
    swprintf(folder, PATH_UNITS, L"%ls", options->folder);
    SetUnhandledExceptionFilter(on_unhandled);
    return true;
}

void capture_uninstall(void)
{
    SetUnhandledExceptionFilter(NULL);
}

void capture_heartbeat(void)
{
}

void capture_heartbeat_pause(void)
{
}

bool capture_register_code(const char *name, const void *start, uint64_t bytes)
{
    (void)name, (void)start, (void)bytes;
    return false;
}

bool capture_now(const char *label)
{
    (void)label;
    return false;
}

bool capture_flush(void)
{
    return false;
}

void capture_on_terminate(void)
{
    abort();
}
