/* See bench_processes.h. The processes leave what they measured in a database of their own. */
#include "verbs/bench_processes.h"

#include <stdio.h>
#include <string.h>

#include "base/files.h"
#include "base/log.h"
#include "base/process.h"
#include "store/archive.h"
#include "verbs/verb.h"

enum { NAME_BYTES = 4096, LIMIT_MS = 24 * 60 * 60 * 1000 };

struct gathering {
    const struct bench_request *request;
    uint32_t processes;
    const char *program, *folder, *db, *names;
    struct arena *keep;
    struct bench *out;
    uint32_t sample_room, cost_room;
    struct fault *fault;
};

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

/* One of the processes, whose share of ROUNDS begins at round FIRST. It may take as long as all of
 * them could take here: the person who waits can end it. */
static enum status run_one(const struct gathering *g, uint32_t rounds, uint32_t first)
{
    const struct bench_request *r = g->request;
    const char *argv[20] = {g->program,
                            "bench",
                            "-",
                            "--db",
                            g->db,
                            "--processes",
                            "1",
                            "--progress",
                            "none",
                            "--turn",
                            arena_printf(g->keep, "%u", first),
                            "--samples",
                            arena_printf(g->keep, "%u", rounds),
                            "--warmup",
                            arena_printf(g->keep, "%u", r->warmup)};
    size_t count = 15;
    if (argv[10] == NULL || argv[12] == NULL || argv[14] == NULL)
        return fault_no_memory(g->fault, "bench");
    if (r->cold)
        argv[count++] = "--cold";
    if (r->cache != NULL) {
        argv[count++] = "--cache";
        argv[count++] = r->cache;
    }
    static const char *const environment[] = {"TWINSTACK_DEBUGGER=", NULL}; /* we time judges */
    const struct process_request request = {.argv = argv,
                                            .environment = environment,
                                            .input = g->names,
                                            .input_bytes = strlen(g->names),
                                            .limit_ms = LIMIT_MS};
    struct process_result result;
    if (process_run(&request, g->keep, &result, g->fault) != ERR_NONE)
        return g->fault->code;
    if (process_interrupted())
        return fault_set(g->fault, ERR_INTERRUPTED, FAULT_NO_OFFSET, "bench");
    if (result.exit_code != EXIT_GOOD && result.exit_code != EXIT_DIFFERENT) {
        result.errors[strcspn(result.errors, "\r\n")] = '\0'; /* the reason is its first line */
        return fault_set_lasting(g->fault, ERR_IO, FAULT_NO_OFFSET, "a process of the bench failed",
                                 result.errors);
    }
    return ERR_NONE;
}

/* Adds what run AT + 1 of the database says; its rounds follow those of the processes before it. */
static enum status add_one(struct gathering *g, struct store *store, uint32_t at, uint32_t first)
{
    struct bench *out = g->out;
    struct bench_sample *samples = NULL;
    struct bench_case *costs = NULL;
    uint32_t sample_count = 0, cost_count = 0;
    if (store_read_samples(store, at + 1, g->keep, &samples, &sample_count, g->fault) != ERR_NONE ||
        store_read_bench_cases(store, at + 1, g->keep, &costs, &cost_count, g->fault) != ERR_NONE)
        return g->fault->code;
    struct bench_case *all_costs = arena_reserve(g->keep, out->costs, &g->cost_room,
                                                 out->cost_count + cost_count, sizeof *all_costs);
    if (!ARENA_ROOM(g->keep, out->samples, g->sample_room, out->sample_count + sample_count) ||
        all_costs == NULL)
        return fault_no_memory(g->fault, "bench");
    out->costs = all_costs;
    for (uint32_t i = 0; i < sample_count; i++) {
        samples[i].round += first;
        out->samples[out->sample_count++] = samples[i];
    }
    for (uint32_t i = 0; i < cost_count; i++) {
        costs[i].process = at;
        out->costs[out->cost_count++] = costs[i];
    }
    return ERR_NONE;
}

/* The round at which process AT begins; of PROCESSES: the number of all. */
static uint32_t first_round(const struct gathering *g, uint32_t at)
{
    return (uint32_t)((uint64_t)g->request->rounds * at / g->processes);
}

/* Adds what run AT + 1 of the processes' database says. */
static enum status add_newest(struct gathering *g, uint32_t at)
{
    struct store *store = NULL;
    if (store_open(g->db, STORE_READ, &store, g->fault) == ERR_NONE)
        (void)add_one(g, store, at, first_round(g, at));
    store_close(store);
    return g->fault->code;
}

/* While the offset way differs too much from itself, more processes measure, up to as many again.
 */
static enum status gather(struct gathering *g)
{
    const uint32_t planned = g->processes;
    uint32_t most = planned;
    for (uint32_t i = 0; i < most; i++) {
        const uint32_t first = first_round(g, i);
        log_progress_of(i + 1, most, "process %u/%u", i + 1, most);
        if (run_one(g, first_round(g, i + 1) - first, first) != ERR_NONE ||
            add_newest(g, i) != ERR_NONE)
            return g->fault->code;
        if (i + 1 == most && most < 2 * planned && bench_is_noisy(g->out, g->keep))
            most++;
    }
    return ERR_NONE;
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
        return fault_no_memory(fault, "bench");
    g.db = arena_printf(keep, "%s/bench.db", g.folder);
    if (g.program == NULL || g.db == NULL)
        return fault_set(fault, ERR_ABSENT, FAULT_NO_OFFSET, "the file of this program");
    out->samples = NULL; /* what this process measured only built the indexes */
    out->costs = NULL;
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
        const char **more = arena_reserve(keep, names, &room, (uint64_t)*count + 1, sizeof *names);
        if (more == NULL)
            return fault_no_memory(fault, "bench");
        names = more;
        names[*count] = arena_string(keep, line);
        if (names[(*count)++] == NULL)
            return fault_no_memory(fault, "bench");
    }
    *out = names;
    return ERR_NONE;
}
