/* The list of runs, one run, and what all views share; and the table of views. */
#include <string.h>

#include "base/text.h"
#include "study/run_document.h"
#include "view/parts.h"

const struct view views[] = {
    {"/api/v1/overview", "the newest run, its trends, and what changed since the baseline",
     view_overview},
    {"/api/v1/runs", "runs, newest first", view_runs},
    {"/api/v1/runs/{run}", "one run: where it ran, how each engine did, causes", view_run},
    {"/api/v1/runs/{run}/cases", "cases of a run, filtered, in pages", view_run_cases},
    {"/api/v1/runs/{run}/cases/{case}", "one case: truth and all stacks, aligned", view_case},
    {"/api/v1/runs/{run}/cases/{case}/explain",
     "why one row of a case: how each engine found its frame", view_explain},
    {"/api/v1/cases/{scenario}/{variant}", "a case through all runs", view_case_history},
    {"/api/v1/compare", "two runs: environment, verdicts, timing", view_compare},
    {"/api/v1/trend", "one figure through all runs", view_trend},
    {"/api/v1/timing", "dump against offset, stage by stage, every sample", view_timing},
    {"/api/v1/doors", "which door saw each crash", view_doors},
    {"/api/v1/signatures", "differences that belong together, most first", view_signatures},
    {"/api/v1/known", "accepted differences", view_known},
    {"/api/v1/symbols", "modules and what answered for them", view_symbols},
};

const size_t view_count = sizeof views / sizeof views[0];

enum status view_find_run(const struct view_input *in, const char *word, uint64_t *run_id,
                          struct fault *fault)
{
    return store_find_run(in->store, word != NULL ? word : "latest", run_id, fault);
}

enum status view_get_uint(const struct view_input *in, const char *name, uint64_t fallback,
                          uint64_t max, uint64_t *out, struct fault *fault)
{
    const char *text = view_query_get(in->query, name);
    *out = fallback;
    if (text == NULL)
        return ERR_NONE;
    if (!text_parse_uint(text, strlen(text), out) || *out > max)
        return fault_set(fault, ERR_USAGE, FAULT_NO_OFFSET, "number in the query");
    return ERR_NONE;
}

enum status view_get_limit(const struct view_input *in, uint64_t fallback, uint64_t *out,
                           struct fault *fault)
{
    enum status status = view_get_uint(in, "limit", fallback, STORE_PAGE_MAX, out, fault);
    if (status == ERR_NONE && *out == 0)
        return fault_set(fault, ERR_USAGE, FAULT_NO_OFFSET, "limit of nothing");
    return status;
}

void view_write_page(struct json *out, uint64_t total, uint64_t next)
{
    json_key_uint(out, "total", total);
    json_key(out, "next");
    next != 0 ? json_uint(out, next) : json_null(out);
}

enum status view_runs(const struct view_input *in, struct json *out, struct fault *fault)
{
    uint64_t limit = 0;
    struct run_query query = {.branch = view_query_get(in->query, "branch"),
                              .platform = view_query_get(in->query, "platform"),
                              .label = view_query_get(in->query, "label"),
                              .with_running = true};
    struct run_page page;
    enum status status = view_get_limit(in, 50, &limit, fault);
    if (status == ERR_NONE)
        status = view_get_uint(in, "after", 0, UINT64_MAX, &query.after, fault);
    query.limit = (uint32_t)limit;
    if (status == ERR_NONE)
        status = store_list_runs(in->store, &query, in->keep, &page, fault);
    if (status != ERR_NONE)
        return status;

    uint64_t baseline = 0;
    struct fault none = FAULT_INIT;
    (void)store_get_baseline(in->store, NULL, NULL, &baseline, &none);
    json_object(out);
    json_key(out, "runs");
    json_array(out);
    for (uint32_t i = 0; i < page.count; i++)
        run_info_write_json(out, &page.runs[i]);
    json_array_end(out);
    json_key(out, "baseline");
    baseline != 0 ? json_uint(out, baseline) : json_null(out);
    view_write_page(out, page.total, page.next);
    json_object_end(out);
    return ERR_NONE;
}

static void write_engine(struct json *out, const struct engine_total *e)
{
    json_object(out);
    json_key_string(out, "engine", e->engine);
    json_key_string(out, "shares", e->shares);
    json_key_string(out, "version", e->version);
    json_key_bool(out, "subject", e->subject);
    json_key_uint(out, "cases", e->cases);
    json_key_uint(out, "stacks", e->stacks);
    json_key_uint(out, "skipped", e->skipped);
    json_key_uint(out, "judged", e->judged);
    json_key_uint(out, "exact", e->exact);
    json_key_uint(out, "top1", e->top1);
    json_key_uint(out, "top5", e->top5);
    json_key_uint(out, "truth_frames", e->truth_frames);
    json_key_uint(out, "own_frames", e->own_frames);
    json_key_uint(out, "right_frames", e->right_frames);
    json_key_uint(out, "lines_judged", e->lines_judged);
    json_key_uint(out, "lines_right", e->lines_right);
    json_key_uint(out, "inline_demanded", e->inline_demanded);
    json_key_uint(out, "inline_right", e->inline_right);
    json_key_uint(out, "physical_judged", e->physical_judged);
    json_key_uint(out, "physical_same", e->physical_same);
    json_key_string(out, "skip_reason", e->skip_reason);
    json_key(out, "measures");
    measures_write_json(out, e);
    json_object_end(out);
}

enum status view_write_causes(const struct view_input *in, uint64_t run_id, struct json *out,
                              struct fault *fault)
{
    struct cause_count *causes = NULL;
    uint32_t count = 0;
    enum status status = store_count_causes(in->store, run_id, in->keep, &causes, &count, fault);
    json_array(out);
    for (uint32_t i = 0; i < count; i++) {
        json_object(out);
        json_key_string(out, "cause", cause_name(causes[i].cause));
        json_key_uint(out, "findings", causes[i].findings);
        json_key_uint(out, "cases", causes[i].cases);
        json_key_uint(out, "subject_findings", causes[i].subject_findings);
        json_object_end(out);
    }
    json_array_end(out);
    return status;
}

enum status view_run(const struct view_input *in, struct json *out, struct fault *fault)
{
    uint64_t run_id = 0;
    struct run_info run;
    struct engine_total *engines = NULL;
    uint32_t engine_count = 0;
    enum status status = view_find_run(in, in->query->params[0], &run_id, fault);
    if (status == ERR_NONE)
        status = store_read_run(in->store, run_id, in->keep, &run, fault);
    if (status == ERR_NONE)
        status = store_total_engines(in->store, run_id, in->keep, &engines, &engine_count, fault);
    if (status != ERR_NONE)
        return status;

    json_object(out);
    json_key(out, "run");
    run_info_write_json(out, &run);
    json_key(out, "engines");
    json_array(out);
    for (uint32_t i = 0; i < engine_count; i++)
        write_engine(out, &engines[i]);
    json_array_end(out);
    json_key(out, "causes");
    status = view_write_causes(in, run_id, out, fault);
    json_object_end(out);
    return status;
}
