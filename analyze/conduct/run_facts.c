/* See run_facts.h. */
#include "conduct/run_facts.h"

#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/json.h"
#include "base/process.h"
#include "base/text.h"
#include "collect/collect.h"
#include "collect/toolchain.h"
#include "model/command_line.h"
#include "model/managed_samples.h"
#include "study/lanes.h"

/* This program's name among the tools of a run. */
static const char own_name[] = "twinstack";

enum { TOOLS_MAX = 8, GIT_LIMIT_MS = 10000, MANAGED_MAX_BYTES = 1 << 20 };

/* First line of what a program prints, or NULL. */
static const char *ask(const char *const *argv, struct arena *keep)
{
    struct process_request request;
    struct process_result answer;
    struct fault ignored = FAULT_INIT;

    memset(&request, 0, sizeof request);
    request.argv = argv;
    request.limit_ms = GIT_LIMIT_MS;
    if (process_run(&request, keep, &answer, &ignored) != ERR_NONE || answer.timed_out ||
        answer.exit_code != 0 || answer.output_bytes == 0)
        return NULL;
    return arena_text(keep, answer.output, strcspn(answer.output, "\r\n"));
}

static void add_tool(struct run_info *out, const char *name, const char *version)
{
    if (version == NULL || out->tool_count == TOOLS_MAX)
        return;
    out->tools[out->tool_count].name = name;
    out->tools[out->tool_count++].version = version;
}

/* Adds VARIANT to LIST, which may be NULL, unless it has a program or is listed without one. */
static const char *add_missing(const char *list, const char *victims_folder, const char *variant,
                               struct arena *keep)
{
    const char *program = arena_printf(keep, "%s/victims-%s.exe", victims_folder, variant);
    if (program == NULL || path_is_file(program) || collect_is_x86_variant(variant))
        return list;
    return list != NULL ? arena_printf(keep, "%s, %s", list, variant) : arena_string(keep, variant);
}

/* Compiler and flags of the victims, from the toolchain.json beside them. Returns the builds that
 * it lists and that have no program; NULL: none. */
static const char *read_toolchain(const char *victims_folder, struct arena *keep,
                                  struct run_info *out)
{
    struct fault ignored = FAULT_INIT;
    struct toolchain toolchain;
    const char *missing = NULL;

    (void)toolchain_read(victims_folder, keep, &toolchain, &ignored);
    out->compiler = toolchain.compiler;
    for (uint32_t i = 0; i < toolchain.build_count; i++) {
        const struct named_version *build = &toolchain.builds[i];
        out->flags = arena_printf(keep, "%s%s%s: %s", out->flags != NULL ? out->flags : "",
                                  out->flags != NULL ? "; " : "", build->name, build->version);
        missing = add_missing(missing, victims_folder, build->name, keep);
    }
    return missing;
}

const char *run_facts_not_built(const char *victims_folder, struct arena *keep)
{
    struct run_info unused = {.compiler = NULL};
    return read_toolchain(victims_folder, keep, &unused);
}

/* Adds a fact to the environment of OUT; VERSION NULL: none. False: no memory. */
static bool add_fact(struct run_info *out, const char *name, const char *version,
                     struct arena *keep)
{
    if (version == NULL)
        return true;
    uint32_t room = out->environment_count;
    if (!ARENA_ROOM(keep, out->environment, room, (uint64_t)out->environment_count + 1))
        return false;
    out->environment[out->environment_count++] = (struct named_version){name, version};
    return true;
}

/* Adds what managed-stops measured in PHASE. False: no memory. */
static bool add_managed(const cJSON *row, struct managed_phase *phases, uint32_t *count,
                        struct arena *keep, struct fault *fault)
{
    const char *name = json_get_string(row, "phase", keep, fault);
    const char *mode_name = json_get_string(row, "mode", keep, fault);
    if (name == NULL || mode_name == NULL)
        return fault->code == ERR_NONE;
    const enum managed_mode mode = managed_mode_parse(mode_name, strlen(mode_name));
    const char *words = managed_phase_words(name);
    uint32_t at = 0;
    while (at < *count && strcmp(phases[at].name, words) != 0)
        at++;
    if (mode == MANAGED_MODES || at == MANAGED_PHASES_MAX)
        return true;
    struct managed_count *c = &phases[at].modes[mode];
    phases[at].name = words;
    c->samples = (uint32_t)json_get_uint(row, "samples", 0, fault);
    c->right = (uint32_t)json_get_uint(row, "right", 0, fault);
    for (int end = 0; end < MANAGED_ENDS; end++)
        c->ends[end] =
            (uint32_t)json_get_uint(row, managed_end_name((enum managed_end)end), 0, fault);
    if (at == *count)
        ++*count;
    return fault->code == ERR_NONE;
}

/* What tests/bench/bench_managed.py --keep left beside the victims: one line of JSON per phase and
 * mode. A victim that is there without it is noted as well. */
static enum status read_managed(const char *victims_folder, struct arena *keep,
                                struct run_info *out, struct fault *fault)
{
    struct managed_phase phases[MANAGED_PHASES_MAX];
    struct fault ignored = FAULT_INIT;
    char *text = NULL;
    size_t bytes = 0;
    uint64_t size = 0, changed_ns = 0;
    uint32_t count = 0;
    char day[TEXT_DATE_BYTES];
    const char *path = path_join(keep, victims_folder, "managed-samples.ndjson");
    const char *victim = path_join(keep, victims_folder, "managed-stops.exe");
    if (path == NULL || victim == NULL)
        return fault_no_memory(fault, "run");
    memset(phases, 0, sizeof phases);
    const bool measured =
        path_stat(path, &size, &changed_ns) &&
        file_read(path, MANAGED_MAX_BYTES, keep, &text, &bytes, &ignored) == ERR_NONE;
    if (!measured && !path_is_file(victim))
        return ERR_NONE;
    text_utc_date(changed_ns / 1000000000U, day);
    for (char *line = text; measured && line != NULL && *line != '\0';) {
        char *stop = strchr(line, '\n');
        cJSON *row = NULL;
        const size_t length = stop != NULL ? (size_t)(stop - line) : strlen(line);
        if (json_parse(line, length, &row, &ignored) == ERR_NONE)
            (void)add_managed(row, phases, &count, keep, &ignored);
        cJSON_Delete(row);
        fault_clear(&ignored); /* a damaged line is left out */
        line = stop != NULL ? stop + 1 : NULL;
    }
    out->environment = ARENA_ARRAY(keep, (size_t)count + 1, struct named_version);
    if (out->environment == NULL)
        return fault_no_memory(fault, "run");
    for (uint32_t i = 0; i < count; i++) {
        phases[i].measured = day;
        if (!managed_phase_note(&phases[i], keep, &out->environment[out->environment_count++]))
            return fault_no_memory(fault, "run");
    }
    if (count == 0)
        managed_missing_note(&out->environment[out->environment_count++]);
    return ERR_NONE;
}

/* In a container git may refuse the checkout, since another user owns it: there, CI says it. */
static const char *ask_or_ci(const char *const *argv, const char *variable, struct arena *keep)
{
    const char *answer = ask(argv, keep), *stated = getenv(variable);
    if (answer == NULL && stated != NULL && *stated != '\0')
        answer = arena_string(keep, stated);
    return answer;
}

const char *run_facts_commit(struct arena *keep)
{
    static const char *const commit[] = {"git", "rev-parse", "HEAD", NULL};
    return ask_or_ci(commit, "GITHUB_SHA", keep);
}

enum status run_facts(const struct collect_options *options, const char *label, int argc,
                      char *const *argv, struct arena *keep, struct run_info *out,
                      struct fault *fault)
{
    static const char *const branch[] = {"git", "rev-parse", "--abbrev-ref", "HEAD", NULL};
    struct collect_host host;

    memset(out, 0, sizeof *out);
    if (collect_describe_host(options, keep, &host, fault) != ERR_NONE)
        return fault->code;
    out->label = label;
    out->started_ns = clock_wall_ns();
    out->commit = run_facts_commit(keep);
    out->branch = out->commit != NULL ? ask_or_ci(branch, "GITHUB_REF_NAME", keep) : NULL;
    out->platform = host.wine != NULL ? arena_printf(keep, "%s, %s", host.os, host.wine) : host.os;
    if (options->writer != NULL) /* a baseline of one writer is none for another */
        out->platform = arena_printf(keep, "%s, %s", out->platform, options->writer);
    out->cpu = host.cpu;
    out->command = command_line_join(argc, argv, label, keep);
    const char *victims = options->victims_folder;
    const char *missing = victims != NULL ? read_toolchain(victims, keep, out) : NULL;
    if (victims != NULL && read_managed(victims, keep, out, fault) != ERR_NONE)
        return fault->code;
    if (!add_fact(out, RUN_FACT_NOT_BUILT, missing, keep))
        return fault_no_memory(fault, "run");
    out->tools = ARENA_ARRAY(keep, TOOLS_MAX, struct named_version);
    if (out->tools == NULL || out->command == NULL || out->platform == NULL)
        return fault_no_memory(fault, "run");
    add_tool(out, own_name, TWINSTACK_VERSION);
    add_tool(out, "victims' compiler", out->compiler);
    add_tool(out, "wine", host.wine);
    return ERR_NONE;
}

enum status run_facts_renew(struct run_info *info, struct arena *keep, struct fault *fault)
{
    const struct named_version *tools = info->tools;
    info->tools = ARENA_ARRAY(keep, (size_t)info->tool_count + 1, struct named_version);
    if (info->tools == NULL)
        return fault_no_memory(fault, "tools of a run");
    for (uint32_t i = 0; i < info->tool_count; i++) {
        info->tools[i] = tools[i];
        if (strcmp(tools[i].name, own_name) == 0)
            info->tools[i].version = TWINSTACK_VERSION;
    }
    return ERR_NONE;
}
