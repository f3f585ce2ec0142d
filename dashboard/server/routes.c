/* The table of routes. */
#include "server/routes.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "http/response.h"
#include "inbox/problems.h"
#include "inbox/reports_inbox.h"
#include "pages/api.h"
#include "pages/assets.h"
#include "pages/download.h"
#include "pages/events.h"
#include "pages/resolve.h"
#include "pages/suite.h"
#include "pages/table.h"
#include "pages/writes.h"
#include "server/metrics.h"

static route_handler answer_endpoints;

/* All pages are one bundle that reads its own address.  Each page's address is listed here, so that
 * a wrong address is a 404 and not an empty page. */
static const struct route routes[] = {
#define VIEW(...)
#define PAGE(address, ...) {"GET", address, answer_page, ROUTE_OPEN, NULL, NULL},
#include "pages/pages.def"
#undef PAGE
#undef VIEW
    {"GET", "/assets/{name}", answer_embedded, ROUTE_OPEN, NULL,
     "script, style and icon of these pages, named by their hash"},
    {"GET", "/healthz", answer_health, ROUTE_OPEN, NULL, "200 while the database can be read"},
    {"GET", "/metrics", answer_metrics, 0, NULL, "figures of the newest run, OpenMetrics"},
    {"GET", "/suite", answer_suite, ROUTE_OPEN | ROUTE_BODY, NULL,
     "the results of tools by the reference suite, as a page"},
    {"GET", "/badge/{metric}", answer_badge, 0, NULL,
     "verdict, exact, f1, capture_rate or speed_ratio as .svg or .json"},
    {"GET", "/api/v1/openapi.json", answer_embedded, ROUTE_OPEN, NULL,
     "the description of this interface"},
    {"GET", "/api/v1/endpoints", answer_endpoints, ROUTE_OPEN, NULL, "this list"},
    {"GET", "/api/v1/events", answer_events, 0, NULL, "what changes, as server-sent events"},
    {"POST", "/api/v1/resolve", answer_resolve, ROUTE_BODY, NULL,
     "resolves a stack, a record or a minidump"},
    {"GET", "/api/v1/artifacts/{sha256}", answer_artifact, 0, NULL,
     "a kept file of a case: record, source, or the address of a source"},
    {"GET", "/api/v1/runs/{run}/cases/{case}/dump", answer_dump, 0, NULL,
     "the dump of a case, while its run's folder is there; whole or in ranges"},
    {"POST", "/api/v1/reports", answer_report, ROUTE_OPEN, NULL,
     "stores a report, given --collect and a sender's token"},
    {"GET", "/api/v1/problems", answer_problems, 0, NULL,
     "head problems: signatures of all reports, most frequent first"},
    {"PUT", "/api/v1/baseline", answer_baseline, ROUTE_WRITES | ROUTE_BODY, NULL,
     "makes a run the baseline"},
    {"POST", "/api/v1/known", answer_known_add, ROUTE_WRITES | ROUTE_BODY, NULL,
     "accepts a difference"},
    {"DELETE", "/api/v1/known/{id}", answer_known_drop, ROUTE_WRITES | ROUTE_BODY, NULL,
     "removes an acceptance"},
};

enum { ROUTE_COUNT = COUNT_OF(routes) };

static struct route route_of_view(size_t i)
{
    return (struct route){.method = "GET",
                          .pattern = views[i].pattern,
                          .handler = answer_view,
                          .view = &views[i],
                          .summary = views[i].summary};
}

void route_each(void (*fn)(const struct route *route, void *context), void *context)
{
    for (size_t i = 0; i < ROUTE_COUNT; i++)
        fn(&routes[i], context);
    for (size_t i = 0; i < view_count; i++) {
        struct route row = route_of_view(i);
        fn(&row, context);
    }
}

static bool method_fits(const struct exchange *x, const char *method)
{
    return strcmp(method, x->head_only ? "GET" : x->request->request_method) == 0 &&
           (!x->head_only || strcmp(method, "GET") == 0);
}

int route_find(struct exchange *x)
{
    bool there = false;
    for (size_t i = 0; i < ROUTE_COUNT + view_count; i++) {
        struct route row = i < ROUTE_COUNT ? routes[i] : route_of_view(i - ROUTE_COUNT);
        if (!http_path_match(row.pattern, x->path, &x->keep, &x->query))
            continue;
        there = true;
        if (!method_fits(x, row.method))
            continue;
        struct route *kept = ARENA_NEW(&x->keep, struct route);
        if (kept == NULL)
            return 503;
        *kept = row;
        x->route = kept;
        return 0;
    }
    return there ? 405 : 404;
}

static void write_endpoint(const struct route *route, void *context)
{
    struct json *j = context;
    if (strncmp(route->pattern, "/api/", 5) != 0 && route->handler == answer_page)
        return;
    json_object(j);
    json_key_string(j, "method", route->method);
    json_key_string(j, "path", route->pattern);
    json_key_bool(j, "needs_write", (route->flags & ROUTE_WRITES) != 0);
    json_key_string(j, "summary", route->summary);
    json_object_end(j);
}

void endpoints_write(struct json *out)
{
    json_array(out);
    route_each(write_endpoint, out);
    json_array_end(out);
}

static int answer_endpoints(struct exchange *x)
{
    struct json j;
    size_t bytes = 0;
    char etag[ETAG_BYTES];
    json_to_text(&j, false);
    endpoints_write(&j);
    char *text = json_take(&j, &bytes);
    if (text == NULL)
        return answer_error(x, 503, "no_memory", "There is no memory for this answer", NULL);
    etag_of(text, bytes, etag);
    int status = answer_data(x, text, bytes, etag);
    free(text);
    return status;
}
