/* Runs Windows programs on Windows: see runner.h. */
#include <stdlib.h>
#include <string.h>

#include <windows.h>

#include "base/files.h"
#include "collect/program.h"
#include "collect/runner.h"

enum status host_describe(struct arena *keep, const char **os, const char **cpu,
                          struct fault *fault)
{
    const char *name = getenv("PROCESSOR_IDENTIFIER");
    HKEY key;
    char build[64] = "";
    DWORD bytes = sizeof build - 1;

    if (RegOpenKeyExA(HKEY_LOCAL_MACHINE, "SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion", 0,
                      KEY_READ, &key) == ERROR_SUCCESS) {
        (void)RegQueryValueExA(key, "CurrentBuild", NULL, NULL, (BYTE *)build, &bytes);
        (void)RegCloseKey(key);
    }
    *cpu = name != NULL ? arena_string(keep, name) : NULL;
    *os = arena_printf(keep, "Windows build %s", build[0] != '\0' ? build : "unknown");
    return *os != NULL ? ERR_NONE : fault_no_memory(fault, "host");
}

bool runner_is_prepared(const struct collect_options *options)
{
    (void)options;
    return true;
}

enum status runner_open(const struct collect_options *options, uint32_t worker, struct runner *out,
                        struct fault *fault)
{
    (void)worker;
    (void)fault;
    memset(out, 0, sizeof *out);
    out->options = options;
    arena_init(&out->keep, 0);
    return ERR_NONE;
}

void runner_close(struct runner *runner)
{
    arena_free(&runner->keep);
    memset(runner, 0, sizeof *runner);
}

/* process_run ends the program's whole job, so no process remains. */
enum status runner_reset(struct runner *runner, struct fault *fault)
{
    (void)runner;
    (void)fault;
    return ERR_NONE;
}

void runner_move(struct runner *runner, uint32_t processor)
{
    (void)runner;
    (void)processor;
}

const char *runner_guest_path(const struct runner *runner, const char *path, struct arena *keep)
{
    (void)runner;
    (void)keep;
    return path;
}

const char *runner_host_path(const struct runner *runner, const char *windows_path,
                             struct arena *keep)
{
    char *path = arena_string(keep, windows_path);

    (void)runner;
    for (char *p = path; p != NULL && *p != '\0'; p++)
        if (*p == '\\')
            *p = '/';
    return path != NULL && path_is_file(path) ? path : NULL;
}

const char *wine32_loader(const char *prefix, const char *launcher, struct arena *keep)
{
    (void)prefix;
    (void)launcher;
    (void)keep;
    return NULL;
}

const char *wine32_emulator(const char *prefix, const char *launcher, struct arena *keep)
{
    (void)prefix;
    (void)launcher;
    (void)keep;
    return NULL;
}
