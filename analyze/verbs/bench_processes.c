/* See bench_processes.h. The processes leave what they measured in a database of their own. */
#include "verbs/bench_processes.h"

#include <stdio.h>
#include <string.h>

#include "base/files.h"
#include "base/log.h"
#include "base/process.h"
#include "store/archive.h"
#include "verbs/verb.h"

enum { NAME_BYTES = 4096, LIMIT_MS = 30 * 60 * 1000 };

struct gathering {
    const struct bench_request *request;
    uint32_t processes;
    const char *program, *folder, *db, *names;
    struct arena *keep;
    struct bench *out;
    struct fault *fault;
};

static enum status no_memory(struct fault *fault)
{
    return fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "bench");
}

/* All names of cases, one per line. */
static const char *names_of(const struct bench_request *r, struct arena *keep)
{
    size_t bytes = 1, at = 0;
    for (uint32_t i = 0; i < r->folder_count; i++)
        bytes += strlen(r->folders[i]) + 1;
    char *text = ARENA_ARRAY(keep, bytes, char);
    for (uint32_t i = 0; text != NULL && i < r->folder_count; i++) {
        const size_t length = strlen(r->folders[i]);
        memcpy(text + at, r->folders[i], length);
        text[at + length] = '\n';
        at += length + 1;
    }
    return text;
}

/* Process AT of them; its share of the rounds begins at round FIRST. */
static enum status run_one(const struct gathering *g, uint32_t rounds, uint32_t first)
{
    const char *const argv[] = {g->program,
                                "bench",
                                "-",
                                "--processes",
                                "1",
                                "--turn",
                                arena_printf(g->keep, "%u", first),
                                "--samples",
                                arena_printf(g->keep, "%u", rounds),
                                "--warmup",
                                arena_printf(g->keep, "%u", g->request->warmup),
                                "--progress",
                                "none",
                                "--db",
                                g->db,
                                "--cache",
                                g->request->cache != NULL ? g->request->cache : "",
                                g->request->cold ? "--cold" : NULL,
                                NULL};
    const char *const no_cache[] = {argv[0],  argv[1],  argv[2],  argv[3],  argv[4],  argv[5],
                                    argv[6],  argv[7],  argv[8],  argv[9],  argv[10], argv[11],
                                    argv[12], argv[13], argv[14], argv[17], NULL};
    const struct process_request request = {.argv = g->request->cache != NULL ? argv : no_cache,
                                            .input = g->names,
                                            .input_bytes = strlen(g->names),
                                            .limit_ms = LIMIT_MS};
    struct process_result result;
    if (argv[6] == NULL || argv[8] == NULL || argv[10] == NULL)
        return no_memory(g->fault);
    if (process_run(&request, g->keep, &result, g->fault) != ERR_NONE)
        return g->fault->code;
    if (process_interrupted())
        return fault_set(g->fault, ERR_INTERRUPTED, FAULT_NO_OFFSET, "bench");
    if (result.exit_code != EXIT_GOOD && result.exit_code != EXIT_DIFFERENT)
        return fault_set_lasting(g->fault, ERR_IO, FAULT_NO_OFFSET, "a process of the bench failed",
                                 result.errors);
    return ERR_NONE;
}

/* Adds what run AT + 1 of the database says; its rounds follow those of the processes before it. */
static enum status add_one(const struct gathering *g, struct store *store, uint32_t at,
                           uint32_t first)
{
    struct bench *out = g->out;
    struct bench_sample *samples = NULL;
    struct bench_case *costs = NULL;
    uint32_t sample_count = 0, cost_count = 0;
    if (store_read_samples(store, at + 1, g->keep, &samples, &sample_count, g->fault) != ERR_NONE ||
        store_read_bench_cases(store, at + 1, g->keep, &costs, &cost_count, g->fault) != ERR_NONE)
        return g->fault->code;
    struct bench_sample *all_samples =
        ARENA_ARRAY(g->keep, (size_t)out->sample_count + sample_count + 1, struct bench_sample);
    struct bench_case *all_costs =
        ARENA_ARRAY(g->keep, (size_t)out->cost_count + cost_count + 1, struct bench_case);
    if (all_samples == NULL || all_costs == NULL)
        return no_memory(g->fault);
    memcpy(all_samples, out->samples, out->sample_count * sizeof *all_samples);
    memcpy(all_costs, out->costs, out->cost_count * sizeof *all_costs);
    for (uint32_t i = 0; i < sample_count; i++) {
        samples[i].round += first;
        all_samples[out->sample_count++] = samples[i];
    }
    for (uint32_t i = 0; i < cost_count; i++) {
        costs[i].process = at;
        all_costs[out->cost_count++] = costs[i];
    }
    out->samples = all_samples;
    out->costs = all_costs;
    return ERR_NONE;
}

static enum status gather(const struct gathering *g)
{
    struct store *store = NULL;
    const uint32_t rounds = g->request->rounds;
    uint32_t first = 0;
    for (uint32_t i = 0; i < g->processes; i++) {
        const uint32_t share = rounds / g->processes + (i < rounds % g->processes);
        log_progress_of(i + 1, g->processes, "process %u/%u", i + 1, g->processes);
        if (run_one(g, share, first) != ERR_NONE)
            return g->fault->code;
        first += share;
    }
    if (store_open(g->db, STORE_READ, &store, g->fault) != ERR_NONE)
        return g->fault->code;
    first = 0;
    for (uint32_t i = 0; i < g->processes && g->fault->code == ERR_NONE; i++) {
        (void)add_one(g, store, i, first);
        first += rounds / g->processes + (i < rounds % g->processes);
    }
    store_close(store);
    return g->fault->code;
}

enum status bench_processes(const struct bench_request *request, uint32_t processes,
                            struct arena *keep, struct bench *out, struct fault *fault)
{
    struct fault ignored = FAULT_INIT;
    struct gathering g = {.request = request,
                          .processes = processes < request->rounds ? processes : request->rounds,
                          .program = process_program(keep),
                          .folder = folder_temporary_name("bench", keep),
                          .names = names_of(request, keep),
                          .keep = keep,
                          .out = out,
                          .fault = fault};
    if (g.folder == NULL || g.names == NULL)
        return no_memory(fault);
    g.db = arena_printf(keep, "%s/bench.db", g.folder);
    if (g.program == NULL || g.db == NULL)
        return fault_set(fault, ERR_ABSENT, FAULT_NO_OFFSET, "the file of this program");
    out->sample_count = out->cost_count = 0;
    if (folder_make(g.folder, fault) == ERR_NONE)
        (void)gather(&g);
    (void)path_remove(g.folder, &ignored);
    return fault->code;
}

enum status bench_read_names(struct arena *keep, const char ***out, uint32_t *count,
                             struct fault *fault)
{
    char line[NAME_BYTES];
    uint32_t room = 0;
    const char **names = NULL;
    *count = 0;
    while (fgets(line, sizeof line, stdin) != NULL) {
        const size_t length = strcspn(line, "\r\n");
        if (line[length] == '\0' && length + 1 == sizeof line)
            return fault_set(fault, ERR_LIMIT, FAULT_NO_OFFSET, "name of a case");
        line[length] = '\0';
        if (length == 0)
            continue;
        if (*count == room) {
            const uint32_t wider = room * 2 + 64;
            const char **more = ARENA_ARRAY(keep, wider, const char *);
            if (more == NULL)
                return no_memory(fault);
            if (room > 0)
                memcpy(more, names, room * sizeof *more);
            names = more;
            room = wider;
        }
        names[*count] = arena_string(keep, line);
        if (names[(*count)++] == NULL)
            return no_memory(fault);
    }
    *out = names;
    return ERR_NONE;
}
