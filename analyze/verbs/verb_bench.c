/* twinstack bench: dump way against offset way on the same cases, interleaved, cold and warm,
 * with an A/A control in every run: the offset way against itself is today's noise. */
#include <stdio.h>
#include <string.h>

#include "base/files.h"
#include "base/log.h"
#include "base/process.h"
#include "verbs/analysis.h"
#include "verbs/bench.h"
#include "verbs/harness.h"
#include "verbs/run_facts.h"
#include "verbs/stored.h"
#include "verbs/verbs.h"

enum { LANES = 3, LANE_STAGES = 5, ROUNDS_MAX = 1000 };

struct lane {
    const char *name, *engine;
};

/* The control runs the same engine as the offset lane: any difference is noise. */
static const struct lane lanes[LANES] = {
    {BENCH_DUMP, "dump"}, {BENCH_OFFSET, "offset:rtl"}, {BENCH_CONTROL, "offset:rtl"}};

struct bench_options {
    const char *db, *run;
    uint64_t samples, warmup;
    bool cold, as_json, dry;
};

struct session {
    const struct bench_options *o;
    struct arena *keep;
    struct store *store;
    struct crash_case *cases;
    struct case_timing *timings;
    uint32_t case_count;
    const char **roots;
    uint32_t root_count;
    struct bench_sample *samples;
    uint32_t sample_count;
    struct fault fault;
};

/* ---- measuring ------------------------------------------------------------------------ */

static enum status open_symbols(struct session *s, struct symbol_store **out)
{
    const struct symbol_store_options options = {
        .roots = s->roots, .root_count = s->root_count, .names = NAMES_SHORT};
    return symbol_store_open(&options, out, &s->fault);
}

static void add_cost(struct engine_cost *sum, const struct engine_cost *one)
{
    sum->open_ns += one->open_ns;
    sum->unwind_ns += one->unwind_ns;
    sum->load_ns += one->load_ns;
    sum->resolve_ns += one->resolve_ns;
}

/* One case through one engine.  Without WARM symbols they are opened for it and closed again. */
static enum status take(struct session *s, const struct engine *engine,
                        const struct crash_case *crash, struct symbol_store *warm,
                        struct engine_cost *sum)
{
    struct symbol_store *symbols = warm;
    struct arena work;
    struct engine_result result;

    memset(&result, 0, sizeof result);
    arena_init(&work, 0);
    const uint64_t start = clock_ns();
    if (warm != NULL || open_symbols(s, &symbols) == ERR_NONE) {
        const struct engine_input in = {.crash = crash, .symbols = symbols};
        const uint64_t opened = clock_ns() - start;
        (void)engine->run(engine, &in, &work, &result, &s->fault);
        sum->total_ns += clock_ns() - start;
        result.cost.load_ns += opened;
        add_cost(sum, &result.cost);
    }
    if (warm == NULL)
        symbol_store_close(symbols);
    arena_free(&work);
    return s->fault.code;
}

static void keep_sample(struct session *s, const struct lane *lane, const char *stage, bool cold,
                        uint32_t round, uint64_t ns)
{
    if (ns > 0)
        s->samples[s->sample_count++] = (struct bench_sample){.subject = lane->name,
                                                              .stage = stage,
                                                              .cold = cold,
                                                              .round = round,
                                                              .ns = ns / s->case_count};
}

/* One sample of a lane: all cases once, nanoseconds a case. */
static enum status sample(struct session *s, const struct lane *lane, struct symbol_store *warm,
                          uint32_t round, bool counts)
{
    const struct engine *engine = engine_find(lane->engine);
    const bool cold = warm == NULL;
    struct engine_cost sum;

    memset(&sum, 0, sizeof sum);
    if (engine == NULL)
        return fault_set(&s->fault, ERR_ABSENT, FAULT_NO_OFFSET, "engine");
    for (uint32_t i = 0; i < s->case_count; i++)
        if (take(s, engine, &s->cases[i], warm, &sum) != ERR_NONE)
            return s->fault.code;
    if (!counts)
        return ERR_NONE;
    keep_sample(s, lane, BENCH_TOTAL, cold, round, sum.total_ns);
    keep_sample(s, lane, "parse", cold, round, sum.open_ns);
    keep_sample(s, lane, "unwind", cold, round, sum.unwind_ns);
    keep_sample(s, lane, "load", cold, round, sum.load_ns);
    keep_sample(s, lane, "resolve", cold, round, sum.resolve_ns);
    return ERR_NONE;
}

/* Rounds of all lanes, in an order that turns with the round, so that no lane always goes first. */
static enum status measure(struct session *s, bool cold)
{
    struct symbol_store *warm = NULL;
    const uint32_t rounds = (uint32_t)(s->o->samples + s->o->warmup);
    if (!cold && open_symbols(s, &warm) != ERR_NONE)
        return s->fault.code;
    for (uint32_t round = 0; round < rounds && s->fault.code == ERR_NONE; round++) {
        log_progress("%s round %u/%u", cold ? "cold" : "warm", round + 1, rounds);
        for (uint32_t i = 0; i < LANES && s->fault.code == ERR_NONE; i++)
            (void)sample(s, &lanes[(i + round) % LANES], warm, round, round >= s->o->warmup);
        if (process_interrupted())
            (void)fault_set(&s->fault, ERR_INTERRUPTED, FAULT_NO_OFFSET, "bench");
    }
    log_progress_end();
    symbol_store_close(warm);
    return s->fault.code;
}

/* ---- the whole ------------------------------------------------------------------------ */

/* Keeps the cases that have both a record and a dump. */
static enum status choose_cases(struct session *s, const struct option_list *folders)
{
    s->cases = ARENA_ARRAY(s->keep, (size_t)folders->count + 1, struct crash_case);
    s->timings = ARENA_ARRAY(s->keep, (size_t)folders->count + 1, struct case_timing);
    s->roots = ARENA_ARRAY(s->keep, (size_t)folders->count * 4 + 1, const char *);
    if (s->cases == NULL || s->timings == NULL || s->roots == NULL)
        return fault_set(&s->fault, ERR_MEMORY, FAULT_NO_OFFSET, "cases");
    for (uint32_t i = 0; i < folders->count; i++) {
        struct crash_case *c = &s->cases[s->case_count];
        if (case_read(folders->items[i], s->keep, c, &s->fault) != ERR_NONE)
            return s->fault.code;
        if (case_file(c, ROLE_RECORD) == NULL || case_file(c, ROLE_DUMP) == NULL)
            continue;
        analysis_add_roots(c, s->keep, s->roots, &s->root_count);
        analysis_timing(c, &s->timings[s->case_count++]);
    }
    return ERR_NONE;
}

static enum status folders_of_run(struct session *s, struct option_list *out)
{
    struct stored_run run;
    if (stored_read(s->store, s->o->run, false, s->keep, &run, &s->fault) != ERR_NONE)
        return s->fault.code;
    out->items = ARENA_ARRAY(s->keep, (size_t)run.case_count + 1, const char *);
    out->count = 0;
    if (out->items == NULL)
        return fault_set(&s->fault, ERR_MEMORY, FAULT_NO_OFFSET, "cases");
    for (uint32_t i = 0; i < run.case_count; i++)
        if (run.cases[i].folder != NULL && run.cases[i].repeat == 0 &&
            path_is_folder(run.cases[i].folder))
            out->items[out->count++] = run.cases[i].folder;
    return ERR_NONE;
}

static enum status keep_samples(struct session *s, int argc, char *const *argv)
{
    struct run_info info;
    struct harness harness;
    struct collect_options options = {.victims_folder = NULL};
    if (s->store == NULL || s->o->dry)
        return ERR_NONE;
    harness_init(&harness);
    (void)harness_options(&harness, &options);
    if (run_facts(&options, "bench", argc, argv, s->keep, &info, &s->fault) == ERR_NONE &&
        store_begin_run(s->store, &info, s->keep, &s->fault) == ERR_NONE &&
        store_put_samples(s->store, info.id, s->samples, s->sample_count, &s->fault) == ERR_NONE)
        (void)store_finish_run(s->store, info.id, RUN_COMPLETE, clock_wall_ns(), &s->fault);
    return s->fault.code;
}

/* True when a way became slower than in the last bench. */
static bool tell(struct session *s)
{
    const struct bench_result result = {.samples = s->samples,
                                        .sample_count = s->sample_count,
                                        .timings = s->timings,
                                        .case_count = s->case_count,
                                        .store = s->store};
    bool slower = false;
    struct json j;

    if (!s->o->as_json) {
        bench_print_capture(&result, s->keep);
        slower = bench_print(&result, false, s->keep);
        return (s->o->cold && bench_print(&result, true, s->keep)) || slower;
    }
    json_to_stream(&j, stdout, true);
    json_object(&j);
    json_key_uint(&j, "schema_version", 1);
    json_key_uint(&j, "cases", s->case_count);
    json_key(&j, "capture");
    bench_write_capture(&result, s->keep, &j);
    json_key(&j, "back_end");
    json_array(&j);
    slower = bench_write(&result, false, s->keep, &j);
    if (s->o->cold)
        slower = bench_write(&result, true, s->keep, &j) || slower;
    json_array_end(&j);
    json_object_end(&j);
    json_newline(&j);
    return slower;
}

static int bench(struct session *s, struct option_list folders, int argc, char *const *argv)
{
    if (folders.count == 0 && folders_of_run(s, &folders) != ERR_NONE)
        return stored_fault(&s->fault, s->fault.code != ERR_ABSENT);
    if (choose_cases(s, &folders) != ERR_NONE)
        return verb_fault(&s->fault);
    if (s->case_count == 0) {
        log_error("no case with both a record and a dump");
        return EXIT_NOTHING;
    }
    s->samples =
        ARENA_ARRAY(s->keep, (size_t)s->o->samples * LANES * LANE_STAGES * 2, struct bench_sample);
    if (s->samples == NULL)
        return EXIT_INPUT;
    if (measure(s, false) != ERR_NONE || (s->o->cold && measure(s, true) != ERR_NONE))
        return verb_fault(&s->fault);
    const bool slower = tell(s);
    if (keep_samples(s, argc, argv) != ERR_NONE)
        return stored_fault(&s->fault, true);
    return slower ? EXIT_DIFFERENT : EXIT_GOOD;
}

static int run(const struct verb *self, int argc, char **argv)
{
    struct bench_options o = {.db = STORED_DATABASE, .run = "latest", .samples = 20, .warmup = 3};
    const struct option_row rows[] = {
        {"--samples", OPTION_UINT, &o.samples, "N", "rounds that count (default 20)"},
        {"--warmup", OPTION_UINT, &o.warmup, "N", "rounds before them (default 3)"},
        {"--cold", OPTION_FLAG, &o.cold, NULL, "also with symbols opened for every stack"},
        {"--run", OPTION_STRING, &o.run, "RUN", "whose cases, when none is named (default latest)"},
        {"--dry", OPTION_FLAG, &o.dry, NULL, "do not store the samples"},
        {"--json", OPTION_FLAG, &o.as_json, NULL, "one JSON document"},
        {"--db", OPTION_STRING, &o.db, "FILE", "database (default " STORED_DATABASE ")"},
    };
    struct option_list rest;
    struct arena keep;
    struct store *store = NULL;
    int code = EXIT_GOOD;
    arena_init(&keep, 0);
    if (options_parse(self, rows, sizeof rows / sizeof rows[0], argc, argv, &keep, &rest, &code)) {
        const bool needs_store = rest.count == 0 || !o.dry;
        process_catch_interrupts();
        if (o.samples == 0 || o.samples > ROUNDS_MAX || o.warmup > ROUNDS_MAX)
            code = verb_usage_error(self, "--samples is 1 to %d", ROUNDS_MAX);
        else if (!needs_store ||
                 stored_open(o.db, o.dry ? STORE_READ : STORE_WRITE, &store, &code)) {
            struct session s = {.o = &o, .keep = &keep, .store = store};
            s.fault.offset = FAULT_NO_OFFSET;
            code = bench(&s, rest, argc, argv);
        }
        store_close(store);
    }
    arena_free(&keep);
    return code;
}

const struct verb verb_bench = {
    .name = "bench",
    .summary = "dump way against offset way: interleaved, cold and warm, with an A/A control",
    .usage = "[CASE...]",
    .details =
        "Without CASE the cases of the latest run are used.  Every round takes each way "
        "once, in an\norder that turns; the offset way runs twice, and what differs between "
        "the two is noise.\nA verdict needs p < 0.01 and an effect above the largest of 3 %, "
        "the noise and the fence\nof the last 30 benches; under 8 samples there is none.\n\n"
        "example:\n  twinstack bench corpus/cases/* --samples 30 --cold --dry",
    .exits = "  0    measured, and not slower than the last bench\n  1    slower\n  2    usage\n"
             "  3    a case cannot be read\n  4    database not usable\n  5    no case to measure\n"
             "  130  interrupted",
    .run = run,
};
