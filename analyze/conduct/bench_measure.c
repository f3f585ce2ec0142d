/* See bench_measure.h. */
#include "conduct/bench_measure.h"

#include <string.h>

#include "base/files.h"
#include "conduct/judging.h"
#include "conduct/measure.h"
#include "store/store.h"
#include "symbol/symbol_store.h"

struct session {
    const struct bench_request *request;
    struct bench *out;
    struct crash_case *cases;
    struct opened_case *files; /* of the cases */
    struct judging judging;
    struct fault *fault;
};

/* Keeps the least that case AT cost by LANE; a 0 was not measured. */
static void keep_least(struct session *s, enum bench_lane lane, bool cold, uint32_t at, uint64_t ns)
{
    if (lane == LANE_CONTROL || ns == 0)
        return;
    uint64_t *least = &s->out->costs[(cold ? s->out->case_count : 0) + at].ns[lane];
    if (*least == 0 || ns < *least)
        *least = ns;
}

/* Adds one case through one way; returns what all of it cost, 0 on a fault. */
static uint64_t time_case(struct session *s, enum case_way way, const struct opened_case *files,
                          bool cold, struct way_parts *sum)
{
    const struct engine_input in = {.opened = files, .symbols = s->judging.analysis.symbols};
    const struct measure_request request = {.in = &in, .way = way, .cold = cold};
    struct way_parts parts;
    struct arena work;
    uint64_t whole = 0;
    arena_init(&work, 0);
    if (measure_once(&request, &work, &parts, NULL, s->fault) == ERR_NONE) {
        whole = parts.whole_ns;
        sum->whole_ns += parts.whole_ns;
        sum->open_ns += parts.open_ns;
        sum->unwind_ns += parts.unwind_ns;
        sum->load_ns += parts.load_ns;
        sum->resolve_ns += parts.resolve_ns;
    }
    arena_free(&work);
    return whole;
}

/* What one round cost, by processor and lane. */
struct round_sums {
    struct way_parts of[CPU_COUNT][BENCH_LANES];
};

/* Times of two processors are not mixed: the first one that both ways have, as the ratio has it,
 * else the first one that has a case. */
static enum cpu arch_of(const struct round_sums *sums)
{
    for (int pairs = 1; pairs >= 0; pairs--)
        for (int i = 0; i < CPU_COUNT; i++) {
            const struct way_parts *of = sums->of[cpu_order[i]];
            const bool dump = of[LANE_DUMP].whole_ns > 0, offset = of[LANE_OFFSET].whole_ns > 0;
            if (pairs != 0 ? dump && offset : dump || offset)
                return cpu_order[i];
        }
    return CPU_UNKNOWN;
}

/* The samples of a lane in one round: nanoseconds per case. */
static void add_samples(struct bench *out, enum bench_lane lane, const struct round_sums *sums,
                        bool cold, uint32_t round)
{
    const enum cpu arch = arch_of(sums);
    const struct way_parts *sum = &sums->of[arch][lane];
    const uint64_t parts[BENCH_STAGES] = {[STAGE_TOTAL] = sum->whole_ns,
                                          [STAGE_PARSE] = sum->open_ns,
                                          [STAGE_UNWIND] = sum->unwind_ns,
                                          [STAGE_LOAD] = sum->load_ns,
                                          [STAGE_RESOLVE] = sum->resolve_ns};
    uint64_t cases = 0;
    for (uint32_t i = 0; i < out->case_count; i++)
        cases += out->archs[i] == arch;
    for (int stage = 0; cases > 0 && stage < BENCH_STAGES; stage++)
        if (parts[stage] > 0)
            out->samples[out->sample_count++] =
                (struct bench_sample){.lane = lane,
                                      .stage = (enum bench_stage)stage,
                                      .cold = cold,
                                      .round = round,
                                      .ns = parts[stage] / cases};
}

/* The order rotates with the rounds, so that no lane is always first. */
static enum bench_lane lane_of(const struct session *s, uint32_t round, uint32_t at)
{
    static const enum bench_lane lanes[BENCH_LANES] = {LANE_DUMP, LANE_OFFSET, LANE_CONTROL};
    return lanes[(at + round + s->request->turn) % BENCH_LANES];
}

/* All lanes of one case, then those of the next one: what a case finds in the processor's caches is
 * then its own, and not what the case before it left. When all cases went through one lane after
 * the other, offsets took 19 us where no deep recursion was among the cases, and 21.5 us where one
 * was. */
static enum status measure_round(struct session *s, bool cold, uint32_t round, bool counts)
{
    struct round_sums sums;
    memset(&sums, 0, sizeof sums);
    for (uint32_t i = 0; i < s->out->case_count; i++)
        for (uint32_t k = 0; k < BENCH_LANES; k++) {
            const enum bench_lane lane = lane_of(s, round, k);
            const enum case_way way = lane == LANE_DUMP ? WAY_DUMP : WAY_OFFSET;
            struct way_parts *sum = &sums.of[s->out->archs[i]][lane];
            const uint64_t ns = time_case(s, way, &s->files[i], cold, sum);
            if (s->fault->code != ERR_NONE)
                return s->fault->code;
            if (counts)
                keep_least(s, lane, cold, i, ns);
        }
    for (uint32_t k = 0; counts && k < BENCH_LANES; k++) {
        const enum bench_lane lane = lane_of(s, round, k);
        add_samples(s->out, lane, &sums, cold, round);
    }
    return ERR_NONE;
}

static enum status measure(struct session *s, bool cold)
{
    const struct bench_request *r = s->request;
    const uint32_t rounds = r->rounds + r->warmup;
    for (uint32_t round = 0; round < rounds && s->fault->code == ERR_NONE; round++) {
        if (r->progress != NULL && !r->progress(r->context, cold, round + 1, rounds))
            (void)fault_set(s->fault, ERR_INTERRUPTED, FAULT_NO_OFFSET, "bench");
        else
            (void)measure_round(s, cold, round, round >= r->warmup);
    }
    return s->fault->code;
}

static enum status make_costs(struct session *s, struct arena *keep)
{
    struct bench *out = s->out;
    out->cost_count = out->case_count * (s->request->cold ? 2 : 1);
    out->costs = ARENA_ARRAY(keep, (size_t)out->cost_count + 1, struct bench_case);
    if (out->costs == NULL)
        return fault_no_memory(s->fault, "cases");
    for (uint32_t i = 0; i < out->cost_count; i++) {
        const struct crash_case *c = &s->cases[i % out->case_count];
        out->costs[i] = (struct bench_case){.scenario = c->scenario,
                                            .variant = c->variant,
                                            .arch = c->arch,
                                            .kind = c->kind,
                                            .cold = i >= out->case_count};
    }
    return ERR_NONE;
}

/* Keeps the cases that have both a record and a dump. */
static enum status read_cases(struct session *s, struct arena *keep)
{
    const struct bench_request *r = s->request;
    s->cases = ARENA_ARRAY(keep, (size_t)r->folder_count + 1, struct crash_case);
    s->files = ARENA_ARRAY(keep, (size_t)r->folder_count + 1, struct opened_case);
    s->out->timings = ARENA_ARRAY(keep, (size_t)r->folder_count + 1, struct case_timing);
    s->out->archs = ARENA_ARRAY(keep, (size_t)r->folder_count + 1, enum cpu);
    if (s->cases == NULL || s->files == NULL || s->out->timings == NULL || s->out->archs == NULL)
        return fault_no_memory(s->fault, "cases");
    for (uint32_t i = 0; i < r->folder_count; i++) {
        struct crash_case *c = &s->cases[s->out->case_count];
        if (case_read(r->folders[i], keep, c, s->fault) != ERR_NONE)
            return s->fault->code;
        if (case_file(c, ROLE_RECORD) == NULL || case_file(c, ROLE_DUMP) == NULL)
            continue;
        analysis_timing(c, &s->out->timings[s->out->case_count]);
        s->out->archs[s->out->case_count] = c->arch;
        opened_case_name(c, keep, &s->files[s->out->case_count++]);
    }
    return make_costs(s, keep);
}

enum status bench_measure(const struct bench_request *request, struct arena *keep,
                          struct bench *out, struct fault *fault)
{
    struct session s = {.request = request, .out = out, .fault = fault};
    memset(out, 0, sizeof *out);
    out->cold = request->cold;
    out->samples = ARENA_ARRAY(keep, (size_t)request->rounds * BENCH_LANES * BENCH_STAGES * 2,
                               struct bench_sample);
    if (out->samples == NULL)
        return fault_no_memory(fault, "samples");
    if (read_cases(&s, keep) != ERR_NONE || out->case_count == 0)
        return fault->code;
    const struct judging_needs needs = {
        .cases = s.cases, .case_count = out->case_count, .cache = request->cache};
    if (judging_open(&needs, keep, &s.judging, fault) == ERR_NONE &&
        measure(&s, false) == ERR_NONE && request->cold)
        (void)measure(&s, true);
    struct symbol_store_built built = {0, 0};
    if (s.judging.analysis.symbols != NULL)
        symbol_store_built(s.judging.analysis.symbols, &built);
    out->index_count = built.indexes;
    out->index_ns = built.ns;
    judging_close(&s.judging);
    return fault->code;
}

enum status bench_folders_of_run(struct store *store, const char *word, struct arena *keep,
                                 const char ***out, uint32_t *count, struct fault *fault)
{
    struct stored_run run;
    *count = 0;
    if (study_read_run(store, word, keep, &run, fault) != ERR_NONE)
        return fault->code;
    *out = ARENA_ARRAY(keep, (size_t)run.case_count + 1, const char *);
    if (*out == NULL)
        return fault_no_memory(fault, "cases");
    for (uint32_t i = 0; i < run.case_count; i++)
        if (run.cases[i].folder != NULL && run.cases[i].repeat == 0 &&
            path_is_folder(run.cases[i].folder))
            (*out)[(*count)++] = run.cases[i].folder;
    return ERR_NONE;
}

enum status bench_keep(struct store *store, struct run_info *info, const struct bench *bench,
                       struct arena *keep, struct fault *fault)
{
    if (store_begin_run(store, info, keep, fault) == ERR_NONE &&
        store_put_samples(store, info->id, bench->samples, bench->sample_count, fault) ==
            ERR_NONE &&
        store_put_bench_cases(store, info->id, bench->costs, bench->cost_count, fault) == ERR_NONE)
        (void)store_finish_run(store, info->id, RUN_COMPLETE, clock_wall_ns(), fault);
    return fault->code;
}
