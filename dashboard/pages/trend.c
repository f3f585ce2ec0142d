/* One figure through all runs. */
#include "pages/trend.h"

#include "pages/asked.h"

enum status view_write_trend(const struct view_input *in, const struct trend_query *query,
                             struct json *out, struct fault *fault)
{
    struct trend trend = {.count = 0};
    const enum status status = study_read_trend(in->store, query, in->keep, &trend, fault);
    trend_write_points(out, &trend);
    return status;
}

enum status view_trend(const struct view_input *in, struct json *out, struct fault *fault)
{
    struct trend_query query = {.scenario = http_query_get(in->query, "scenario"),
                                .variant = http_query_get(in->query, "variant"),
                                .branch = http_query_get(in->query, "branch"),
                                .platform = http_query_get(in->query, "platform")};
    const char *metric = http_query_get(in->query, "metric");
    struct trend_study study;
    uint64_t limit = 0;
    enum status status = view_get_limit(in, 30, &limit, fault);
    if (status == ERR_NONE)
        status = view_get_uint(in, "until", 0, UINT64_MAX, &query.until, fault);
    if (status == ERR_NONE && metric == NULL)
        status = fault_set(fault, ERR_USAGE, FAULT_NO_OFFSET, "the query names no metric");
    if (status == ERR_NONE && !metric_parse(metric, &query.metric))
        status = fault_set_lasting(fault, ERR_USAGE, FAULT_NO_OFFSET, "no figure has this name",
                                   METRIC_NAMES);
    query.limit = (uint32_t)limit;
    if (status == ERR_NONE)
        status = trend_make(in->store, &query, in->keep, &study, fault);
    if (status == ERR_NONE)
        trend_write_json(out, &study);
    return status;
}
