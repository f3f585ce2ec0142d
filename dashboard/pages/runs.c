/* The list of runs, and one run. */
#include "pages/runs.h"

#include <string.h>

#include "pages/asked.h"
#include "study/run_document.h"
#include "study/summary.h"

enum status view_runs(const struct view_input *in, struct json *out, struct fault *fault)
{
    uint64_t limit = 0;
    struct run_query query = {.branch = http_query_get(in->query, "branch"),
                              .platform = http_query_get(in->query, "platform"),
                              .label = http_query_get(in->query, "label"),
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
    json_key_array(out, "runs");
    for (uint32_t i = 0; i < page.count; i++)
        run_info_write_json(out, &page.runs[i]);
    json_array_end(out);
    json_key_uint_known(out, "baseline", baseline);
    view_write_page(out, page.total, page.next);
    json_object_end(out);
    return ERR_NONE;
}

static void write_engine(struct json *out, const struct engine_total *e)
{
    json_object(out);
    json_key_string(out, "engine", e->engine);
    json_key_string(out, "kind", engine_kind_name(e->kind));
    json_key_string(out, "shares", e->shares);
    json_key_string(out, "version", e->version);
    json_key_bool(out, "subject", e->subject);
    json_key_uint(out, "cases", e->cases);
    json_key_uint(out, "stacks", e->stacks);
    json_key_uint(out, "skipped", e->skipped);
    engine_total_write_sums(out, e);
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

enum { GROUPS_MOST = 20 }; /* of cases that fail alike, and of reasons */

enum status view_run(const struct view_input *in, struct json *out, struct fault *fault)
{
    uint64_t run_id = 0;
    struct run_figures figures;
    struct engine_total *engines = NULL;
    uint32_t engine_count = 0;
    enum status status = view_find_run(in, in->query->params[0], &run_id, fault);
    if (status == ERR_NONE)
        status = view_read_figures(in, run_id, &figures, fault);
    if (status == ERR_NONE)
        status = store_total_engines(in->store, run_id, in->keep, &engines, &engine_count, fault);
    if (status != ERR_NONE)
        return status;

    json_object(out);
    json_key(out, "run");
    run_info_write_json(out, figures.run);
    summary_write_json(out, &figures, GROUPS_MOST);
    json_key_array(out, "engines");
    for (uint32_t i = 0; i < engine_count; i++)
        write_engine(out, &engines[i]);
    json_array_end(out);
    json_key(out, "causes");
    status = view_write_causes(in, run_id, out, fault);
    json_object_end(out);
    return status;
}
