/* What a Windows program needs from its host: see program.h. */
#include <string.h>

#include "base/files.h"
#include "collect/program.h"
#include "collect/runner.h"
#include "format/pe/pe.h"

uint32_t program_machine(const char *program)
{
    struct fault ignored = FAULT_INIT;
    struct file_map map;
    struct pe pe;

    if (file_map(program, &map, &ignored) != ERR_NONE)
        return 0;
    const bool sound = pe_open(map.data, map.bytes, &pe, &ignored) == ERR_NONE;
    const uint32_t machine = sound ? pe.machine : 0;
    file_unmap(&map);
    return machine;
}

bool collect_is_x86_variant(const char *variant)
{
    static const char start[] = "x86-";
    return strncmp(variant, start, sizeof start - 1) == 0;
}

bool prefix_runs_32_bits(const char *prefix, struct arena *keep)
{
    if (prefix == NULL)
        return true;
    const char *dll = arena_printf(keep, "%s/drive_c/windows/syswow64/kernel32.dll", prefix);
    return dll != NULL && path_absolute(dll, keep) != NULL;
}

struct runner runner_with_mode(const struct runner *runner)
{
    static const char name[] = "WINEDEBUG=";
    struct runner loud = *runner;

    for (size_t i = 0; loud.environment[i] != NULL; i++)
        if (strncmp(loud.environment[i], name, sizeof name - 1) == 0)
            loud.environment[i] = "WINEDEBUG=-all,err+environ";
    return loud;
}

void runner_launcher(const struct runner *runner, size_t max, const char **words, size_t *count)
{
    const char *const *given = runner->options->launcher;

    for (size_t i = 0; given != NULL && given[i] != NULL && *count < max; i++)
        words[(*count)++] = i == 0 && runner->loader != NULL ? runner->loader : given[i];
}

enum status runner_run(const struct runner *runner, const char *const *args, uint32_t limit_ms,
                       struct arena *keep, struct process_result *out, struct fault *fault)
{
    const char *argv[RUNNER_ARGUMENTS_MAX + 1];
    size_t count = 0;
    struct process_request request;

    runner_launcher(runner, RUNNER_ARGUMENTS_MAX, argv, &count);
    for (size_t i = 0; args[i] != NULL && count < RUNNER_ARGUMENTS_MAX; i++)
        argv[count++] = args[i];
    argv[count] = NULL;
    memset(&request, 0, sizeof request);
    request.argv = argv;
    request.environment = runner->prefix != NULL ? runner->environment : NULL;
    request.limit_ms = limit_ms;
    request.processor = runner->prefix != NULL ? runner->processor : 0;
    request.while_running = runner->while_running;
    request.context = runner->while_context;
    return process_run(&request, keep, out, fault);
}
