/* Live updates: a stream of server-sent events, a few at most.
 *
 * Each connection is a thread, so streams are capped; one more gets 204, which ends an
 * EventSource, and its page polls instead.  A reader that has gone is noticed only when a ping
 * cannot be written, so pings are frequent.  An event says that something changed and which runs
 * are in progress; pages then fetch what they show. */
#include "pages/events.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "http/exchange.h"
#include "http/response.h"
#include "http/state.h"
#include "pages/stores.h"

enum { POLL_MS = 400, PING_MS = 2000 };

static bool stream_open(struct dashboard *d)
{
    mutex_lock(d->lock);
    bool room = d->streams < STREAMS_MAX && !d->stopping;
    d->streams += room ? 1 : 0;
    mutex_unlock(d->lock);
    return room;
}

static void stream_close(struct dashboard *d)
{
    mutex_lock(d->lock);
    d->streams--;
    mutex_unlock(d->lock);
}

/* {"version", "running": [run...]}: from this a page knows what to fetch again. */
static char *describe(struct store *store, uint64_t version, struct arena *keep)
{
    struct run_query query = {.with_running = true, .limit = 10};
    struct run_page page;
    struct fault fault = FAULT_INIT;
    struct json j;

    if (store_list_runs(store, &query, keep, &page, &fault) != ERR_NONE)
        return NULL;
    json_to_text(&j, false);
    json_object(&j);
    json_key_hex(&j, "version", version);
    json_key_array(&j, "running");
    for (uint32_t i = 0; i < page.count; i++)
        if (page.runs[i].state == RUN_RUNNING)
            run_info_write_json(&j, &page.runs[i]);
    json_array_end(&j);
    json_object_end(&j);
    return json_take(&j, NULL);
}

/* The next event, when the database changed since *version; NULL when not. */
static char *next_event(struct dashboard *d, uint64_t *version)
{
    struct fault fault = FAULT_INIT;
    struct store *store = NULL;
    struct arena keep;
    char *text = NULL;

    const uint64_t now = store_pool_version(d->stores);
    if (now == *version || store_pool_take(d->stores, &store, &fault) != ERR_NONE)
        return NULL;
    arena_init(&keep, REQUEST_ARENA_BYTES);
    text = describe(store, now, &keep);
    arena_free(&keep);
    *version = now;
    store_pool_give(d->stores, store);
    return text;
}

static bool send_text(struct exchange *x, const char *text)
{
    return mg_write(x->connection, text, strlen(text)) > 0;
}

static bool send_event(struct exchange *x, uint64_t version, const char *text)
{
    char head[64];
    (void)snprintf(head, sizeof head, "id: %" PRIu64 "\nevent: change\ndata: ", version);
    return send_text(x, head) && send_text(x, text) && send_text(x, "\n\n");
}

int answer_events(struct exchange *x)
{
    const char *last = exchange_header(x, "Last-Event-ID");
    uint64_t version = last != NULL ? strtoull(last, NULL, 10) : 0;
    uint64_t sent_ns = clock_ns();

    if (!stream_open(x->dashboard))
        return answer_body(x, 204, &(struct answer_body){.mime = "text/event-stream"});
    mg_disable_connection_keep_alive(x->connection);
    bool alive = send_text(x, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                              "Cache-Control: no-store\r\nConnection: close\r\n") &&
                 send_text(x, exchange_safety_headers) && send_text(x, "\r\n") && !x->head_only &&
                 send_text(x, "retry: 3000\n\n");
    while (alive && !dashboard_is_stopping(x->dashboard)) {
        char *text = next_event(x->dashboard, &version);
        if (text != NULL) {
            alive = send_event(x, version, text);
            sent_ns = clock_ns();
        } else if (clock_ns() - sent_ns > (uint64_t)PING_MS * 1000000u) {
            alive = send_text(x, ": ping\n\n");
            sent_ns = clock_ns();
        }
        free(text);
        thread_sleep_ms(POLL_MS);
    }
    stream_close(x->dashboard);
    return 200;
}
