/* One figure through all runs. */
#include "view/trend.h"

#include "view/input.h"

enum status view_write_trend(const struct view_input *in, const char *metric, const char *scenario,
                             const char *variant, uint64_t until, uint32_t limit, struct json *out,
                             struct fault *fault)
{
    struct trend trend = {.count = 0};
    const enum status status = study_read_trend(in->store, metric, scenario, variant, until, limit,
                                                in->keep, &trend, fault);
    json_object(out);
    json_key(out, "points");
    json_array(out);
    for (uint32_t i = 0; i < trend.count; i++) {
        json_object(out);
        json_key_uint(out, "run", trend.points[i].run_id);
        json_key_uint(out, "started_ns", trend.points[i].started_ns);
        json_key_number(out, "value", trend.points[i].value);
        json_key_uint(out, "count", trend.points[i].count);
        json_object_end(out);
    }
    json_array_end(out);
    json_key(out, "band");
    json_object(out);
    json_key_number(out, "low", trend.low);
    json_key_number(out, "high", trend.high);
    json_object_end(out);
    json_object_end(out);
    return status;
}

enum status view_trend(const struct view_input *in, struct json *out, struct fault *fault)
{
    const char *metric = view_query_get(in->query, "metric");
    uint64_t limit = 0;
    enum status status = view_get_limit(in, 30, &limit, fault);
    if (status == ERR_NONE && metric == NULL)
        status = fault_set(fault, ERR_USAGE, FAULT_NO_OFFSET, "the query names no metric");
    if (status != ERR_NONE)
        return status;
    json_object(out);
    json_key_string(out, "metric", metric);
    json_key(out, "trend");
    status = view_write_trend(in, metric, view_query_get(in->query, "scenario"),
                              view_query_get(in->query, "variant"), 0, (uint32_t)limit, out, fault);
    json_object_end(out);
    return status;
}
