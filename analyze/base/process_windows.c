/* process.h on Windows. The child lives in a job object, so that the time limit and an interrupt
 * also end every process that it started. */
#include "base/process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

#include "base/files.h"
#include "base/text.h"
#include "base/thread.h"

enum { WIDE_LINE = 32768, READ_BLOCK = 65536 };

static volatile LONG interrupted;

static BOOL WINAPI on_interrupt(DWORD event)
{
    (void)event;
    (void)InterlockedExchange(&interrupted, 1);
    return TRUE;
}

void process_catch_interrupts(void)
{
    (void)SetConsoleCtrlHandler(on_interrupt, TRUE);
}

bool process_interrupted(void)
{
    return interrupted != 0;
}

char *process_find(const char *name, struct arena *keep)
{
    wchar_t wide[MAX_PATH], found[MAX_PATH];
    char path[MAX_PATH * 3];

    if (MultiByteToWideChar(CP_UTF8, 0, name, -1, wide, MAX_PATH) == 0 ||
        SearchPathW(NULL, wide, L".exe", MAX_PATH, found, NULL) == 0 ||
        WideCharToMultiByte(CP_UTF8, 0, found, -1, path, sizeof path, NULL, NULL) == 0)
        return NULL;
    return arena_string(keep, path);
}

/* Quotes one argument for CommandLineToArgvW: backslashes are doubled only before a quote. */
static char *quote_word(struct arena *keep, const char *line, const char *word)
{
    char *out = arena_alloc(keep, strlen(line) + strlen(word) * 2 + 4);
    size_t n = 0, slashes = 0;

    if (out == NULL)
        return NULL;
    n = strlen(line);
    memcpy(out, line, n);
    if (n > 0)
        out[n++] = ' ';
    out[n++] = '"';
    for (const char *p = word; *p != '\0'; p++) {
        if (*p == '"') {
            memset(out + n, '\\', slashes + 1);
            n += slashes + 1;
        }
        slashes = *p == '\\' ? slashes + 1 : 0;
        out[n++] = *p;
    }
    memset(out + n, '\\', slashes);
    n += slashes;
    out[n++] = '"';
    out[n] = '\0';
    return out;
}

struct pump {
    HANDLE pipe;
    char *text;
    size_t bytes, room, max;
    bool cut;
};

static void pump_add(struct pump *p, const char *block, size_t bytes)
{
    if (bytes > p->max - p->bytes) {
        bytes = p->max - p->bytes;
        p->cut = true;
    }
    if (p->room - p->bytes < bytes) {
        char *wider = realloc(p->text, (p->room + bytes) * 2);
        if (wider == NULL) {
            p->cut = true;
            return;
        }
        p->text = wider;
        p->room = (p->room + bytes) * 2;
    }
    if (bytes > 0)
        memcpy(p->text + p->bytes, block, bytes);
    p->bytes += bytes;
}

static void pump_read(void *context)
{
    struct pump *p = context;
    char *block = malloc(READ_BLOCK);
    DWORD got = 0;

    while (block != NULL && ReadFile(p->pipe, block, READ_BLOCK, &got, NULL) && got > 0)
        pump_add(p, block, got);
    free(block);
}

struct feed {
    HANDLE pipe;
    const char *at;
    size_t left;
};

static void feed_write(void *context)
{
    struct feed *f = context;
    DWORD put = 0;

    while (
        f->left > 0 &&
        WriteFile(f->pipe, f->at, f->left > READ_BLOCK ? READ_BLOCK : (DWORD)f->left, &put, NULL)) {
        f->at += put;
        f->left -= put;
    }
    (void)CloseHandle(f->pipe);
}

static bool make_pipe(HANDLE *ours, HANDLE *theirs, bool we_read)
{
    SECURITY_ATTRIBUTES inherit = {sizeof inherit, NULL, TRUE};
    HANDLE in = NULL, out = NULL;

    if (!CreatePipe(&in, &out, &inherit, 0))
        return false;
    *ours = we_read ? in : out;
    *theirs = we_read ? out : in;
    return SetHandleInformation(*ours, HANDLE_FLAG_INHERIT, 0) != 0;
}

/* Sets the request's variables in our own environment while the child starts. */
static void environment_set(const char *const *rows, bool undo)
{
    for (size_t i = 0; rows != NULL && rows[i] != NULL; i++) {
        char name[256];
        const char *equals = strchr(rows[i], '=');
        if (equals == NULL || (size_t)(equals - rows[i]) >= sizeof name)
            continue;
        memcpy(name, rows[i], (size_t)(equals - rows[i]));
        name[equals - rows[i]] = '\0';
        (void)SetEnvironmentVariableA(name, undo ? NULL : equals + 1);
    }
}

static bool child_start(const struct process_request *request, const char *line,
                        const HANDLE theirs[3], HANDLE job, PROCESS_INFORMATION *child)
{
    static wchar_t wide[WIDE_LINE];
    wchar_t folder[MAX_PATH];
    STARTUPINFOW start;
    BOOL started;

    memset(&start, 0, sizeof start);
    start.cb = sizeof start;
    start.dwFlags = STARTF_USESTDHANDLES;
    start.hStdInput = theirs[0];
    start.hStdOutput = theirs[1];
    start.hStdError = theirs[2];
    if (MultiByteToWideChar(CP_UTF8, 0, line, -1, wide, WIDE_LINE) == 0)
        return false;
    if (request->folder != NULL &&
        MultiByteToWideChar(CP_UTF8, 0, request->folder, -1, folder, MAX_PATH) == 0)
        return false;
    environment_set(request->environment, false);
    started = CreateProcessW(NULL, wide, NULL, NULL, TRUE, CREATE_SUSPENDED | CREATE_NO_WINDOW,
                             NULL, request->folder != NULL ? folder : NULL, &start, child);
    environment_set(request->environment, true);
    if (!started)
        return false;
    (void)AssignProcessToJobObject(job, child->hProcess);
    (void)ResumeThread(child->hThread);
    return true;
}

/* True when the child ended by itself within the limit. */
static bool child_wait(HANDLE process, const struct process_request *request)
{
    const uint64_t limit_ms = request->limit_ms != 0 ? request->limit_ms : 60000;
    const uint64_t end_ns = clock_ns() + limit_ms * 1000000U;
    while (clock_ns() < end_ns && (request->despite_interrupt || !process_interrupted())) {
        if (request->while_running != NULL)
            request->while_running(request->context);
        if (WaitForSingleObject(process, 50) == WAIT_OBJECT_0)
            return true;
    }
    return false;
}

static void child_measure(HANDLE process, struct process_result *out)
{
    FILETIME made, ended, kernel, user;
    DWORD code = 0;

    if (GetExitCodeProcess(process, &code))
        out->exit_code = (int)(code & 0xFF);
    if (GetProcessTimes(process, &made, &ended, &kernel, &user))
        out->cpu_ns = (((uint64_t)kernel.dwHighDateTime << 32 | kernel.dwLowDateTime) +
                       ((uint64_t)user.dwHighDateTime << 32 | user.dwLowDateTime)) *
                      100;
}

static char *pump_finish(struct pump *p, struct arena *keep, size_t *bytes)
{
    char *text = arena_text(keep, p->text != NULL ? p->text : "", p->bytes);
    *bytes = text != NULL ? p->bytes : 0;
    free(p->text);
    (void)CloseHandle(p->pipe);
    return text;
}

/* Writes the child's input and reads its output while it runs, then waits for it to end. */
static void child_run(const struct process_request *request, PROCESS_INFORMATION *child, HANDLE job,
                      HANDLE input, struct pump *streams, struct process_result *out)
{
    struct feed feed = {input, request->input, request->input_bytes};
    struct thread *threads[3] = {thread_start(feed_write, &feed),
                                 thread_start(pump_read, &streams[0]),
                                 thread_start(pump_read, &streams[1])};

    if (!child_wait(child->hProcess, request))
        out->timed_out = request->despite_interrupt || !process_interrupted();
    (void)TerminateJobObject(job, 128 + 9); /* the child, or processes that it left running */
    (void)WaitForSingleObject(child->hProcess, INFINITE);
    for (int i = 0; i < 3; i++)
        thread_join(threads[i]);
    child_measure(child->hProcess, out);
    (void)CloseHandle(child->hThread);
    (void)CloseHandle(child->hProcess);
}

enum status process_run(const struct process_request *request, struct arena *keep,
                        struct process_result *out, struct fault *fault)
{
    const uint64_t start_ns = clock_ns();
    struct pump streams[2];
    HANDLE ours[3] = {NULL, NULL, NULL}, theirs[3] = {NULL, NULL, NULL};
    PROCESS_INFORMATION child;
    char *line = arena_string(keep, "");

    memset(out, 0, sizeof *out);
    memset(streams, 0, sizeof streams);
    if (process_find(request->argv[0], keep) == NULL) {
        fault_set_hint(fault, ERR_ABSENT, FAULT_NO_OFFSET, "program", "not found in PATH");
        fault_set_path(fault, request->argv[0]);
        return fault->code;
    }
    for (size_t i = 0; request->argv[i] != NULL && line != NULL; i++)
        line = quote_word(keep, line, request->argv[i]);
    if (line == NULL)
        return fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "program start");
    HANDLE job = CreateJobObjectW(NULL, NULL);
    const bool started = job != NULL && make_pipe(&ours[0], &theirs[0], false) &&
                         make_pipe(&ours[1], &theirs[1], true) &&
                         make_pipe(&ours[2], &theirs[2], true) &&
                         child_start(request, line, theirs, job, &child);
    for (int i = 0; i < 3; i++)
        if (theirs[i] != NULL)
            (void)CloseHandle(theirs[i]);
    for (int i = 0; i < 2; i++) {
        streams[i].pipe = ours[i + 1];
        streams[i].max =
            request->output_max_bytes != 0 ? request->output_max_bytes : (size_t)64 << 20;
    }
    if (started)
        child_run(request, &child, job, ours[0], streams, out);
    else
        fault_set_hint(fault, ERR_IO, FAULT_NO_OFFSET, "program start", "the system refused");
    out->output = pump_finish(&streams[0], keep, &out->output_bytes);
    out->errors = pump_finish(&streams[1], keep, &out->errors_bytes);
    out->output_cut = streams[0].cut || streams[1].cut;
    out->wall_ns = clock_ns() - start_ns;
    if (job != NULL)
        (void)CloseHandle(job);
    if (!request->despite_interrupt && process_interrupted())
        return fault_set(fault, ERR_INTERRUPTED, FAULT_NO_OFFSET, "program");
    return fault->code;
}

bool process_stays(void)
{
    return false;
}

enum status process_open(const struct process_request *request, struct process **out,
                         struct fault *fault)
{
    *out = NULL;
    fault_set_hint(fault, ERR_UNSUPPORTED, FAULT_NO_OFFSET, "program that stays",
                   "it is started for each question here");
    fault_set_path(fault, request->argv[0]);
    return fault->code;
}

enum status process_ask(struct process *process, const char *question, uint32_t lines,
                        uint32_t limit_ms, struct arena *keep, char **answer, struct fault *fault)
{
    (void)process;
    (void)question;
    (void)lines;
    (void)limit_ms;
    (void)keep;
    *answer = NULL;
    return fault_set(fault, ERR_UNSUPPORTED, FAULT_NO_OFFSET, "program that stays");
}

void process_close(struct process *process)
{
    (void)process;
}

void process_name_self(char out[PROCESS_NAME_BYTES])
{
    char host[MAX_COMPUTERNAME_LENGTH + 1] = "";
    DWORD size = sizeof host;
    if (!GetComputerNameA(host, &size))
        host[0] = '\0';
    (void)snprintf(out, PROCESS_NAME_BYTES, "%lu@%s", (unsigned long)GetCurrentProcessId(), host);
}

enum process_life process_life_of(const char *name)
{
    char self[PROCESS_NAME_BYTES];
    const size_t digits = name != NULL ? strcspn(name, "@") : 0;
    uint64_t id = 0;

    process_name_self(self);
    if (digits == 0 || strcmp(name + digits, strchr(self, '@')) != 0 ||
        !text_parse_uint(name, digits, &id) || id == 0 || id > UINT32_MAX)
        return PROCESS_UNKNOWN;
    const HANDLE process = OpenProcess(SYNCHRONIZE, FALSE, (DWORD)id);
    if (process == NULL)
        return GetLastError() == ERROR_INVALID_PARAMETER ? PROCESS_GONE : PROCESS_UNKNOWN;
    const bool gone = WaitForSingleObject(process, 0) == WAIT_OBJECT_0;
    (void)CloseHandle(process);
    return gone ? PROCESS_GONE : PROCESS_ALIVE;
}
