/* twinstack bench: dump way against offset way on the same cases, interleaved, cold and warm,
 * with an A/A control in every run: the offset way against itself is today's noise. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/log.h"
#include "base/process.h"
#include "conduct/bench_programs.h"
#include "conduct/run_facts.h"
#include "engine/microsoft.h"
#include "verbs/bench_processes.h"
#include "verbs/bench_text.h"
#include "verbs/common.h"
#include "verbs/harness.h"
#include "verbs/index_note.h"
#include "verbs/open_store.h"
#include "verbs/verbs.h"

struct bench_options {
    const char *db, *run, *cache;
    struct harness harness;
    uint64_t samples, warmup, processes, turn;
    bool cold, as_json, dry;
    int argc; /* the command line, stored with the samples */
    char *const *argv;
};

static bool show_round(void *context, bool cold, uint32_t round, uint32_t rounds)
{
    (void)context;
    log_progress_of(round, rounds, "%s round %u/%u", cold ? "cold" : "warm", round, rounds);
    return !process_interrupted();
}

static enum status keep_samples(const struct bench_options *o, struct store *store,
                                const struct bench *result, struct arena *keep, struct fault *fault)
{
    struct run_info info;
    struct harness harness;
    struct collect_options options = {.victims_folder = NULL};
    harness_init(&harness);
    (void)harness_options(&harness, &options);
    if (run_facts(&options, RUN_LABEL_BENCH, o->argc, o->argv, keep, &info, fault) != ERR_NONE)
        return fault->code;
    return bench_keep(store, &info, result, keep, fault);
}

/* Where Microsoft's files are: what these programs cost for the same dumps. */
static enum status measure_programs(struct bench_options *o, const struct bench_request *request,
                                    const struct bench *measured, struct arena *keep,
                                    struct bench_programs *out, struct fault *fault)
{
    struct collect_options windows = {.victims_folder = NULL};
    const struct bench_programs_request programs = {.bench = request,
                                                    .measured = measured,
                                                    .windows = &windows,
                                                    .program = process_program(keep)};
    if (programs.program == NULL)
        return fault_set(fault, ERR_ABSENT, FAULT_NO_OFFSET, "the file of this program");
    if (!harness_options(&o->harness, &windows))
        return fault_set(fault, ERR_USAGE, FAULT_NO_OFFSET, "--launcher has too many words");
    return bench_programs_measure(&programs, keep, out, fault);
}

/* PROGRAMS NULL: not measured. */
static void print_findings(const struct bench_findings *findings,
                           const struct bench_programs *programs, bool as_json, struct arena *keep)
{
    struct json j;
    if (!as_json) {
        bench_print(findings, keep);
        bench_print_programs(programs, keep);
        return;
    }
    json_to_stream(&j, stdout, true);
    bench_write_json(&j, findings, programs);
    json_newline(&j);
}

static int measure(struct bench_options *o, struct store *store, struct option_list folders,
                   struct arena *keep)
{
    struct bench result;
    struct bench_programs programs;
    struct bench_findings findings;
    struct fault fault = FAULT_INIT;
    const bool listed = folders.count == 1 && strcmp(folders.items[0], "-") == 0;
    if (listed && bench_read_names(keep, &folders.items, &folders.count, &fault) != ERR_NONE)
        return verb_fault(&fault);
    if (!listed && folders.count == 0 &&
        bench_folders_of_run(store, o->run, keep, &folders.items, &folders.count, &fault) !=
            ERR_NONE)
        return stored_fault(&fault, fault.code != ERR_ABSENT);
    const bool alone = o->processes == 1 || o->samples == 1;
    const struct bench_request request = {.folders = folders.items,
                                          .folder_count = folders.count,
                                          .rounds = (uint32_t)o->samples,
                                          .warmup = (uint32_t)o->warmup,
                                          .turn = (uint32_t)o->turn,
                                          .cold = o->cold,
                                          .cache = o->cache,
                                          .progress = show_round};
    struct bench_request before = request; /* of several processes: builds indexes, reads timings */
    before.rounds = 0;
    before.warmup = 1;
    enum status status = bench_measure(alone ? &request : &before, keep, &result, &fault);
    if (status == ERR_NONE && !alone && result.case_count > 0)
        status = bench_processes(&request, (uint32_t)o->processes, keep, &result, &fault);
    const bool has_programs = microsoft_path(MICROSOFT_DBGENG, CPU_X64, keep) != NULL;
    if (status == ERR_NONE && has_programs && result.case_count > 0)
        status = measure_programs(o, &request, &result, keep, &programs, &fault);
    log_progress_end();
    if (status != ERR_NONE)
        return verb_fault(&fault);
    if (result.case_count == 0) {
        log_error("no case with both a record and a dump");
        return EXIT_NOTHING;
    }
    if (bench_judge(&result, store, keep, &findings, &fault) != ERR_NONE)
        return verb_fault(&fault);
    print_findings(&findings, has_programs ? &programs : NULL, o->as_json, keep);
    index_note(result.index_count, result.index_ns);
    if (store != NULL && !o->dry && keep_samples(o, store, &result, keep, &fault) != ERR_NONE)
        return stored_fault(&fault, true);
    return findings.slower ? EXIT_DIFFERENT : EXIT_GOOD;
}

static int bench(const struct verb *self, void *given, const struct option_list *words,
                 struct arena *keep)
{
    struct bench_options *o = given;
    struct fault fault = FAULT_INIT;
    const bool needs_store = words->count == 0 || !o->dry;
    const enum store_mode to_keep = words->count == 0 ? stored_to_change(o->db) : STORE_WRITE;
    struct store *store = NULL;
    int code = EXIT_GOOD;
    process_catch_interrupts();
    if (o->samples == 0 || o->samples > BENCH_ROUNDS_MAX || o->warmup > BENCH_ROUNDS_MAX)
        return verb_usage_error(self, "--samples is 1 to %d", BENCH_ROUNDS_MAX);
    if (o->processes == 0 || o->processes > BENCH_PROCESSES_MAX || o->turn > BENCH_ROUNDS_MAX)
        return verb_usage_error(self, "--processes is 1 to %d", BENCH_PROCESSES_MAX);
    if (harness_debugger(&o->harness, &fault) != ERR_NONE)
        return verb_fault(&fault);
    if (!needs_store || stored_open(o->db, o->dry ? STORE_READ : to_keep, &store, &code))
        code = measure(o, store, *words, keep);
    stored_close(store);
    return code;
}

static int run(const struct verb *self, int argc, char **argv)
{
    struct bench_options o = {.db = STORED_DATABASE,
                              .run = "latest",
                              .samples = 20,
                              .warmup = 3,
                              .processes = 5,
                              .argc = argc,
                              .argv = argv};
    const struct option_row rows[] = {
        {"--samples", OPTION_UINT, &o.samples, "N", "measured rounds (default 20)"},
        {"--warmup", OPTION_UINT, &o.warmup, "N", "unmeasured rounds before those (default 3)"},
        {"--processes", OPTION_UINT, &o.processes, "N",
         "spread the rounds over N processes (default 5)"},
        {"--turn", OPTION_UINT, &o.turn, "N",
         "which way begins; a bench of several gives it to each"},
        {"--cold", OPTION_FLAG, &o.cold, NULL,
         "also measure with symbols opened anew for every stack"},
        OPTION_AS(RUN, &o.run, "whose cases to use if none is named; default latest"),
        OPTION(CACHE, &o.cache),
        OPTION(DRY, &o.dry),
        OPTION(PROGRESS, NULL),
        OPTION(JSON, &o.as_json),
        OPTION(DB, &o.db),
        HARNESS_ROWS(o.harness),
        HARNESS_DEBUGGER_ROW(o.harness),
    };
    harness_init(&o.harness);
    return verb_main(self, rows, COUNT_OF(rows), bench, &o, argc, argv);
}

const struct verb verb_bench = {
    .name = "bench",
    .summary = "time the dump way against the offset way: interleaved, cold and warm, with an "
               "A/A control",
    .usage = "[CASE...]",
    .details =
        "Without CASE the cases of the latest run are used; `-` reads their names from standard "
        "input.\nEvery round runs each way once, in rotating order; the offset way runs twice, and "
        "the\ndifference between the two is noise.  Rounds are spread over processes, since the "
        "same "
        "bench\nin another process differs by more than its rounds; the interval of the ratio "
        "covers "
        "cases\n(from 12 scenarios on) and processes.  While the noise is above 25 %, more "
        "processes "
        "measure,\nup to as many again; above it, \"the same\" is \"too noisy to judge\".\n"
        "A verdict needs p < 0.01 and an effect above the largest of 3 %, the noise and the fence\n"
        "of the last 30 benches; with fewer than 8 samples there is no verdict.\n"
        "Where Microsoft's files are (--debugger), WinDbg's engine and both dbghelps are timed "
        "with dumps of\n30 of the cases: in a process for each, and again in one that has had "
        "them.\n\n"
        "example:\n  twinstack bench corpus/cases/* --samples 30 --cold --dry",
    .exits = "  0    measured, and not slower than the last bench\n  1    slower\n  2    usage\n"
             "  3    a case cannot be read\n  4    database not usable\n  5    no case to measure\n"
             "  130  interrupted",
    .run = run,
};
