/* twinstack-launch: starts one victim, keeps its full 32-bit exit code, ends it after its
 * time limit, and turns the truth mapping into truth.json once the victim is dead.
 * See victims/README.md for the command line and the files. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include <windows.h>

#include "victims/harness/launcher/truth_json.h"
#include "victims/limit.h"
#include "victims/truth.h"

enum {
    EXIT_RAN = 0,
    EXIT_USAGE = 2,
    EXIT_NOT_STARTED = 3,
    LIMIT_MS = 40000,
    PATH_UNITS = 1024,
    FILES = 4, /* that a capture may leave */
    COMMAND_UNITS = 4096,
    ENDED_BY_LIMIT = 0xCA97DEAD,
};

struct job {
    wchar_t out[PATH_UNITS], program[PATH_UNITS];
    const wchar_t *scenario, *walkers;
    uint32_t limit_ms;
    struct truth_map *truth;
    PROCESS_INFORMATION process;
    DWORD exit_code, wall_ms;
    bool limit_hit;
};

/* Under Wine drive Z: is the root of the Unix file system. */
static void set_path(wchar_t *to, const wchar_t *prefix, const wchar_t *from)
{
    swprintf(to, PATH_UNITS, L"%ls%ls%ls", prefix, from[0] == L'/' ? L"Z:" : L"", from);
    for (; *to != 0; to++)
        if (*to == L'/')
            *to = L'\\';
}

/* The folder of the victim's files. A long path, which is absolute, gets the prefix that lifts the
 * system's limit of 260 units. */
static void set_out(struct job *job, const wchar_t *from)
{
    enum { LONG_PATH = 200 };
    const bool is_long = wcslen(from) > LONG_PATH && from[0] != L'\\';
    set_path(job->out, is_long ? L"\\\\?\\" : L"", from);
}

static bool parse(int argc, wchar_t **argv, struct job *job)
{
    int i = 1;
    for (; i + 1 < argc && argv[i][0] == L'-'; i += 2) {
        if (wcscmp(argv[i], L"--out") == 0)
            set_out(job, argv[i + 1]);
        else if (wcscmp(argv[i], L"--limit-ms") == 0)
            job->limit_ms = (uint32_t)wcstoul(argv[i + 1], NULL, 10);
        else if (wcscmp(argv[i], L"--walkers") == 0)
            job->walkers = argv[i + 1];
        else
            return false;
    }
    if (argc - i != 2 || job->out[0] == 0 || job->limit_ms == 0)
        return false;
    set_path(job->program, L"", argv[i]);
    job->scenario = argv[i + 1];
    return true;
}

static FILE *open_out(const struct job *job, const wchar_t *name, const wchar_t *mode)
{
    wchar_t path[PATH_UNITS + 32];
    swprintf(path, PATH_UNITS + 32, L"%ls\\%ls", job->out, name);
    return _wfopen(path, mode);
}

/* The mapping outlives the victim because the launcher holds it. */
static bool make_truth(struct job *job)
{
    wchar_t name[64], limit[16];
    swprintf(limit, 16, L"%u", job->limit_ms);
    swprintf(name, 64, L"Local\\twinstack-truth-%lu", GetCurrentProcessId());
    HANDLE mapping = CreateFileMappingW(INVALID_HANDLE_VALUE, NULL, PAGE_READWRITE, 0,
                                        sizeof(struct truth_map), name);
    if (mapping == NULL)
        return false;
    job->truth = MapViewOfFile(mapping, FILE_MAP_ALL_ACCESS, 0, 0, sizeof(struct truth_map));
    SetEnvironmentVariableW(TRUTH_VARIABLE, name);
    SetEnvironmentVariableW(TRUTH_OUT_VARIABLE, job->out);
    SetEnvironmentVariableW(TRUTH_WALKERS_VARIABLE, job->walkers);
    SetEnvironmentVariableW(LIMIT_VARIABLE, limit);
    return job->truth != NULL;
}

static bool start(struct job *job)
{
    wchar_t command[COMMAND_UNITS], path[PATH_UNITS + 32];
    SECURITY_ATTRIBUTES inherit = {sizeof inherit, NULL, TRUE};
    STARTUPINFOW startup = {.cb = sizeof startup, .dwFlags = STARTF_USESTDHANDLES};

    swprintf(path, PATH_UNITS + 32, L"%ls\\stdout.txt", job->out);
    HANDLE text = CreateFileW(path, GENERIC_WRITE, FILE_SHARE_READ, &inherit, CREATE_ALWAYS,
                              FILE_ATTRIBUTE_NORMAL, NULL);
    HANDLE nothing =
        CreateFileW(L"NUL", GENERIC_READ, FILE_SHARE_READ, &inherit, OPEN_EXISTING, 0, NULL);
    if (text == INVALID_HANDLE_VALUE)
        return false;
    startup.hStdInput = nothing;
    startup.hStdOutput = text;
    startup.hStdError = text;
    swprintf(command, COMMAND_UNITS, L"\"%ls\" %ls", job->program, job->scenario);
    BOOL ok = CreateProcessW(job->program, command, NULL, NULL, TRUE, 0, NULL, NULL, &startup,
                             &job->process);
    CloseHandle(text);
    return ok;
}

static void wait(struct job *job)
{
    const ULONGLONG start_ms = GetTickCount64();
    if (WaitForSingleObject(job->process.hProcess, job->limit_ms) == WAIT_TIMEOUT) {
        job->limit_hit = true;
        TerminateProcess(job->process.hProcess, ENDED_BY_LIMIT);
        WaitForSingleObject(job->process.hProcess, 5000);
    }
    GetExitCodeProcess(job->process.hProcess, &job->exit_code);
    job->wall_ms = (DWORD)(GetTickCount64() - start_ms);
}

/* The stem of the victim's last capture, which is the case: a hang that it survived may have left
 * others. False: there is none. */
static bool last_capture(const struct job *job, wchar_t stem[MAX_PATH])
{
    wchar_t pattern[PATH_UNITS + 64];
    WIN32_FIND_DATAW found;
    stem[0] = 0;
    for (int i = 0; i < 2 && stem[0] == 0; i++) {
        swprintf(pattern, PATH_UNITS + 64, L"%ls\\capture-*-%lu%ls", job->out,
                 job->process.dwProcessId, i == 0 ? L".rec" : L".dmp");
        HANDLE search = FindFirstFileW(pattern, &found);
        if (search == INVALID_HANDLE_VALUE)
            continue;
        do
            if (wcscmp(found.cFileName, stem) > 0)
                wcscpy(stem, found.cFileName);
        while (FindNextFileW(search, &found));
        FindClose(search);
    }
    wchar_t *dot = wcsrchr(stem, L'.');
    if (dot != NULL)
        *dot = 0;
    return dot != NULL;
}

/* The capture names its files by time and process; the analyser expects the fixed NAME of the port.
 */
static void take_name(const struct job *job, const wchar_t *stem, const wchar_t *suffix,
                      const wchar_t *name)
{
    wchar_t from[2 * PATH_UNITS], to[PATH_UNITS + 32];
    swprintf(from, 2 * PATH_UNITS, L"%ls\\%ls%ls", job->out, stem, suffix);
    swprintf(to, PATH_UNITS + 32, L"%ls\\%ls", job->out, name);
    MoveFileExW(from, to, MOVEFILE_REPLACE_EXISTING);
}

/* Returns false for an empty file and removes it: a library that opens its files beforehand did not
 * need it. */
static bool keep(const struct job *job, const wchar_t *name)
{
    wchar_t path[PATH_UNITS + 32];
    WIN32_FILE_ATTRIBUTE_DATA data;
    swprintf(path, PATH_UNITS + 32, L"%ls\\%ls", job->out, name);
    if (!GetFileAttributesExW(path, GetFileExInfoStandard, &data))
        return false;
    if (data.nFileSizeLow != 0 || data.nFileSizeHigh != 0)
        return true;
    DeleteFileW(path);
    return false;
}

static void print_text(FILE *to, const wchar_t *text)
{
    char utf8[4 * PATH_UNITS];
    WideCharToMultiByte(CP_UTF8, 0, text, -1, utf8, sizeof utf8, NULL, NULL);
    json_text(to, utf8);
}

static void print_outcome(FILE *to, const struct job *job, const bool kept[FILES])
{
    static const char *const names[FILES] = {"record.rec", "dump.dmp", "dump-tuned.dmp",
                                             "stack.txt"};
    fprintf(to, "{\"schema_version\":1,\"program\":");
    print_text(to, job->program);
    fprintf(to, ",\"scenario\":");
    print_text(to, job->scenario);
    fprintf(to, ",\"pid\":%lu,\"exit_code\":\"0x%08lX\",\"ended_by\":\"%s\",\"wall_ms\":%lu,",
            job->process.dwProcessId, job->exit_code, job->limit_hit ? "time_limit" : "exit",
            job->wall_ms);
    fprintf(to, "\"files\":[");
    for (int i = 0; i < FILES; i++)
        if (kept[i])
            fprintf(to, "\"%s\",", names[i]);
    fprintf(to, "\"truth.json\",\"stdout.txt\"]}\n");
}

int wmain(int argc, wchar_t **argv)
{
    static struct job job = {.limit_ms = LIMIT_MS};
    wchar_t stem[MAX_PATH];
    if (!parse(argc, argv, &job)) {
        fprintf(stderr, "usage: twinstack-launch --out DIR [--limit-ms N] [--walkers LIST] "
                        "PROGRAM SCENARIO\n");
        return EXIT_USAGE;
    }
    if (!make_truth(&job) || !start(&job)) {
        fprintf(stderr, "twinstack-launch: cannot start the victim (error %lu)\n", GetLastError());
        return EXIT_NOT_STARTED;
    }
    wait(&job);

    FILE *file = open_out(&job, L"truth.json", L"wb");
    if (file == NULL) {
        fprintf(stderr, "twinstack-launch: cannot write into the folder of --out\n");
        return EXIT_NOT_STARTED;
    }
    truth_print(file, job.truth);
    fclose(file);
    if (last_capture(&job, stem)) {
        take_name(&job, stem, L".rec", L"record.rec");
        take_name(&job, stem, L".dmp", L"dump.dmp");
        take_name(&job, stem, L"-tuned.dmp", L"dump-tuned.dmp");
    }
    const bool kept[FILES] = {keep(&job, L"record.rec"), keep(&job, L"dump.dmp"),
                              keep(&job, L"dump-tuned.dmp"), keep(&job, L"stack.txt")};
    file = open_out(&job, L"outcome.json", L"wb");
    if (file != NULL) {
        print_outcome(file, &job, kept);
        fclose(file);
    }
    print_outcome(stdout, &job, kept);
    fflush(stdout);
    return EXIT_RAN;
}
