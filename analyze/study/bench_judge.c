/* What the samples of a bench mean: medians, intervals, verdicts, JSON.  See bench.h. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "compare/statistics.h"
#include "study/bench.h"

enum { HISTORY_BENCHES = 30 };

/* One lane's stage in every round of a bench: the warm ones or the cold ones. */
struct series {
    double *values;
    size_t count;
    struct measurement amount;
};

static struct series series_of(const struct bench_sample *samples, uint32_t count,
                               enum bench_lane lane, enum bench_stage stage, bool cold,
                               struct arena *keep)
{
    struct series out = {ARENA_ARRAY(keep, (size_t)count + 1, double), 0, measurement_none};
    double *scratch = ARENA_ARRAY(keep, (size_t)count + 2, double);
    for (uint32_t i = 0; out.values != NULL && i < count; i++)
        if (samples[i].cold == cold && samples[i].lane == lane && samples[i].stage == stage)
            out.values[out.count++] = (double)samples[i].ns;
    if (scratch != NULL)
        out.amount = measurement_of_rounds(out.values, out.count, scratch);
    return out;
}

/* How much the control differs from the lane that it repeats, as a share; NaN when there is none.
 */
static double bench_noise(const struct bench_sample *samples, uint32_t count, bool cold,
                          struct arena *keep)
{
    const struct series lane = series_of(samples, count, LANE_OFFSET, STAGE_TOTAL, cold, keep);
    const struct series control = series_of(samples, count, LANE_CONTROL, STAGE_TOTAL, cold, keep);
    return fabs(control.amount.value / lane.amount.value - 1);
}

bool bench_is_noisy(const struct bench *bench, struct arena *keep)
{
    for (int cold = 0; cold <= (bench->cold ? 1 : 0); cold++)
        if (bench_noise(bench->samples, bench->sample_count, cold != 0, keep) >
            STATISTICS_MOST_NOISE)
            return true;
    return false;
}

enum status bench_newest_noise(struct store *store, struct arena *keep, double *noise,
                               uint64_t *run_id, struct fault *fault)
{
    struct run_page page;
    struct bench_sample *samples = NULL;
    uint32_t count = 0;
    const struct run_query query = {.label = RUN_LABEL_BENCH, .limit = 1};
    *noise = (double)NAN;
    *run_id = 0;
    if (store_list_runs(store, &query, keep, &page, fault) != ERR_NONE || page.count == 0)
        return fault->code;
    if (store_read_samples(store, page.runs[0].id, keep, &samples, &count, fault) != ERR_NONE)
        return fault->code;
    *noise = bench_noise(samples, count, false, keep);
    *run_id = page.runs[0].id;
    return ERR_NONE;
}

/* ---- in the dying process ------------------------------------------------------------- */

#define NONE SIZE_MAX /* that way has no such stage */

static const struct capture_stage {
    const char *name, *key;
    size_t ways[BENCH_WAYS]; /* offsets in struct case_timing */
    bool bytes;
} capture_stages[BENCH_CAPTURE_STAGES] = {
    {"capture walk", "walk_ns", {offsetof(struct case_timing, walk_ns), NONE}, false},
    {"suspension",
     "suspension_ns",
     {offsetof(struct case_timing, stop_walk_ns), offsetof(struct case_timing, stop_dump_ns)},
     false},
    {"write",
     "write_ns",
     {offsetof(struct case_timing, record_write_ns), offsetof(struct case_timing, dump_write_ns)},
     false},
    {"bytes a report",
     "bytes",
     {offsetof(struct case_timing, record_bytes), offsetof(struct case_timing, dump_bytes)},
     true},
};

static bool has_pair(const struct bench *bench, enum cpu arch)
{
    for (uint32_t i = 0; i < bench->cost_count; i++)
        if (bench->costs[i].arch == arch && bench->costs[i].ns[LANE_OFFSET] > 0 &&
            bench->costs[i].ns[LANE_DUMP] > 0)
            return true;
    return false;
}

static uint32_t count_of(const struct bench *bench, enum cpu arch)
{
    uint32_t count = 0;
    for (uint32_t i = 0; bench->timings != NULL && i < bench->case_count; i++)
        count += bench->archs[i] == arch;
    return count;
}

/* Times of two processors are not mixed: that of the ratio, else the first one that has a case; see
 * struct processors. CPU_UNKNOWN: there is none. */
static enum cpu capture_arch(const struct bench *bench)
{
    for (int pairs = 1; pairs >= 0; pairs--)
        for (int i = 0; i < CPU_COUNT; i++)
            if (count_of(bench, cpu_order[i]) > 0 && (pairs == 0 || has_pair(bench, cpu_order[i])))
                return cpu_order[i];
    return CPU_UNKNOWN;
}

static struct measurement capture_of(const struct bench *bench, enum cpu arch, size_t offset,
                                     struct arena *keep)
{
    size_t count = 0;
    double *values = ARENA_ARRAY(keep, (size_t)bench->case_count + 1, double);
    double *scratch = ARENA_ARRAY(keep, (size_t)bench->case_count + 2, double);
    const uint32_t timed = bench->timings != NULL ? bench->case_count : 0;
    for (uint32_t i = 0; offset != NONE && values != NULL && i < timed; i++) {
        uint64_t value = 0;
        memcpy(&value, (const char *)&bench->timings[i] + offset, sizeof value);
        if (value > 0 && bench->archs[i] == arch)
            values[count++] = (double)value;
    }
    return scratch != NULL ? measurement_of_rounds(values, count, scratch) : measurement_none;
}

/* ---- on the back end ------------------------------------------------------------------ */

static const char *const stage_titles[BENCH_STAGES] = {
    [STAGE_PARSE] = "parse",     [STAGE_UNWIND] = "unwind", [STAGE_LOAD] = "load symbols",
    [STAGE_RESOLVE] = "resolve", [STAGE_TOTAL] = "total",
};

/* The way's medians in earlier benches, and the newest one's samples. */
static size_t read_history(struct store *store, enum bench_lane way, bool cold, struct arena *keep,
                           double *medians, struct series *newest)
{
    struct run_page page;
    struct fault fault = FAULT_INIT;
    const struct run_query query = {.label = RUN_LABEL_BENCH, .limit = HISTORY_BENCHES};
    size_t count = 0;
    if (store == NULL || store_list_runs(store, &query, keep, &page, &fault) != ERR_NONE)
        return 0;
    for (uint32_t i = 0; i < page.count; i++) {
        struct bench_sample *samples = NULL;
        uint32_t n = 0;
        if (store_read_samples(store, page.runs[i].id, keep, &samples, &n, &fault) != ERR_NONE)
            return count;
        const struct series s = series_of(samples, n, way, STAGE_TOTAL, cold, keep);
        if (s.count == 0)
            continue;
        if (count == 0)
            *newest = s;
        medians[count++] = s.amount.value;
    }
    return count;
}

static enum status compare_with_last(const struct series *now, enum bench_lane way,
                                     struct store *store, bool cold, struct arena *keep,
                                     struct bench_side *out, struct fault *fault)
{
    double medians[HISTORY_BENCHES];
    struct series before = {NULL, 0, measurement_none};
    const size_t runs = read_history(store, way, cold, keep, medians, &before);
    double *work = ARENA_ARRAY(keep, before.count + now->count + HISTORY_BENCHES, double);
    if (work == NULL)
        return fault_no_memory(fault, "bench");
    const double fence = statistics_fence_share(medians, runs, work);
    out->then[way] = statistics_change(before.values, before.count, now->values, now->count,
                                       out->noise, fence, work);
    return ERR_NONE;
}

static double ratio_of(const struct bench_row *stage)
{
    const double offset = stage->ways[LANE_OFFSET].value;
    const double dump = stage->ways[LANE_DUMP].value;
    return offset > 0 && dump > 0 ? dump / offset : (double)NAN;
}

static enum status judge_side(const struct bench *bench, bool cold, struct store *store,
                              struct arena *keep, struct bench_side *out, struct fault *fault)
{
    struct series total[BENCH_WAYS];
    double *work = ARENA_ARRAY(keep, (size_t)bench->sample_count * 2 + 1, double);
    if (work == NULL)
        return fault_no_memory(fault, "bench");
    for (int i = 0; i < BENCH_STAGES; i++) {
        out->stages[i].name = stage_titles[i];
        out->stages[i].key = bench_stage_name((enum bench_stage)i);
        for (int w = 0; w < BENCH_WAYS; w++) {
            const struct series s = series_of(bench->samples, bench->sample_count,
                                              (enum bench_lane)w, (enum bench_stage)i, cold, keep);
            out->stages[i].ways[w] = s.amount;
            if (i == STAGE_TOTAL)
                total[w] = s;
        }
        out->stages[i].ratio = ratio_of(&out->stages[i]);
    }
    const struct series *offset = &total[LANE_OFFSET], *dump = &total[LANE_DUMP];
    out->noise = bench_noise(bench->samples, bench->sample_count, cold, keep);
    out->dump = statistics_change(offset->values, offset->count, dump->values, dump->count,
                                  out->noise, 0, work);
    if (bench_ratios(bench, cold, keep, out->ratios, &out->ratio_count, fault) != ERR_NONE)
        return fault->code;
    if (out->ratio_count == 0) {
        const double of_rounds = out->stages[STAGE_TOTAL].ratio;
        out->ratios[out->ratio_count++] =
            (struct bench_ratio){.ratio = {(double)NAN, of_rounds, (double)NAN}};
    }
    out->stages[STAGE_TOTAL].ratio = (double)NAN; /* that of cases is the figure */
    for (int w = 0; w < BENCH_WAYS; w++)
        if (compare_with_last(&total[w], (enum bench_lane)w, store, cold, keep, out, fault) !=
            ERR_NONE)
            return fault->code;
    return ERR_NONE;
}

enum status bench_judge(const struct bench *bench, struct store *store, struct arena *keep,
                        struct bench_findings *out, struct fault *fault)
{
    memset(out, 0, sizeof *out);
    out->case_count = bench->case_count;
    out->capture_arch = capture_arch(bench);
    out->captured = count_of(bench, out->capture_arch);
    for (int i = 0; i < BENCH_CAPTURE_STAGES; i++) {
        const struct capture_stage *s = &capture_stages[i];
        out->capture[i] = (struct bench_row){.name = s->name, .key = s->key, .bytes = s->bytes};
        for (int w = 0; w < BENCH_WAYS; w++)
            out->capture[i].ways[w] = capture_of(bench, out->capture_arch, s->ways[w], keep);
        out->capture[i].ratio = ratio_of(&out->capture[i]);
    }
    out->side_count = bench->cold ? 2 : 1;
    for (uint32_t i = 0; i < out->side_count; i++) {
        struct bench_side *side = &out->sides[i];
        if (judge_side(bench, i == 1, store, keep, side, fault) != ERR_NONE)
            return fault->code;
        for (int w = 0; w < BENCH_WAYS; w++)
            out->slower = out->slower || side->then[w].change == CHANGE_SLOWER;
    }
    return ERR_NONE;
}

/* ---- JSON ----------------------------------------------------------------------------- */

static void write_amount(struct json *j, const char *key, const struct measurement *amount)
{
    json_key(j, key);
    if (amount->n == 0) {
        json_null(j);
        return;
    }
    json_object(j);
    json_key_uint(j, "samples", amount->n);
    json_key_number(j, "median", amount->value);
    json_key_number(j, "low", amount->low);
    json_key_number(j, "high", amount->high);
    json_object_end(j);
}

static void write_stages(struct json *j, const char *key, const struct bench_row *stages,
                         uint32_t count)
{
    json_key_object(j, key);
    for (uint32_t i = 0; i < count; i++) {
        json_key_object(j, stages[i].key);
        for (int w = 0; w < BENCH_WAYS; w++)
            write_amount(j, bench_lane_name((enum bench_lane)w), &stages[i].ways[w]);
        json_object_end(j);
    }
    json_object_end(j);
}

static void write_change(struct json *j, const char *key, const struct change_verdict *v)
{
    json_key_object(j, key);
    json_key_string(j, "change", change_name(v->change));
    json_key_number(j, "effect", v->effect);
    json_key_number(j, "threshold", v->threshold);
    json_key_number(j, "p", v->p);
    json_object_end(j);
}

static void write_ratio(struct json *j, const struct bench_ratio *r)
{
    json_key_string(j, "arch", r->cases > 0 ? cpu_name(r->arch) : NULL);
    json_key_uint(j, "cases", r->cases);
    json_key_uint(j, "scenarios", r->scenarios);
    json_key_uint(j, "processes", r->processes);
    json_key_number(j, "ratio", r->ratio.value);
    json_key_number(j, "ratio_low", r->ratio.low);
    json_key_number(j, "ratio_high", r->ratio.high);
}

static void write_side(struct json *j, const struct bench_side *side, bool cold)
{
    json_object(j);
    json_key_bool(j, "cold", cold);
    json_key_uint(j, "samples", side->stages[STAGE_TOTAL].ways[LANE_OFFSET].n);
    json_key_number(j, "noise", side->noise);
    write_ratio(j, &side->ratios[0]);
    json_key_array(j, "ratios");
    for (uint32_t i = 0; i < side->ratio_count; i++) {
        json_object(j);
        write_ratio(j, &side->ratios[i]);
        json_object_end(j);
    }
    json_array_end(j);
    write_change(j, "dump_against_offset", &side->dump);
    write_change(j, "offset_against_last", &side->then[LANE_OFFSET]);
    write_change(j, "dump_against_last", &side->then[LANE_DUMP]);
    write_stages(j, "stages", side->stages, BENCH_STAGES);
    json_object_end(j);
}

static void write_measurement(struct json *j, const char *key, const struct measurement *m)
{
    json_key_object(j, key);
    measurement_write_json(j, m);
    json_object_end(j);
}

static void write_programs(struct json *j, const struct bench_programs *programs)
{
    json_array(j);
    for (int program = 0; program < BENCH_PROGRAMS; program++) {
        const struct bench_program *row = &programs->rows[program];
        json_object(j);
        json_key_string(j, "engine", row->name);
        json_key_string(j, "version", row->version);
        json_key_string(j, "why_not", row->why_not);
        write_measurement(j, "process_ns", &row->process);
        write_measurement(j, "again_ns", &row->again);
        json_object_end(j);
    }
    json_array_end(j);
}

void bench_write_json(struct json *j, const struct bench_findings *findings,
                      const struct bench_programs *programs)
{
    json_object(j);
    json_key_uint(j, "schema_version", BENCH_VERSION);
    json_key_uint(j, "cases", findings->case_count);
    json_key_string(j, "capture_arch",
                    findings->captured > 0 ? cpu_name(findings->capture_arch) : NULL);
    write_stages(j, "capture", findings->capture, BENCH_CAPTURE_STAGES);
    json_key_array(j, "back_end");
    for (uint32_t i = 0; i < findings->side_count; i++)
        write_side(j, &findings->sides[i], i == 1);
    json_array_end(j);
    if (programs != NULL) {
        json_key(j, "programs");
        write_programs(j, programs);
    }
    json_object_end(j);
}
