/* twinstack bench: dump way against offset way on the same cases, interleaved, cold and warm,
 * with an A/A control in every run: the offset way against itself is today's noise. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/log.h"
#include "base/process.h"
#include "compare/statistics.h"
#include "verbs/analysis.h"
#include "verbs/harness.h"
#include "verbs/run_facts.h"
#include "verbs/stored.h"
#include "verbs/verbs.h"

enum { LANES = 3, HISTORY_RUNS = 30, ROUNDS_MAX = 1000 };

struct lane {
    const char *name, *engine;
};

/* The control runs the same engine as the offset lane: any difference is noise. */
static const struct lane lanes[LANES] = {
    {"dump", "dump"}, {"offset", "offset:rtl"}, {"offset-control", "offset:rtl"}};

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

/* All cases once through one engine: nanoseconds of the whole. */
static enum status pass(struct session *s, const char *engine_name, struct symbol_store *symbols,
                        uint64_t *ns)
{
    const struct engine *engine = engine_find(engine_name);
    if (engine == NULL)
        return fault_set(&s->fault, ERR_ABSENT, FAULT_NO_OFFSET, "engine");
    *ns = 0;
    for (uint32_t i = 0; i < s->case_count; i++) {
        struct arena work;
        struct engine_result result;
        const struct engine_input in = {.crash = &s->cases[i], .symbols = symbols};
        arena_init(&work, 0);
        const uint64_t start = clock_ns();
        (void)engine->run(engine, &in, &work, &result, &s->fault);
        *ns += clock_ns() - start;
        arena_free(&work);
        if (s->fault.code != ERR_NONE)
            return s->fault.code;
    }
    return ERR_NONE;
}

/* One sample of a lane.  Cold: the symbols are opened for it and closed again. */
static enum status sample(struct session *s, const struct lane *lane, struct symbol_store *warm,
                          bool cold, uint32_t round, bool counts)
{
    struct symbol_store *symbols = warm;
    uint64_t ns = 0;
    const uint64_t start = clock_ns();
    if (cold && open_symbols(s, &symbols) != ERR_NONE)
        return s->fault.code;
    const uint64_t opened = cold ? clock_ns() - start : 0;
    const enum status status = pass(s, lane->engine, symbols, &ns);
    if (cold)
        symbol_store_close(symbols);
    if (status == ERR_NONE && counts)
        s->samples[s->sample_count++] = (struct bench_sample){.subject = lane->name,
                                                              .stage = "total",
                                                              .cold = cold,
                                                              .round = round,
                                                              .ns = ns + opened};
    return status;
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
            (void)sample(s, &lanes[(i + round) % LANES], warm, cold, round, round >= s->o->warmup);
        if (process_interrupted())
            (void)fault_set(&s->fault, ERR_INTERRUPTED, FAULT_NO_OFFSET, "bench");
    }
    log_progress_end();
    symbol_store_close(warm);
    return s->fault.code;
}

/* ---- telling -------------------------------------------------------------------------- */

struct series {
    double *values;
    size_t count;
    double median, mad;
};

static struct series series_of(struct session *s, const struct bench_sample *samples,
                               uint32_t count, const char *lane, bool cold)
{
    struct series out = {ARENA_ARRAY(s->keep, (size_t)count + 1, double), 0, (double)NAN,
                         (double)NAN};
    double *scratch = ARENA_ARRAY(s->keep, (size_t)count + 1, double);
    for (uint32_t i = 0; out.values != NULL && i < count; i++)
        if (samples[i].cold == cold && strcmp(samples[i].subject, lane) == 0)
            out.values[out.count++] = (double)samples[i].ns / s->case_count;
    if (out.values == NULL || scratch == NULL || out.count == 0)
        return out;
    out.mad = statistics_mad(out.values, out.count, scratch);
    memcpy(scratch, out.values, out.count * sizeof *scratch);
    out.median = statistics_median(scratch, out.count);
    return out;
}

struct verdict_of_bench {
    double noise, fence; /* shares: today's A/A difference; history's fence over its median */
    struct interval ratio;
    struct change_verdict ways;    /* dump against offset     */
    struct change_verdict history; /* offset: last run to now */
};

/* Medians of the offset lane in earlier bench runs, and the newest one's samples. */
static size_t read_history(struct session *s, bool cold, double *medians, struct series *newest)
{
    struct run_page page;
    struct fault fault = FAULT_INIT;
    const struct run_query query = {.label = "bench", .limit = HISTORY_RUNS};
    size_t count = 0;
    if (store_list_runs(s->store, &query, s->keep, &page, &fault) != ERR_NONE)
        return 0;
    for (uint32_t i = 0; i < page.count; i++) {
        struct bench_sample *samples = NULL;
        uint32_t n = 0;
        if (store_read_samples(s->store, page.runs[i].id, s->keep, &samples, &n, &fault) !=
            ERR_NONE)
            return count;
        const struct series series = series_of(s, samples, n, "offset", cold);
        if (series.count == 0)
            continue;
        if (count == 0)
            *newest = series;
        medians[count++] = series.median;
    }
    return count;
}

static void judge(struct session *s, bool cold, const struct series *dump,
                  const struct series *offset, const struct series *control,
                  struct verdict_of_bench *out)
{
    double medians[HISTORY_RUNS], scratch[HISTORY_RUNS];
    struct series before = {NULL, 0, (double)NAN, (double)NAN};
    double *work =
        ARENA_ARRAY(s->keep, (dump->count + offset->count) * 2 + 64 + ROUNDS_MAX, double);
    memset(out, 0, sizeof *out);
    if (work == NULL)
        return;
    out->noise = fabs(control->median / offset->median - 1);
    out->ratio =
        statistics_ratio(dump->values, dump->count, offset->values, offset->count, 1, work);
    out->ways = statistics_change(offset->values, offset->count, dump->values, dump->count,
                                  out->noise, 0, work);
    const size_t runs = s->store != NULL ? read_history(s, cold, medians, &before) : 0;
    const double fence = statistics_fence(medians, runs, scratch);
    memcpy(scratch, medians, runs * sizeof *scratch);
    out->fence = isinf(fence) ? 0 : fence / statistics_median(scratch, runs) - 1;
    out->history = statistics_change(before.values, before.count, offset->values, offset->count,
                                     out->noise, out->fence, work);
}

static void print_series(const char *name, const struct series *s)
{
    (void)printf("  %-16s %4zu samples  median %10.1f µs  MAD %8.1f µs\n", name, s->count,
                 s->median / 1e3, s->mad / 1e3);
}

static bool tell(struct session *s, bool cold, struct json *j)
{
    const struct series dump = series_of(s, s->samples, s->sample_count, "dump", cold);
    const struct series offset = series_of(s, s->samples, s->sample_count, "offset", cold);
    const struct series control = series_of(s, s->samples, s->sample_count, "offset-control", cold);
    struct verdict_of_bench v;
    judge(s, cold, &dump, &offset, &control, &v);
    if (j != NULL) {
        json_object(j);
        json_key_bool(j, "cold", cold);
        json_key_uint(j, "samples", offset.count);
        json_key_number(j, "dump_ns", dump.median);
        json_key_number(j, "offset_ns", offset.median);
        json_key_number(j, "control_ns", control.median);
        json_key_number(j, "noise", v.noise);
        json_key_number(j, "ratio", v.ratio.value);
        json_key_number(j, "ratio_low", v.ratio.low);
        json_key_number(j, "ratio_high", v.ratio.high);
        json_key_number(j, "p", v.ways.p);
        json_key_string(j, "dump_against_offset", change_name(v.ways.change));
        json_key_number(j, "fence", v.fence);
        json_key_string(j, "offset_against_last", change_name(v.history.change));
        json_object_end(j);
        return v.history.change == CHANGE_SLOWER;
    }
    (void)printf("\n%s, a stack (mean over %u cases)\n",
                 cold ? "COLD: symbols opened each time" : "WARM: symbols stay open",
                 s->case_count);
    print_series("dump", &dump);
    print_series("offset", &offset);
    print_series("offset (control)", &control);
    (void)printf("  today's noise (offset against itself): %.1f %%\n", v.noise * 100);
    if (v.ways.change == CHANGE_TOO_FEW)
        (void)printf("  no verdict: %zu samples are too few, %d are needed\n", offset.count,
                     STATISTICS_MIN_SAMPLES);
    else
        (void)printf("  dump : offset = %.2f : 1  [%.2f to %.2f]  p %.2g  dump is %s\n",
                     v.ratio.value, v.ratio.low, v.ratio.high, v.ways.p,
                     change_name(v.ways.change));
    if (v.history.change != CHANGE_TOO_FEW)
        (void)printf("  offset against the last bench: %+.1f %% (threshold %.1f %%): %s\n",
                     v.history.effect * 100, v.history.threshold * 100,
                     change_name(v.history.change));
    return v.history.change == CHANGE_SLOWER;
}

/* ---- the whole ------------------------------------------------------------------------ */

/* Keeps the cases that have both a record and a dump. */
static enum status choose_cases(struct session *s, const struct option_list *folders)
{
    s->cases = ARENA_ARRAY(s->keep, (size_t)folders->count + 1, struct crash_case);
    s->roots = ARENA_ARRAY(s->keep, (size_t)folders->count * 4 + 1, const char *);
    if (s->cases == NULL || s->roots == NULL)
        return fault_set(&s->fault, ERR_MEMORY, FAULT_NO_OFFSET, "cases");
    for (uint32_t i = 0; i < folders->count; i++) {
        struct crash_case *c = &s->cases[s->case_count];
        if (case_read(folders->items[i], s->keep, c, &s->fault) != ERR_NONE)
            return s->fault.code;
        if (case_file(c, ROLE_RECORD) == NULL || case_file(c, ROLE_DUMP) == NULL)
            continue;
        analysis_add_roots(c, s->keep, s->roots, &s->root_count);
        s->case_count++;
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
    s->samples = ARENA_ARRAY(s->keep, (size_t)s->o->samples * LANES * 2 + 1, struct bench_sample);
    if (s->samples == NULL)
        return EXIT_INPUT;
    if (measure(s, false) != ERR_NONE || (s->o->cold && measure(s, true) != ERR_NONE))
        return verb_fault(&s->fault);
    struct json j, *to = s->o->as_json ? &j : NULL;
    if (to != NULL) {
        json_to_stream(&j, stdout, true);
        json_array(&j);
    }
    bool slower = tell(s, false, to);
    if (s->o->cold)
        slower = tell(s, true, to) || slower;
    if (to != NULL) {
        json_array_end(&j);
        json_newline(&j);
    }
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
        {"--cold", OPTION_FLAG, &o.cold, NULL, "also with symbols opened each time"},
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
