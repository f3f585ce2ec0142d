/* See warm.h. */
#include "pages/warm.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/files.h"
#include "base/thread.h"
#include "http/state.h"
#include "pages/first.h"
#include "pages/stores.h"
#include "web/web.h"

enum { LOOK_MS = 200 };

/* The newest run, unless it is in progress: its views would be old at once.  0: there is none. */
static uint64_t newest_run(struct dashboard *d)
{
    struct fault fault = FAULT_INIT;
    struct store *store = NULL;
    struct arena keep;
    struct run_info run = {0};
    uint64_t id = 0;
    if (store_pool_take(d->stores, &store, &fault) != ERR_NONE)
        return 0;
    arena_init(&keep, REQUEST_ARENA_BYTES);
    if (store_find_run(store, "latest", &id, &fault) != ERR_NONE ||
        store_read_run(store, id, &keep, &run, &fault) != ERR_NONE || run.state == RUN_RUNNING)
        id = 0;
    arena_free(&keep);
    store_pool_give(d->stores, store);
    return id;
}

/* Makes what the page at PATTERN asks for, of run RUN, as for a visitor. */
static void make_page(struct dashboard *d, uint64_t version, const char *pattern, const char *run,
                      const char *query)
{
    const struct mg_request_info request = {.query_string = query};
    const struct route route = {.pattern = pattern};
    struct exchange x = {
        .request = &request, .dashboard = d, .route = &route, .data_version = version};
    struct first first;
    arena_init(&x.keep, REQUEST_ARENA_BYTES);
    x.query.params[0] = run;
    first_find(&x, &first);
    first_make(&x, &first);
    arena_free(&x.keep);
}

/* True for a page of a run, or of no run; others show one case of many. */
static bool is_of_run(const char *pattern)
{
    static const char run[] = "{run}";
    const char *place = strchr(pattern, '{');
    return place == NULL || (strncmp(place, run, sizeof run - 1) == 0 &&
                             strchr(place + sizeof run - 1, '{') == NULL);
}

static void make_pages(struct dashboard *d, uint64_t version, uint64_t run_id)
{
    char run[24], query[32];
    (void)snprintf(run, sizeof run, "%" PRIu64, run_id);
    (void)snprintf(query, sizeof query, "run=%s", run);
    for (size_t i = 0; i < web_first_count && !dashboard_is_stopping(d); i++) {
        const struct web_first *ask = &web_first[i];
        const bool is_next_of_page = i > 0 && strcmp(web_first[i - 1].page, ask->page) == 0;
        if (!is_next_of_page && is_of_run(ask->page))
            make_page(d, version, ask->page, run, ask->takes_run ? query : NULL);
    }
}

/* Two looks at the same version: no run writes at this time. */
static void warm(void *context)
{
    struct dashboard *d = context;
    uint64_t seen = 0, made = 0;
    while (!dashboard_is_stopping(d)) {
        const uint64_t version = store_pool_version(d->stores);
        if (version == seen && version != made) {
            const uint64_t run_id = newest_run(d);
            if (run_id != 0)
                make_pages(d, version, run_id);
            made = version;
            memory_give_back();
        }
        seen = version;
        thread_sleep_ms(LOOK_MS);
    }
}

struct thread *warm_start(struct dashboard *dashboard)
{
    return thread_start(warm, dashboard);
}
