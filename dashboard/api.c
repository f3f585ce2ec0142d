/* The data side of the table: views, health, metrics, badges, the description. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "dashboard/cache.h"
#include "dashboard/parts.h"
#include "dashboard/routes.h"
#include "report/report.h"

/* Writes the view's document into x->keep. */
static enum status write_view(struct exchange *x, struct store *store, const char *known_text,
                              char **out, size_t *bytes, struct fault *fault)
{
    struct view_input in = {
        .store = store, .query = &x->query, .known_text = known_text, .keep = &x->keep};
    struct json j;
    json_to_text(&j, false);
    enum status status = x->route->view->write(&in, &j, fault);
    if (status != ERR_NONE) {
        json_free(&j);
        return status;
    }
    char *text = json_take(&j, bytes);
    *out = text != NULL ? arena_text(&x->keep, text, *bytes) : NULL;
    free(text);
    return *out != NULL ? ERR_NONE : fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "answer");
}

/* The known file's text and a number that changes with it. */
static char *read_known(struct exchange *x, uint64_t *version)
{
    struct fault fault = FAULT_INIT;
    char *text = NULL;
    size_t bytes = 0;
    *version = 0;
    if (x->dashboard->options.known_file == NULL ||
        file_read(x->dashboard->options.known_file, (size_t)WRITE_MAX_BYTES * 16, &x->keep, &text,
                  &bytes, &fault) != ERR_NONE)
        return NULL;
    for (size_t i = 0; i < bytes; i++)
        *version = *version * 31 + (unsigned char)text[i];
    return text;
}

int answer_view(struct exchange *x)
{
    struct fault fault = FAULT_INIT;
    struct store *store = NULL;
    char etag[ETAG_BYTES], *text = NULL;
    size_t bytes = 0;
    uint64_t known_version = 0;

    if (store_pool_take(x->dashboard->stores, &store, &fault) != ERR_NONE)
        return answer_fault(x, &fault);
    const char *known = NULL;
    if (strcmp(x->path, "/api/v1/known") == 0)
        known = read_known(x, &known_version);
    uint64_t version = store_version(store) ^ known_version;
    const char *key =
        arena_printf(&x->keep, "%s?%s", x->path,
                     x->request->query_string != NULL ? x->request->query_string : "");
    if (key != NULL)
        text = cache_get(x->dashboard->cache, key, version, &x->keep, &bytes);
    if (text == NULL && write_view(x, store, known, &text, &bytes, &fault) == ERR_NONE &&
        key != NULL)
        cache_put(x->dashboard->cache, key, version, text, bytes);
    store_pool_give(x->dashboard->stores, store);
    if (text == NULL)
        return answer_fault(x, &fault);
    etag_of(text, bytes, etag);
    return answer_data(x, 200, text, bytes, etag);
}

static int answer_text(struct exchange *x, int status, const char *mime, const char *text,
                       size_t bytes)
{
    struct answer_body body = {.mime = mime, .body = text, .bytes = bytes};
    return answer_body(x, status, &body);
}

int answer_health(struct exchange *x)
{
    struct fault fault = FAULT_INIT;
    struct store *store = NULL;
    if (store_pool_take(x->dashboard->stores, &store, &fault) != ERR_NONE) {
        static const char bad[] = "database not usable\n";
        return answer_text(x, 503, "text/plain; charset=utf-8", bad, sizeof bad - 1);
    }
    store_pool_give(x->dashboard->stores, store);
    static const char good[] = "ok\n";
    return answer_text(x, 200, "text/plain; charset=utf-8", good, sizeof good - 1);
}

/* The newest finished run, prepared for a report writer. */
static enum status prepare_newest(struct exchange *x, struct store *store, struct run_info *run,
                                  struct report_run *report, struct fault *fault)
{
    struct case_query query = {.limit = STORE_PAGE_MAX};
    struct case_page page;
    enum status status = store_find_run(store, "latest", &query.run_id, fault);
    if (status == ERR_NONE)
        status = store_read_run(store, query.run_id, &x->keep, run, fault);
    if (status == ERR_NONE)
        status = store_list_cases(store, &query, &x->keep, &page, fault);
    if (status == ERR_NONE)
        status = report_prepare(run, page.cases, page.count, &x->keep, report, fault);
    return status;
}

typedef enum status write_figures(struct exchange *x, const struct report_run *report, FILE *out,
                                  struct fault *fault);

static int answer_figures(struct exchange *x, const char *mime, write_figures *write)
{
    struct fault fault = FAULT_INIT;
    struct store *store = NULL;
    struct run_info run;
    struct report_run report;
    char *text = NULL;
    size_t bytes = 0;

    if (store_pool_take(x->dashboard->stores, &store, &fault) != ERR_NONE)
        return answer_fault(x, &fault);
    enum status status = prepare_newest(x, store, &run, &report, &fault);
    store_pool_give(x->dashboard->stores, store);
    FILE *out = status == ERR_NONE ? tmpfile() : NULL;
    if (out != NULL) {
        status = write(x, &report, out, &fault);
        long size = ftell(out);
        if (fseek(out, 0, SEEK_SET) != 0)
            size = 0;
        text = size > 0 ? arena_alloc(&x->keep, (size_t)size) : NULL;
        bytes = text != NULL ? fread(text, 1, (size_t)size, out) : 0;
        (void)fclose(out);
    } else {
        (void)fault_set(&fault, ERR_IO, FAULT_NO_OFFSET, "temporary file");
    }
    if (status != ERR_NONE || fault.code != ERR_NONE)
        return answer_fault(x, &fault);
    return answer_text(x, 200, mime, text, bytes);
}

static enum status figures_metrics(struct exchange *x, const struct report_run *report, FILE *out,
                                   struct fault *fault)
{
    return report_openmetrics(report, &x->keep, out, fault);
}

int answer_metrics(struct exchange *x)
{
    return answer_figures(x, "application/openmetrics-text; version=1.0.0; charset=utf-8",
                          figures_metrics);
}

static enum status figures_badge(struct exchange *x, const struct report_run *report, FILE *out,
                                 struct fault *fault)
{
    char metric[64];
    size_t size = strcspn(x->query.params[0], ".");
    if (size >= sizeof metric || strcmp(x->query.params[0] + size, ".json") != 0)
        return fault_set_hint(fault, ERR_ABSENT, FAULT_NO_OFFSET, "badge",
                              "badges are METRIC.json, in the form that shields reads");
    memcpy(metric, x->query.params[0], size);
    metric[size] = '\0';
    return report_badge(report, metric, out, fault);
}

int answer_badge(struct exchange *x)
{
    return answer_figures(x, "application/json", figures_badge);
}

static void write_endpoint(const struct route *route, void *context)
{
    struct json *j = context;
    if (strncmp(route->pattern, "/api/", 5) != 0 && route->handler == answer_page)
        return;
    json_object(j);
    json_key_string(j, "method", route->method);
    json_key_string(j, "path", route->pattern);
    json_key_bool(j, "needs_write", route->needs_write);
    json_key_string(j, "summary", route->view != NULL ? route->view->summary : NULL);
    json_object_end(j);
}

int answer_endpoints(struct exchange *x)
{
    struct json j;
    size_t bytes = 0;
    char etag[ETAG_BYTES];
    json_to_text(&j, false);
    json_array(&j);
    route_each(write_endpoint, &j);
    json_array_end(&j);
    char *text = json_take(&j, &bytes);
    if (text == NULL)
        return answer_error(x, 503, "no_memory", "There is no memory for this answer", NULL);
    etag_of(text, bytes, etag);
    int status = answer_data(x, 200, text, bytes, etag);
    free(text);
    return status;
}
