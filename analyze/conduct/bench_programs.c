/* See bench_programs.h. Each case is measured by all programs before the next one, as in
 * bench_measure.c, and of each its least time counts. */
#include "conduct/bench_programs.h"

#include <string.h>

#include "base/files.h"
#include "base/process.h"
#include "conduct/judging.h"
#include "engine/engines.h"
#include "engine/judge.h"
#include "engine/judge_pool.h"

/* A program that answers many questions is asked about each case several times: the first answer
 * loads the modules. */
enum { CASES_MOST = 30, PROCESS_ROUNDS = 2, AGAIN_ROUNDS = 3, LIMIT_MS = 60000 };

struct session {
    const struct bench_programs_request *request;
    struct bench_programs *out;
    struct arena *keep;
    struct crash_case *cases;
    struct opened_case *files;
    struct judging judging;
    struct judge_pool *pool;
    uint64_t (*process)[BENCH_PROGRAMS], (*again)[BENCH_PROGRAMS]; /* the least of each case */
    struct fault *fault;
};

static const char *const names[BENCH_PROGRAMS] = {
    [PROGRAM_OFFSETS] = "offset",
    [PROGRAM_DUMP] = "dump",
    [PROGRAM_DBGHELP_MICROSOFT] = "judge:dbghelp-microsoft",
    [PROGRAM_DBGENG] = "judge:dbgeng",
    [PROGRAM_DBGHELP] = "judge:dbghelp",
};

static bool is_ours(int program)
{
    return program <= PROGRAM_DUMP;
}

static void keep_least(uint64_t *least, uint64_t ns)
{
    if (ns != 0 && (*least == 0 || ns < *least))
        *least = ns;
}

/* ---- this program --------------------------------------------------------------------- */

/* `dump` or `resolve` over files that lie side by side, as judges have them. */
static void run_ours(struct session *s, uint32_t at, int program)
{
    const struct engine_input in = {.opened = &s->files[at],
                                    .symbols = s->judging.analysis.symbols};
    const struct case_file *record = case_file(&s->cases[at], ROLE_RECORD);
    struct judge_stage stage;
    struct process_result result;
    struct arena work;

    arena_init(&work, 0);
    if (judge_stage_open(&in, &work, &stage, s->fault) != ERR_NONE) {
        arena_free(&work);
        return;
    }
    const char *path = path_join(&work, s->cases[at].folder, record->path);
    const bool reads_dump = program == PROGRAM_DUMP;
    const char *const argv[] = {s->request->program,
                                reads_dump ? "dump" : "resolve",
                                "--symbols",
                                ".",
                                reads_dump ? stage.dump : path_base(record->path),
                                s->request->bench->cache != NULL ? "--cache" : NULL,
                                s->request->bench->cache,
                                NULL};
    const struct process_request request = {
        .argv = argv, .folder = stage.folder, .limit_ms = LIMIT_MS};
    if (path == NULL)
        fault_no_memory(s->fault, "bench");
    else if ((reads_dump || judge_stage_add(&stage, path, &work, s->fault) == ERR_NONE) &&
             process_run(&request, &work, &result, s->fault) == ERR_NONE) {
        if (result.exit_code == 0)
            keep_least(&s->process[at][program], result.wall_ns);
        else
            fault_set(s->fault, ERR_IO, FAULT_NO_OFFSET, "a process of the bench failed");
    }
    judge_stage_close(&stage);
    arena_free(&work);
}

/* Warm times as the bench has them: the least of all its processes. */
static void take_ours(struct session *s, uint32_t at)
{
    const struct bench *measured = s->request->measured;
    for (uint32_t i = 0; i < measured->cost_count; i++) {
        const struct bench_case *cost = &measured->costs[i];
        if (cost->cold || strcmp(cost->scenario, s->cases[at].scenario) != 0 ||
            strcmp(cost->variant, s->cases[at].variant) != 0)
            continue;
        keep_least(&s->again[at][PROGRAM_OFFSETS], cost->ns[LANE_OFFSET]);
        keep_least(&s->again[at][PROGRAM_DUMP], cost->ns[LANE_DUMP]);
    }
}

/* ---- judges --------------------------------------------------------------------------- */

static const struct engine *engine_of(int program)
{
    for (uint32_t i = 0; i < engine_count; i++)
        if (strcmp(engines[i]->name, names[program]) == 0)
            return engines[i];
    return NULL;
}

/* A case that a judge does not answer has no time by it. */
static void run_judge(struct session *s, uint32_t at, int program, bool stays)
{
    const struct engine *engine = engine_of(program);
    const struct engine_input in = {.opened = &s->files[at],
                                    .symbols = s->judging.analysis.symbols,
                                    .launcher = s->judging.analysis.launcher,
                                    .judge_folder = s->judging.analysis.judge_folder,
                                    .judges = stays ? s->pool : NULL};
    struct bench_program *row = &s->out->rows[program];
    struct engine_result result;
    struct fault fault = FAULT_INIT;
    struct arena work;

    if (row->why_not != NULL)
        return;
    const char *why = NULL;
    if (!engine->available(engine, &in, &why)) {
        row->why_not = why;
        return;
    }
    arena_init(&work, 0);
    if (engine->run(engine, &in, &work, &result, &fault) == ERR_NONE) {
        if (row->version == NULL && result.version != NULL)
            row->version = arena_string(s->keep, result.version);
        if (stays && result.warm)
            keep_least(&s->again[at][program], result.cost.total_ns);
        else if (!stays)
            keep_least(&s->process[at][program], result.cost.total_ns);
    } else if (fault.code == ERR_INTERRUPTED || fault.code == ERR_MEMORY) {
        *s->fault = fault;
    }
    arena_free(&work);
}

/* ---- all of them ---------------------------------------------------------------------- */

static void measure_round(struct session *s, bool stays)
{
    for (uint32_t at = 0; at < s->out->case_count; at++)
        for (int program = 0; program < BENCH_PROGRAMS && s->fault->code == ERR_NONE; program++) {
            if (!is_ours(program))
                run_judge(s, at, program, stays);
            else if (!stays)
                run_ours(s, at, program);
        }
}

static void measure_all(struct session *s)
{
    const struct bench_request *bench = s->request->bench;
    const uint32_t rounds = PROCESS_ROUNDS + AGAIN_ROUNDS;
    for (uint32_t round = 0; round < rounds && s->fault->code == ERR_NONE; round++) {
        if (bench->progress != NULL &&
            !bench->progress(bench->context, round < PROCESS_ROUNDS, round + 1, rounds))
            (void)fault_set(s->fault, ERR_INTERRUPTED, FAULT_NO_OFFSET, "bench");
        else
            measure_round(s, round >= PROCESS_ROUNDS);
    }
    for (uint32_t at = 0; at < s->out->case_count; at++)
        take_ours(s, at);
}

static void sum_up(struct session *s)
{
    double process[CASES_MOST], again[CASES_MOST];
    for (int program = 0; program < BENCH_PROGRAMS; program++) {
        struct bench_program *row = &s->out->rows[program];
        size_t processes = 0, agains = 0;
        for (uint32_t at = 0; at < s->out->case_count; at++) {
            if (s->process[at][program] != 0)
                process[processes++] = (double)s->process[at][program];
            if (s->again[at][program] != 0)
                again[agains++] = (double)s->again[at][program];
        }
        row->process = measurement_of_cases(process, processes);
        row->again = measurement_of_cases(again, agains);
        if (row->why_not == NULL && processes == 0)
            row->why_not = "it answered in no case";
    }
}

/* Keeps those of one processor, which are not mixed: x64 where there is any. */
static uint32_t keep_one_processor(struct crash_case *cases, uint32_t count)
{
    enum cpu arch = count > 0 ? cases[0].arch : CPU_UNKNOWN;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++)
        if (cases[i].arch == CPU_X64)
            arch = CPU_X64;
    for (uint32_t i = 0; i < count; i++)
        if (cases[i].arch == arch)
            cases[kept++] = cases[i];
    return kept;
}

/* Those with a record and a dump, spread evenly over all that were named. */
static void read_cases(struct session *s)
{
    const struct bench_request *r = s->request->bench;
    struct crash_case *all = ARENA_ARRAY(s->keep, (size_t)r->folder_count + 1, struct crash_case);
    uint32_t count = 0;
    for (uint32_t i = 0; all != NULL && i < r->folder_count; i++) {
        if (case_read(r->folders[i], s->keep, &all[count], s->fault) != ERR_NONE)
            return;
        count += case_file(&all[count], ROLE_RECORD) != NULL &&
                 case_file(&all[count], ROLE_DUMP) != NULL;
    }
    count = keep_one_processor(all, count);
    const uint32_t taken = count < CASES_MOST ? count : CASES_MOST;
    s->cases = ARENA_ARRAY(s->keep, CASES_MOST, struct crash_case);
    s->files = ARENA_ARRAY(s->keep, CASES_MOST, struct opened_case);
    s->process = arena_alloc(s->keep, CASES_MOST * sizeof *s->process);
    s->again = arena_alloc(s->keep, CASES_MOST * sizeof *s->again);
    if (all == NULL || s->cases == NULL || s->files == NULL || s->process == NULL ||
        s->again == NULL) {
        fault_no_memory(s->fault, "bench");
        return;
    }
    memset(s->process, 0, CASES_MOST * sizeof *s->process);
    memset(s->again, 0, CASES_MOST * sizeof *s->again);
    for (uint32_t i = 0; i < taken; i++) {
        s->cases[i] = all[(uint64_t)i * count / taken];
        opened_case_name(&s->cases[i], s->keep, &s->files[i]);
    }
    s->out->case_count = taken;
    s->out->arch = taken > 0 ? s->cases[0].arch : CPU_UNKNOWN;
}

enum status bench_programs_measure(const struct bench_programs_request *request, struct arena *keep,
                                   struct bench_programs *out, struct fault *fault)
{
    struct session s = {.request = request, .out = out, .keep = keep, .fault = fault};
    memset(out, 0, sizeof *out);
    for (int program = 0; program < BENCH_PROGRAMS; program++)
        out->rows[program].name = names[program];
    read_cases(&s);
    if (fault->code != ERR_NONE || out->case_count == 0)
        return fault->code;
    const struct judging_needs needs = {
        .cases = s.cases, .case_count = out->case_count, .cache = request->bench->cache};
    const char *folder = folder_temporary_name("judges", keep);
    if (folder == NULL)
        return fault_no_memory(fault, "bench");
    if (judging_open(&needs, keep, &s.judging, fault) == ERR_NONE &&
        judging_open_windows(&s.judging, request->windows, fault) == ERR_NONE &&
        judge_pool_open(folder, &s.pool, fault) == ERR_NONE)
        measure_all(&s);
    judge_pool_close(s.pool);
    judging_close(&s.judging);
    if (fault->code == ERR_NONE)
        sum_up(&s);
    return fault->code;
}
