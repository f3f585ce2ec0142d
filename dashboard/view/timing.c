/* What each way costs: in the dying process and on the back end; each case is a sample. */
#include "view/timing.h"

#include <inttypes.h>

#include "study/runs.h"
#include "study/timings.h"
#include "view/input.h"

static bool is_shown(const struct engine_score *score)
{
    return score->state == STACK_OK && score->frames > 0;
}

static void write_cost(struct json *out, const struct run_case *c, uint32_t engine)
{
    const struct engine_claim *claim = &c->claims[engine];
    json_object(out);
    json_key_uint(out, "case", c->id);
    json_key_string(out, "scenario", c->scenario);
    json_key_string(out, "variant", c->variant);
    json_key_string(out, "engine", claim->engine);
    json_key_uint(out, "frames", c->result.scores[engine].frames);
    json_key_uint(out, "open_ns", claim->cost.open_ns);
    json_key_uint(out, "load_ns", claim->cost.load_ns);
    json_key_uint(out, "unwind_ns", claim->cost.unwind_ns);
    json_key_uint(out, "resolve_ns", claim->cost.resolve_ns);
    json_key_uint(out, "total_ns", claim->cost.total_ns);
    json_key_uint(out, "cold_ns", claim->cost.cold_ns);
    json_key_uint(out, "peak_bytes", claim->cost.peak_bytes);
    json_key_uint(out, "walk_ns", c->timing.walk_ns);
    json_key_uint(out, "record_write_ns", c->timing.record_write_ns);
    json_key_uint(out, "dump_write_ns", c->timing.dump_write_ns);
    json_key_uint(out, "stop_copy_ns", c->timing.stop_copy_ns);
    json_key_uint(out, "stop_walk_ns", c->timing.stop_walk_ns);
    json_key_uint(out, "stop_dump_ns", c->timing.stop_dump_ns);
    json_key_uint(out, "record_bytes", c->timing.record_bytes);
    json_key_uint(out, "dump_bytes", c->timing.dump_bytes);
    json_key_uint(out, "dump_tuned_ns", c->timing.dump_tuned_ns);
    json_key_uint(out, "dump_tuned_bytes", c->timing.dump_tuned_bytes);
    json_key_uint(out, "capture_now_ns", c->timing.capture_now_ns);
    json_key_uint(out, "hang_late_ns", c->timing.hang_late_ns);
    json_key_bool(out, "crowded", c->timing.crowded);
    json_object_end(out);
}

enum { TIMING_ROWS_MAX = 1900, TIMING_SAMPLES_MAX = 4000 };

static uint32_t count_shown(const struct run_case *c)
{
    uint32_t count = 0;
    for (uint32_t e = 0; e < c->result.score_count; e++)
        count += is_shown(&c->result.scores[e]);
    return count;
}

static uint32_t count_stacks(const struct stored_run *run)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < run->case_count; i++)
        count += count_shown(&run->cases[i]);
    return count;
}

/* Of a large run every so many cases, with all their engines, so that a page stays light and its
 * dots come from the whole run. */
static void write_costs(struct json *out, const struct stored_run *run)
{
    const uint32_t stacks = count_stacks(run);
    const uint32_t step = stacks == 0 ? 1 : (stacks + TIMING_ROWS_MAX - 1) / TIMING_ROWS_MAX;
    uint32_t cases = 0, shown = 0;
    json_key_uint(out, "total", stacks);
    json_key(out, "costs");
    json_array(out);
    for (uint32_t i = 0; i < run->case_count; i++) {
        const struct run_case *c = &run->cases[i];
        if (count_shown(c) == 0 || cases++ % step != 0)
            continue;
        shown++;
        for (uint32_t e = 0; e < c->claim_count; e++)
            if (is_shown(&c->result.scores[e]))
                write_cost(out, c, e);
    }
    json_array_end(out);
    json_key_uint(out, "cases_total", cases);
    json_key_uint(out, "cases_shown", shown);
}

static void write_samples(struct json *out, const struct bench_sample *samples, uint32_t count)
{
    json_key_uint(out, "samples_total", count);
    json_key(out, "samples");
    json_array(out);
    for (uint32_t i = 0; i < count && i < TIMING_SAMPLES_MAX; i++) {
        json_object(out);
        json_key_string(out, "subject", bench_lane_name(samples[i].lane));
        json_key_string(out, "stage", bench_stage_name(samples[i].stage));
        json_key_bool(out, "cold", samples[i].cold);
        json_key_uint(out, "round", samples[i].round);
        json_key_uint(out, "ns", samples[i].ns);
        json_object_end(out);
    }
    json_array_end(out);
}

enum status view_timing(const struct view_input *in, struct json *out, struct fault *fault)
{
    struct stored_run run;
    struct run_figures figures;
    struct bench_sample *samples = NULL;
    uint64_t run_id = 0;
    uint32_t sample_count = 0;
    enum status status = view_find_run(in, view_query_get(in->query, "run"), &run_id, fault);
    const char *word = arena_printf(in->keep, "%" PRIu64, run_id);
    if (status == ERR_NONE && word == NULL)
        status = fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "number of a run");
    if (status == ERR_NONE)
        status = study_read_run(in->store, word, RUN_OUTCOMES, in->keep, &run, fault);
    if (status == ERR_NONE)
        status = figures_prepare(&run.info, run.cases, run.case_count, in->keep, &figures, fault);
    if (status == ERR_NONE)
        status = store_read_samples(in->store, run_id, in->keep, &samples, &sample_count, fault);
    if (status != ERR_NONE)
        return status;
    json_object(out);
    json_key_uint(out, "run", run_id);
    write_costs(out, &run);
    write_samples(out, samples, sample_count);
    status = timings_write_json(out, &figures, in->keep, fault);
    json_key(out, "groups");
    if (status == ERR_NONE)
        status = timings_write_groups(out, samples, sample_count, in->keep, fault);
    json_object_end(out);
    return status;
}
