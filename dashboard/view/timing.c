/* What each way costs: in the dying process and on the back end; each case is a sample. */
#include "view/timing.h"

#include <string.h>

#include "view/input.h"

static void write_cost(struct json *out, const struct case_cost *c)
{
    json_object(out);
    json_key_uint(out, "case", c->case_id);
    json_key_string(out, "scenario", c->scenario);
    json_key_string(out, "variant", c->variant);
    json_key_string(out, "engine", c->engine);
    json_key_uint(out, "frames", c->frames);
    json_key_uint(out, "open_ns", c->cost.open_ns);
    json_key_uint(out, "load_ns", c->cost.load_ns);
    json_key_uint(out, "unwind_ns", c->cost.unwind_ns);
    json_key_uint(out, "resolve_ns", c->cost.resolve_ns);
    json_key_uint(out, "total_ns", c->cost.total_ns);
    json_key_uint(out, "cold_ns", c->cost.cold_ns);
    json_key_uint(out, "peak_bytes", c->cost.peak_bytes);
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

enum { TIMING_ROWS_MAX = 2200, TIMING_SAMPLES_MAX = 4000 };

/* Of a large run every STEP-th case, with all its engines, so that a page stays light and its
 * medians are of cases from the whole run. */
static uint32_t step_of(const struct case_cost *costs, uint32_t count, uint32_t *cases)
{
    *cases = 0;
    for (uint32_t i = 0; i < count; i++)
        *cases += i == 0 || costs[i].case_id != costs[i - 1].case_id;
    return count == 0 ? 1 : (count + TIMING_ROWS_MAX - 1) / TIMING_ROWS_MAX;
}

static void write_costs(struct json *out, const struct case_cost *costs, uint32_t count)
{
    uint32_t cases = 0, number = 0, shown = 0;
    const uint32_t step = step_of(costs, count, &cases);
    json_key(out, "costs");
    json_array(out);
    for (uint32_t i = 0; i < count; i++) {
        const bool first = i == 0 || costs[i].case_id != costs[i - 1].case_id;
        number += first && i > 0;
        if (number % step != 0)
            continue;
        shown += first;
        write_cost(out, &costs[i]);
    }
    json_array_end(out);
    json_key_uint(out, "cases_total", cases);
    json_key_uint(out, "cases_shown", shown);
}

enum status view_timing(const struct view_input *in, struct json *out, struct fault *fault)
{
    uint64_t run_id = 0;
    struct case_cost *costs = NULL;
    struct bench_sample *samples = NULL;
    uint32_t cost_count = 0, sample_count = 0;
    enum status status = view_find_run(in, view_query_get(in->query, "run"), &run_id, fault);
    if (status == ERR_NONE)
        status = store_read_costs(in->store, run_id, in->keep, &costs, &cost_count, fault);
    if (status == ERR_NONE)
        status = store_read_samples(in->store, run_id, in->keep, &samples, &sample_count, fault);
    if (status != ERR_NONE)
        return status;
    json_object(out);
    json_key_uint(out, "run", run_id);
    json_key_uint(out, "total", cost_count);
    write_costs(out, costs, cost_count);
    json_key_uint(out, "samples_total", sample_count);
    json_key(out, "samples");
    json_array(out);
    for (uint32_t i = 0; i < sample_count && i < TIMING_SAMPLES_MAX; i++) {
        json_object(out);
        json_key_string(out, "subject", bench_lane_name(samples[i].lane));
        json_key_string(out, "stage", bench_stage_name(samples[i].stage));
        json_key_bool(out, "cold", samples[i].cold);
        json_key_uint(out, "round", samples[i].round);
        json_key_uint(out, "ns", samples[i].ns);
        json_object_end(out);
    }
    json_array_end(out);
    json_object_end(out);
    return ERR_NONE;
}
