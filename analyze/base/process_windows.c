/* process.h on Windows. The child lives in a job object, so that the time limit and an interrupt
 * also end every process that it started. */
#include "base/array.h"
#include "base/process.h"

#include <fcntl.h>
#include <io.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

#include <psapi.h>

#include "base/files.h"
#include "base/process_windows.h"
#include "base/text.h"
#include "base/thread.h"

enum { READ_BLOCK = 65536 };

static volatile LONG interrupted;

static bool ends;
static UINT end_code;

static BOOL WINAPI on_interrupt(DWORD event)
{
    (void)event;
    (void)InterlockedExchange(&interrupted, 1);
    if (ends) { /* this thread is not one of the program's own */
        Sleep(PROCESS_INTERRUPT_LIMIT_MS);
        ExitProcess(end_code);
    }
    return TRUE;
}

void process_prepare(void)
{
    static const DWORD outputs[] = {STD_OUTPUT_HANDLE, STD_ERROR_HANDLE};
    (void)_setmode(_fileno(stdin), _O_BINARY); /* in text mode a byte 0x1A ends the input */
    (void)_setmode(_fileno(stdout), _O_BINARY);
    (void)_setmode(_fileno(stderr), _O_BINARY);
    for (size_t i = 0; i < COUNT_OF(outputs); i++) {
        const HANDLE console = GetStdHandle(outputs[i]);
        DWORD mode;
        if (!GetConsoleMode(console, &mode))
            continue;
        (void)SetConsoleMode(console, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
        (void)SetConsoleOutputCP(CP_UTF8);
    }
}

void process_catch_interrupts_until(int exit_code)
{
    end_code = (UINT)exit_code;
    ends = true;
    process_catch_interrupts();
}

bool process_redirect_output(FILE *to)
{
    return fflush(stdout) == 0 && _dup2(_fileno(to), _fileno(stdout)) == 0;
}

void process_catch_interrupts(void)
{
    (void)SetConsoleCtrlHandler(on_interrupt, TRUE);
}

bool process_interrupted(void)
{
    return interrupted != 0;
}

/* UTF-16 of TEXT, in KEEP. NULL: TEXT is NULL or not UTF-8, or there is no memory. */
static wchar_t *wide_text(struct arena *keep, const char *text)
{
    const int units =
        text != NULL ? MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text, -1, NULL, 0) : 0;
    wchar_t *wide = units > 0 ? arena_alloc(keep, (size_t)units * sizeof *wide) : NULL;
    if (wide != NULL)
        (void)MultiByteToWideChar(CP_UTF8, 0, text, -1, wide, units);
    return wide;
}

/* Searches FOLDER, or PATH if FOLDER is NULL. A name with a folder of its own is not searched. */
static char *find_in(const wchar_t *folder, const wchar_t *name, struct arena *keep)
{
    const DWORD units = SearchPathW(folder, name, L".exe", 0, NULL, NULL);
    wchar_t *found = units > 0 ? arena_alloc(keep, (size_t)units * sizeof *found) : NULL;
    if (found == NULL || SearchPathW(folder, name, L".exe", units, found, NULL) == 0)
        return NULL;
    const int bytes = WideCharToMultiByte(CP_UTF8, 0, found, -1, NULL, 0, NULL, NULL);
    char *path = bytes > 0 ? arena_alloc(keep, (size_t)bytes) : NULL;
    if (path != NULL)
        (void)WideCharToMultiByte(CP_UTF8, 0, found, -1, path, bytes, NULL, NULL);
    return path;
}

char *process_find(const char *name, struct arena *keep)
{
    const wchar_t *wide = wide_text(keep, name);
    return wide != NULL ? find_in(NULL, wide, keep) : NULL;
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

void pump_add(struct pump *p, const char *block, size_t bytes)
{
    if (bytes > p->max - p->bytes) {
        bytes = p->max - p->bytes;
        p->cut = true;
    }
    if (p->room - p->bytes < bytes) {
        const size_t room = array_next_room(p->room, p->bytes + bytes, 1);
        char *wider = room != 0 ? realloc(p->text, room) : NULL;
        if (wider == NULL) {
            p->cut = true;
            return;
        }
        p->text = wider;
        p->room = room;
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

/* True when one of ROWS sets the variable of the environment's ROW. Case does not matter in names.
 */
static bool is_replaced(const wchar_t *row, wchar_t *const *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const wchar_t *equals = wcschr(rows[i], L'=');
        const size_t name = equals != NULL ? (size_t)(equals - rows[i]) + 1 : 0;
        if (name > 0 && _wcsnicmp(row, rows[i], name) == 0)
            return true;
    }
    return false;
}

/* Our environment and the request's additions, as CreateProcessW reads it: NUL-terminated rows,
 * then an empty one. Each program gets its own block, since other threads start programs at the
 * same time. */
static wchar_t *environment_block(const char *const *added, struct arena *keep)
{
    enum { ADDED_MAX = 32 };
    wchar_t *rows[ADDED_MAX];
    size_t count = 0, units = 1;
    wchar_t *ours = GetEnvironmentStringsW();

    for (; added != NULL && added[count] != NULL && count < ADDED_MAX; count++) {
        if ((rows[count] = wide_text(keep, added[count])) == NULL)
            break;
        units += wcslen(rows[count]) + 1;
    }
    for (const wchar_t *row = ours; row != NULL && *row != L'\0'; row += wcslen(row) + 1)
        units += wcslen(row) + 1;
    wchar_t *block = arena_alloc(keep, (units + 1) * sizeof *block), *to = block;
    for (const wchar_t *row = ours; block != NULL && row != NULL && *row != L'\0';
         row += wcslen(row) + 1)
        if (!is_replaced(row, rows, count)) {
            memcpy(to, row, (wcslen(row) + 1) * sizeof *to);
            to += wcslen(row) + 1;
        }
    for (size_t i = 0; block != NULL && i < count; i++) {
        memcpy(to, rows[i], (wcslen(rows[i]) + 1) * sizeof *to);
        to += wcslen(rows[i]) + 1;
    }
    if (block != NULL)
        to[0] = to[1] = L'\0';
    if (ours != NULL)
        (void)FreeEnvironmentStringsW(ours);
    return block;
}

/* A job that ends every process in it when its last handle closes, even if this process is killed.
 */
static HANDLE make_job(void)
{
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits;
    const HANDLE job = CreateJobObjectW(NULL, NULL);

    memset(&limits, 0, sizeof limits);
    limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
    if (job != NULL)
        (void)SetInformationJobObject(job, JobObjectExtendedLimitInformation, &limits,
                                      sizeof limits);
    return job;
}

/* Lets the child inherit THEIRS and nothing else, not the pipes of a child that another thread is
 * starting; and starts it inside JOB. If it were put there after its start, it would survive when
 * this process is killed in between. NULL: the system refused. THEIRS and JOB are borrowed until
 * the child is started. */
static LPPROC_THREAD_ATTRIBUTE_LIST child_attributes(HANDLE theirs[3], HANDLE *job,
                                                     struct arena *keep)
{
    SIZE_T bytes = 0;
    (void)InitializeProcThreadAttributeList(NULL, 2, 0, &bytes);
    LPPROC_THREAD_ATTRIBUTE_LIST list = bytes > 0 ? arena_alloc(keep, bytes) : NULL;
    if (list == NULL || !InitializeProcThreadAttributeList(list, 2, 0, &bytes) ||
        !UpdateProcThreadAttribute(list, 0, PROC_THREAD_ATTRIBUTE_HANDLE_LIST, theirs,
                                   3 * sizeof *theirs, NULL, NULL) ||
        !UpdateProcThreadAttribute(list, 0, PROC_THREAD_ATTRIBUTE_JOB_LIST, job, sizeof *job, NULL,
                                   NULL))
        return NULL;
    return list;
}

static bool child_start(const struct process_request *request, const char *program,
                        const char *line, HANDLE theirs[3], struct child *child, struct arena *keep)
{
    const DWORD flags =
        CREATE_NO_WINDOW | CREATE_UNICODE_ENVIRONMENT | EXTENDED_STARTUPINFO_PRESENT;
    wchar_t *wide = wide_text(keep, line), *folder = wide_text(keep, request->folder),
            *path = wide_text(keep, program);
    wchar_t *environment = environment_block(request->environment, keep);
    STARTUPINFOEXW start;

    memset(&start, 0, sizeof start);
    start.StartupInfo.cb = sizeof start;
    start.StartupInfo.dwFlags = STARTF_USESTDHANDLES;
    start.StartupInfo.hStdInput = theirs[0];
    start.StartupInfo.hStdOutput = theirs[1];
    start.StartupInfo.hStdError = theirs[2];
    start.lpAttributeList = child_attributes(theirs, &child->job, keep);
    if (wide == NULL || path == NULL || environment == NULL || start.lpAttributeList == NULL ||
        (request->folder != NULL && folder == NULL))
        return false;
    const bool started = CreateProcessW(path, wide, NULL, NULL, TRUE, flags, environment, folder,
                                        &start.StartupInfo, &child->info) != 0;
    DeleteProcThreadAttributeList(start.lpAttributeList);
    return started;
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
    PROCESS_MEMORY_COUNTERS memory;
    DWORD code = 0;

    if (GetExitCodeProcess(process, &code))
        out->exit_code = (int)(code & 0xFF);
    if (GetProcessMemoryInfo(process, &memory, sizeof memory))
        out->peak_bytes = memory.PeakWorkingSetSize;
}

static char *pump_finish(struct pump *p, struct arena *keep, size_t *bytes)
{
    char *text = arena_text(keep, p->text != NULL ? p->text : "", p->bytes);
    *bytes = text != NULL ? p->bytes : 0;
    free(p->text);
    return text;
}

/* Writes the child's input and reads its output while it runs, then waits for it to end. */
static void child_run(const struct process_request *request, struct child *child,
                      struct pump *streams, struct process_result *out)
{
    struct feed feed = {child->input, request->input, request->input_bytes};
    struct thread *threads[3] = {thread_start(feed_write, &feed),
                                 thread_start(pump_read, &streams[0]),
                                 thread_start(pump_read, &streams[1])};

    child->input = NULL; /* feed_write closes it */
    if (!child_wait(child->info.hProcess, request))
        out->timed_out = request->despite_interrupt || !process_interrupted();
    (void)TerminateJobObject(child->job, JOB_KILLED); /* it, or processes that it left running */
    (void)WaitForSingleObject(child->info.hProcess, INFINITE);
    for (int i = 0; i < 3; i++)
        thread_join(threads[i]);
    child_measure(child->info.hProcess, out);
}

/* As the system finds programs, but first in the folder where the program will run. */
static char *find_program(const struct process_request *request, struct arena *keep)
{
    const wchar_t *name = wide_text(keep, request->argv[0]);
    const wchar_t *folder = wide_text(keep, request->folder);
    char *found = name != NULL && folder != NULL ? find_in(folder, name, keep) : NULL;
    return found != NULL || name == NULL ? found : find_in(NULL, name, keep);
}

/* The command line as CommandLineToArgvW reads it. NULL: no memory. */
static const char *command_line(const char *const *argv, struct arena *keep)
{
    const char *line = arena_string(keep, "");
    for (size_t i = 0; argv[i] != NULL && line != NULL; i++)
        line = quote_word(keep, line, argv[i]);
    return line;
}

/* A file that swallows what is written to it, to be inherited. */
static HANDLE open_nowhere(void)
{
    SECURITY_ATTRIBUTES inherit = {sizeof inherit, NULL, TRUE};
    const HANDLE file = CreateFileW(L"NUL", GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE,
                                    &inherit, OPEN_EXISTING, 0, NULL);
    return file != INVALID_HANDLE_VALUE ? file : NULL;
}

enum status child_open(const struct process_request *request, bool with_errors, struct child *out,
                       struct fault *fault)
{
    HANDLE theirs[3] = {NULL, NULL, NULL};
    struct arena scratch;

    memset(out, 0, sizeof *out);
    arena_init(&scratch, 0);
    const char *program = find_program(request, &scratch);
    const char *line = command_line(request->argv, &scratch);
    if (program == NULL) {
        fault_set_hint(fault, ERR_ABSENT, FAULT_NO_OFFSET, "program", "not found in PATH");
        fault_set_path(fault, request->argv[0]);
    } else if (line == NULL) {
        (void)fault_no_memory(fault, "program start");
    } else if ((out->job = make_job()) == NULL || !make_pipe(&out->input, &theirs[0], false) ||
               !make_pipe(&out->output, &theirs[1], true) ||
               !(with_errors ? make_pipe(&out->errors, &theirs[2], true)
                             : (theirs[2] = open_nowhere()) != NULL) ||
               !child_start(request, program, line, theirs, out, &scratch)) {
        fault_set_hint(fault, ERR_IO, FAULT_NO_OFFSET, "program start", "the system refused");
    }
    for (int i = 0; i < 3; i++)
        if (theirs[i] != NULL)
            (void)CloseHandle(theirs[i]);
    arena_free(&scratch);
    if (fault->code != ERR_NONE)
        child_close(out);
    return fault->code;
}

void child_close(struct child *child)
{
    const HANDLE handles[] = {child->info.hThread, child->info.hProcess, child->input,
                              child->output,       child->errors,        child->job};
    for (size_t i = 0; i < COUNT_OF(handles); i++)
        if (handles[i] != NULL)
            (void)CloseHandle(handles[i]);
    memset(child, 0, sizeof *child);
}

enum status process_run(const struct process_request *request, struct arena *keep,
                        struct process_result *out, struct fault *fault)
{
    const uint64_t start_ns = clock_ns();
    const size_t max =
        request->output_max_bytes != 0 ? request->output_max_bytes : (size_t)64 << 20;
    struct child child;

    memset(out, 0, sizeof *out);
    if (child_open(request, true, &child, fault) != ERR_NONE)
        return fault->code;
    struct pump streams[2] = {{.pipe = child.output, .max = max},
                              {.pipe = child.errors, .max = max}};
    child_run(request, &child, streams, out);
    out->output = pump_finish(&streams[0], keep, &out->output_bytes);
    out->errors = pump_finish(&streams[1], keep, &out->errors_bytes);
    out->output_cut = streams[0].cut;
    out->wall_ns = clock_ns() - start_ns;
    child_close(&child);
    if (!request->despite_interrupt && process_interrupted())
        return fault_set(fault, ERR_INTERRUPTED, FAULT_NO_OFFSET, "program");
    return fault->code;
}

void process_name_self(char out[PROCESS_NAME_BYTES])
{
    char host[MAX_COMPUTERNAME_LENGTH + 1] = "";
    DWORD size = sizeof host;
    if (!GetComputerNameA(host, &size))
        host[0] = '\0';
    (void)snprintf(out, PROCESS_NAME_BYTES, "%lu@%s", (unsigned long)GetCurrentProcessId(), host);
}

const char *process_program(struct arena *keep)
{
    wchar_t wide[MAX_PATH * 4];
    char path[MAX_PATH * 12];
    const DWORD units = GetModuleFileNameW(NULL, wide, MAX_PATH * 4);
    if (units == 0 || units >= MAX_PATH * 4 ||
        WideCharToMultiByte(CP_UTF8, 0, wide, -1, path, sizeof path, NULL, NULL) == 0)
        return NULL;
    return arena_string(keep, path);
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
