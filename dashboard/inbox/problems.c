/* The document of the page "Head problems". */
#include "inbox/problems.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "http/response.h"
#include "http/state.h"
#include "inbox/reports_inbox.h"
#include "stream/totals.h"
#include "study/shadow_json.h"

enum { TOP_DEFAULT = 50, TOP_MOST = 500 };

static void write_hours(struct json *j, const struct totals_hour *hours, uint32_t count)
{
    json_key_array(j, "hours");
    for (uint32_t i = 0; i < count; i++) {
        json_object(j);
        json_key_string(j, "hour", hours[i].hour);
        json_key_uint(j, "count", hours[i].count);
        json_object_end(j);
    }
    json_array_end(j);
}

static const char *stated(const char *text)
{
    return text != NULL && *text != '\0' ? text : NULL;
}

/* Newest first; REPORTS: each has its reports. A version or hour that was not stated is null. */
static void write_versions(struct json *j, const char *key, const struct totals_version *versions,
                           uint32_t count, bool reports)
{
    json_key_array(j, key);
    for (uint32_t i = 0; i < count; i++) {
        const struct totals_version *v = &versions[i];
        json_object(j);
        json_key_string(j, "version", stated(v->version));
        if (reports)
            json_key_uint(j, "reports", v->reports);
        json_key_uint(j, "stacks", v->stacks);
        json_key_string(j, "first_hour", stated(v->first_hour));
        json_key_string(j, "last_hour", stated(v->last_hour));
        json_object_end(j);
    }
    json_array_end(j);
}

static void write_row(struct json *j, const struct totals_row *row)
{
    char key[TOTALS_KEY_BYTES];
    totals_key(text_or_empty(row->signature), key);
    json_object(j);
    json_key_uint(j, "rank", row->rank);
    json_key_string(j, "key", key);
    json_key_string(j, "signature", row->signature);
    json_key_uint(j, "count", row->count);
    json_key_uint(j, "error", row->error);
    json_key_string(j, "first_seen", row->first_seen);
    json_key_string(j, "last_seen", row->last_seen);
    json_key_bool(j, "new", row->is_new);
    json_key_string(j, "versions", row->versions);
    json_key_string(j, "example", row->example);
    json_key_uint(j, "judged", row->judged);
    json_key_uint(j, "agreed", row->agreed);
    write_versions(j, "by_version", row->by_version, row->version_count, false);
    write_hours(j, row->hours, row->hour_count);
    json_object_end(j);
}

static void write_list(struct json *j, const struct totals_list *list,
                       const struct totals_query *query, const struct shadow_list *shadow)
{
    const uint64_t next = (uint64_t)query->after + list->count;
    const bool marks = query->baseline != NULL || query->since != NULL;
    const uint64_t all = query->only_new ? list->new_signatures : list->signatures;
    const uint64_t listed = query->key != NULL ? 0 : all;
    json_object(j);
    json_key_uint(j, "stacks", list->stacks);
    json_key_uint(j, "bad", list->bad);
    json_key_uint(j, "reports", list->reports);
    json_key_uint(j, "total", list->signatures);
    json_key_uint_if(j, "new", list->new_signatures, marks);
    json_key_string(j, "first_hour", list->first_hour);
    json_key_string(j, "last_hour", list->last_hour);
    write_hours(j, list->hours, list->hour_count);
    write_versions(j, "versions", list->versions, list->version_count, true);
    json_key_array(j, "problems");
    for (uint32_t i = 0; i < list->count; i++)
        write_row(j, &list->rows[i]);
    json_array_end(j);
    json_key_uint_if(j, "next", next, next < listed && list->count > 0);
    json_key(j, "shadow");
    shadow_write_json(j, shadow);
    json_object_end(j);
}

/* No totals yet: an empty list. */
static enum status read_list(struct exchange *x, const struct totals_query *query,
                             struct totals_list *out, struct shadow_list *shadow,
                             struct fault *fault)
{
    struct totals *totals = NULL;
    const char *file = x->dashboard->options.totals;
    memset(out, 0, sizeof *out);
    memset(shadow, 0, sizeof *shadow);
    if (file == NULL)
        return ERR_NONE;
    if (totals_open(file, false, &totals, fault) == ERR_NONE) {
        struct totals_shadow_query of = {.version = query->version};
        const enum status status = totals_read(totals, query, &x->keep, out, fault);
        if (query->key != NULL && out->count > 0)
            of.signature = out->rows[0].signature;
        if (status == ERR_NONE && (query->key == NULL || out->count > 0))
            (void)totals_read_shadow(totals, &of, &x->keep, shadow, fault);
    } else if (fault->code == ERR_ABSENT) {
        fault_clear(fault);
    }
    totals_close(totals);
    return fault->code;
}

static bool is_key(const char *text)
{
    return strlen(text) == TOTALS_KEY_BYTES - 1 &&
           strspn(text, "0123456789abcdef") == TOTALS_KEY_BYTES - 1;
}

int answer_problems(struct exchange *x)
{
    struct fault fault = FAULT_INIT;
    struct totals_list list;
    struct shadow_list *shadow = ARENA_NEW(&x->keep, struct shadow_list);
    struct json j;
    char etag[ETAG_BYTES];
    size_t bytes = 0;
    uint64_t top = TOP_DEFAULT, after = 0;
    const char *limit = http_query_get(&x->query, "limit");
    const char *rank = http_query_get(&x->query, "after");
    const struct http_query *q = &x->query;
    if (limit != NULL &&
        (!text_parse_uint(limit, strlen(limit), &top) || top < 1 || top > TOP_MOST))
        return answer_error(x, 400, "bad_limit", "The limit is a number from 1 to 500", NULL);
    if (rank != NULL && (!text_parse_uint(rank, strlen(rank), &after) || after > INT32_MAX))
        return answer_error(x, 400, "bad_after", "The rank is a number", NULL);
    const char *key = http_query_get(q, "key");
    if (key != NULL && !is_key(key))
        return answer_error(x, 400, "bad_key", "A key is 16 digits and letters a to f", NULL);
    const struct totals_query query = {.version = http_query_get(q, "version"),
                                       .baseline = http_query_get(q, "baseline"),
                                       .since = http_query_get(q, "since"),
                                       .key = key,
                                       .only_new = http_query_get(q, "new") != NULL,
                                       .top = (uint32_t)top,
                                       .after = (uint32_t)after};
    if (shadow == NULL)
        return answer_error(x, 503, "no_memory", "There is no memory for this answer", NULL);
    if (read_list(x, &query, &list, shadow, &fault) != ERR_NONE)
        return answer_fault(x, &fault);
    json_to_text(&j, false);
    write_list(&j, &list, &query, shadow);
    char *text = json_take(&j, &bytes);
    if (text == NULL)
        return answer_error(x, 503, "no_memory", "There is no memory for this answer", NULL);
    etag_of(text, bytes, etag);
    const int status = answer_data(x, text, bytes, etag);
    free(text);
    return status;
}

char *problems_metrics(struct dashboard *dashboard, struct arena *keep)
{
    char *text = arena_string(keep, "");
    struct totals *totals = NULL;
    struct fault fault = FAULT_INIT;
    const struct totals_query query = {.top = 0};
    struct totals_list list;
    if (dashboard->collector != NULL)
        text = collector_metrics(dashboard->collector, keep);
    if (text != NULL && dashboard->options.totals != NULL &&
        totals_open(dashboard->options.totals, false, &totals, &fault) == ERR_NONE &&
        totals_read(totals, &query, keep, &list, &fault) == ERR_NONE)
        text = arena_printf(keep,
                            "%s# TYPE twinstack_counted_reports gauge\n"
                            "twinstack_counted_reports %llu\n"
                            "# TYPE twinstack_counted_stacks gauge\n"
                            "twinstack_counted_stacks %llu\n"
                            "# TYPE twinstack_counted_bad_lines gauge\n"
                            "twinstack_counted_bad_lines %llu\n"
                            "# TYPE twinstack_signatures gauge\n"
                            "twinstack_signatures %llu\n",
                            text, (unsigned long long)list.reports, (unsigned long long)list.stacks,
                            (unsigned long long)list.bad, (unsigned long long)list.signatures);
    totals_close(totals);
    return text;
}
