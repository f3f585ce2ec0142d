/* See inbox_desk.h. */
#include "inbox_desk.h"

#include <civetweb.h>
#include <stdio.h>
#include <string.h>

#include "base/files.h"
#include "http/body.h"
#include "http/exchange.h"
#include "http/response.h"
#include "http/response_cache.h"
#include "inbox/problems.h"
#include "inbox/reports_inbox.h"
#include "test.h"

/* Requests that have ended, under the dashboard's lock: what a handler counts, it may count after
 * its answer. */
static int ended;

static int read_ended(struct dashboard *dashboard, int add)
{
    mutex_lock(dashboard->lock);
    const int now = ended += add;
    mutex_unlock(dashboard->lock);
    return now;
}

static int begin_request(struct mg_connection *connection)
{
    const struct mg_request_info *request = mg_get_request_info(connection);
    struct fault fault = FAULT_INIT;
    struct exchange x = {.connection = connection,
                         .request = request,
                         .dashboard = request->user_data,
                         .path = request->request_uri,
                         .started_ns = clock_ns()};
    arena_init(&x.keep, 0);
    const int status =
        http_query_parse(request->query_string, &x.keep, &x.query, &fault) != ERR_NONE
            ? answer_fault(&x, &fault)
        : strcmp(x.path, "/report") == 0 ? answer_report(&x)
                                         : answer_problems(&x);
    exchange_end_upload(&x);
    arena_free(&x.keep);
    (void)read_ended(x.dashboard, 1);
    return status;
}

void open_desk(struct desk *d, const char *senders, struct dashboard_options options)
{
    const char *settings[] = {"listening_ports", "127.0.0.1:0", "num_threads", "2", NULL};
    const struct mg_callbacks callbacks = {.begin_request = begin_request};
    struct mg_server_port bound[1];
    struct fault fault = FAULT_INIT;
    memset(d, 0, sizeof *d);
    (void)snprintf(d->spool, sizeof d->spool, "%s/spool", test_scratch());
    (void)snprintf(d->senders, sizeof d->senders, "%s/senders", test_scratch());
    d->dashboard.options = options;
    d->dashboard.options.spool = d->spool;
    d->dashboard.options.senders = d->senders;
    d->dashboard.lock = mutex_new();
    d->dashboard.cache = cache_new();
    REQUIRE(d->dashboard.lock != NULL && d->dashboard.cache != NULL);
    if (senders != NULL) {
        test_write(d->senders, senders, strlen(senders));
        REQUIRE(collector_open(&d->dashboard.options, &d->dashboard.collector, &fault) == ERR_NONE);
    }
    (void)mg_init_library(MG_FEATURES_DEFAULT);
    d->dashboard.server = mg_start(&callbacks, &d->dashboard, settings);
    REQUIRE(d->dashboard.server != NULL && mg_get_server_ports(d->dashboard.server, 1, bound) == 1);
    d->port = bound[0].port;
}

void close_desk(struct desk *d)
{
    collector_close(d->dashboard.collector);
    cache_free(d->dashboard.cache);
    mutex_free(d->dashboard.lock);
}

void ask_with(struct desk *d, const char *target, const char *lines, const char *body, size_t bytes)
{
    char why[256] = "";
    struct mg_connection *c = mg_connect_client("127.0.0.1", d->port, 0, why, sizeof why);
    size_t had = 0;
    const int before = read_ended(&d->dashboard, 0);
    REQUIRE(c != NULL);
    (void)mg_printf(c, "%s %s HTTP/1.1\r\nHost: 127.0.0.1\r\n%s\r\n", body != NULL ? "POST" : "GET",
                    target, lines);
    if (bytes > 0)
        (void)mg_write(c, body, bytes);
    REQUIRE(mg_get_response(c, why, sizeof why, 60000) >= 0);
    d->status = mg_get_response_info(c)->status_code;
    for (int got = d->status != 100; got > 0 && had < sizeof d->body - 1;
         had += got > 0 ? (size_t)got : 0)
        got = mg_read(c, d->body + had, sizeof d->body - 1 - had);
    d->body[had] = '\0';
    mg_close_connection(c);
    while (read_ended(&d->dashboard, 0) == before)
        thread_sleep_ms(1);
}

void ask(struct desk *d, const char *target, const char *token, const char *body, size_t bytes)
{
    char lines[400] = "";
    size_t used = 0;
    if (token != NULL)
        used = (size_t)snprintf(lines, sizeof lines, "X-Token: %s\r\n", token);
    if (body != NULL)
        (void)snprintf(lines + used, sizeof lines - used, "Content-Length: %zu\r\n", bytes);
    ask_with(d, target, lines, body, bytes);
}
