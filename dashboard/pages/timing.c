/* What each way costs: in the dying process and on the back end; each case is a sample. */
#include "pages/view.h"

#include "pages/asked.h"
#include "study/bench.h"
#include "study/cost.h"
#include "study/timings.h"

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

enum { TIMING_ROWS_MAX = 1750, TIMING_SAMPLES_MAX = 4000 };

/* Of a large run every so many cases, with all their engines, so that a page stays light and its
 * dots come from the whole run.  About MOST stacks. */
static enum status write_costs(struct json *out, const struct run_figures *figures, uint32_t most,
                               struct fault *fault)
{
    const struct timings *t = figures->timings;
    const uint32_t step = t->stacks == 0 ? 1 : (t->stacks + most - 1) / most;
    uint32_t shown = 0;
    struct arena keep;
    arena_init(&keep, 0);
    json_key_uint(out, "total", t->stacks);
    json_key_array(out, "costs");
    for (uint32_t i = 0; i < t->case_count && fault->code == ERR_NONE; i += step) {
        struct run_case c;
        arena_reset(&keep);
        if (timings_read_case(figures, t->case_ids[i], &keep, &c, fault) != ERR_NONE)
            break;
        shown++;
        for (uint32_t e = 0; e < c.claim_count && e < c.result.score_count; e++)
            if (timings_has_stack(&c.result.scores[e]))
                write_cost(out, &c, e);
    }
    json_array_end(out);
    json_key_uint(out, "cases_total", t->case_count);
    json_key_uint(out, "cases_shown", shown);
    arena_free(&keep);
    return fault->code;
}

static void write_samples(struct json *out, const struct bench_sample *samples, uint32_t count,
                          uint32_t most)
{
    json_key_uint(out, "samples_total", count);
    json_key_array(out, "samples");
    for (uint32_t i = 0; i < count && i < most; i++) {
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

/* What the samples of a bench say: ratio, interval, noise; null: the run has none. */
static enum status write_bench(const struct view_input *in, uint64_t run_id, uint32_t count,
                               struct json *out, struct fault *fault)
{
    struct bench_findings *findings = ARENA_NEW(in->keep, struct bench_findings);
    json_key(out, "bench");
    if (findings == NULL)
        return fault_no_memory(fault, "findings of a bench");
    if (count > 0 && bench_read(in->store, run_id, in->keep, findings, fault) == ERR_NONE)
        bench_write_json(out, findings, NULL);
    else
        json_null(out);
    return fault->code;
}

/* What a million crashes cost, with the terms of the query. */
static enum status write_cost_of_all(const struct view_input *in, const struct run_figures *figures,
                                     struct json *out, struct fault *fault)
{
    const char *full = http_query_get(in->query, "full");
    struct cost_question asked = {.terms = cost_terms_default};
    struct run_figures *of_full = full != NULL ? ARENA_NEW(in->keep, struct run_figures) : NULL;
    uint64_t run_id = 0;
    for (size_t i = 0; i < COST_TERMS; i++) {
        const char *value = http_query_get(in->query, cost_term_words[i].name);
        if (value != NULL && !cost_term_set(&asked.terms, cost_term_words[i].name, value))
            return fault_set_lasting(fault, ERR_USAGE, FAULT_NO_OFFSET,
                                     "a number in the query is none, or too large",
                                     cost_term_words[i].name);
    }
    if (full != NULL && of_full == NULL)
        return fault_no_memory(fault, "figures of full dumps");
    if (full != NULL && (view_find_run(in, full, &run_id, fault) != ERR_NONE ||
                         view_read_figures(in, run_id, of_full, fault) != ERR_NONE))
        return fault->code;
    asked.full = of_full;
    json_key(out, "cost_per_million");
    cost_write_json(out, figures, &asked);
    json_key(out, "cost_words");
    cost_write_words(out);
    return ERR_NONE;
}

enum status view_timing(const struct view_input *in, struct json *out, struct fault *fault)
{
    struct run_figures figures;
    struct bench_sample *samples = NULL;
    uint64_t run_id = 0, limit = 0;
    uint32_t sample_count = 0;
    enum status status = view_find_run(in, http_query_get(in->query, "run"), &run_id, fault);
    if (status == ERR_NONE)
        status = view_get_limit(in, TIMING_SAMPLES_MAX, &limit, fault);
    if (status == ERR_NONE)
        status = view_read_figures(in, run_id, &figures, fault);
    if (status == ERR_NONE)
        status = store_read_samples(in->store, run_id, in->keep, &samples, &sample_count, fault);
    if (status != ERR_NONE)
        return status;
    json_object(out);
    json_key_uint(out, "run", run_id);
    status = write_costs(out, &figures, limit < TIMING_ROWS_MAX ? (uint32_t)limit : TIMING_ROWS_MAX,
                         fault);
    write_samples(out, samples, sample_count, (uint32_t)limit);
    if (status == ERR_NONE)
        status = write_bench(in, run_id, sample_count, out, fault);
    timings_write_json(out, &figures);
    if (status == ERR_NONE)
        status = write_cost_of_all(in, &figures, out, fault);
    json_key(out, "groups");
    if (status == ERR_NONE)
        status = timings_write_groups(out, samples, sample_count, in->keep, fault);
    json_object_end(out);
    return status;
}
