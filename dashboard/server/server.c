/* The server: settings, the checks that every request passes, and the end. */
#include "server/server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/text.h"
#include "http/body.h"
#include "http/connections.h"
#include "http/hosts.h"
#include "http/response.h"
#include "http/response_cache.h"
#include "http/secret.h"
#include "http/state.h"
#include "inbox/reports_inbox.h"
#include "pages/assets.h"
#include "pages/stores.h"
#include "pages/summed.h"
#include "server/routes.h"
#include "symbol/symbol_store.h"

enum { ALLOCATOR_POOLS = 4, LARGE_ANSWER_BYTES = 1 << 20 };

static const uint64_t give_back_ns = UINT64_C(1000000000);

/* Compares without ending early, so that the time taken does not show where the texts differ. */
static bool token_fits(const struct dashboard *d, const char *given)
{
    if (given == NULL || strlen(given) != TOKEN_BYTES)
        return false;
    unsigned char differ = 0;
    for (size_t i = 0; i < TOKEN_BYTES; i++)
        differ |= (unsigned char)(given[i] ^ d->token[i]);
    return differ == 0;
}

static bool method_reads(const struct exchange *x)
{
    return x->head_only || strcmp(x->request->request_method, "GET") == 0;
}

/* "application/json", with or without parameters. */
static bool type_is_json(const char *type)
{
    static const char json[] = "application/json";
    return type != NULL && strncmp(type, json, sizeof json - 1) == 0 &&
           strchr("; \t", type[sizeof json - 1]) != NULL; /* the NUL counts too */
}

/* 0, or the status of the refusal that was sent. */
static int check_write(struct exchange *x)
{
    const char *type = exchange_header(x, "Content-Type");
    if (!x->dashboard->options.allow_write)
        return answer_error(x, 403, "read_only", "This server does not write",
                            "start it with --allow-write");
    if (!token_fits(x->dashboard, exchange_header(x, "X-Token")))
        return answer_error(x, 401, "token", "The token is missing or wrong",
                            "use the address that `twinstack serve` printed");
    if (strcmp(x->request->request_method, "DELETE") != 0 && !type_is_json(type))
        return answer_error(x, 415, "content_type", "A write must be application/json", NULL);
    return 0;
}

/* True for a browser that asks for a page rather than data. */
static bool wants_page(const struct exchange *x)
{
    const char *accept = exchange_header(x, "Accept");
    return method_reads(x) && accept != NULL && strstr(accept, "text/html") != NULL &&
           strncmp(x->path, "/api/", 5) != 0 && strncmp(x->path, "/assets/", 8) != 0;
}

static int check_request(struct exchange *x)
{
    struct dashboard *d = x->dashboard;
    const char *host = exchange_header(x, "Host");
    if (!exchange_header_is_once(x, "Host"))
        return answer_error(x, 400, "two_hosts", "The request names two hosts", NULL);
    mutex_lock(d->lock);
    const uint16_t port = d->port;
    mutex_unlock(d->lock);
    if (!host_is_ours(host, port, d->options.hosts, d->options.host_count))
        return answer_error(x, 421, "wrong_host", "This server does not answer to that host name",
                            "use the printed address, or name it with --host");
    int missing = route_find(x);
    if (missing == 405)
        return answer_error(x, 405, "method", "That method does not work here", NULL);
    if (missing != 0 && wants_page(x))
        return answer_page(x); /* which says that there is no such page */
    if (missing != 0)
        return answer_error(x, 404, "absent", "There is nothing at this address",
                            "/api/v1/endpoints lists what there is");
    if (!method_reads(x)) {
        const char *site = exchange_header(x, "Sec-Fetch-Site");
        if (!origin_is_ours(exchange_header(x, "Origin"), host) ||
            (site != NULL && strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0))
            return answer_error(x, 403, "wrong_origin",
                                "Pages of other sites may not send this request", NULL);
    }
    if ((x->route->flags & ROUTE_WRITES) != 0)
        return check_write(x);
    if (d->options.allow_remote && (x->route->flags & ROUTE_OPEN) == 0 &&
        !token_fits(d, exchange_header(x, "X-Token")))
        return answer_error(x, 401, "token", "The token is missing or wrong",
                            "use the address that `twinstack serve` printed");
    return 0;
}

struct answering {
    struct exchange *x;
    int status;
};

static void run_handler(void *context)
{
    struct answering *a = context;
    a->status = a->x->route->handler(a->x);
}

/* civetweb's threads have stacks of 100 KB.  What parses a client's bytes gets a thread with the
 * stack that the analyser's recursion limits are made for. */
static int answer_on_deep_stack(struct exchange *x)
{
    struct answering a = {.x = x};
    struct thread *thread = thread_start(run_handler, &a);
    if (thread == NULL)
        return answer_error(x, 503, "no_memory", "There is no thread for this request",
                            "try again in a moment");
    thread_join(thread);
    return a.status;
}

static struct dashboard *dashboard_of(const struct mg_connection *connection)
{
    return mg_get_user_data(mg_get_context(connection));
}

static int open_connection(const struct mg_connection *connection, void **data)
{
    struct dashboard *d = dashboard_of(connection);
    (void)data;
    mutex_lock(d->lock);
    const uint16_t port = d->port;
    mutex_unlock(d->lock);
    connections_open(d->connections, port);
    return 1; /* no data of its own */
}

static void close_connection(const struct mg_connection *connection)
{
    connections_close(dashboard_of(connection)->connections);
}

/* The pools keep what large answers took: now and then the system has it back. */
static void give_back(struct dashboard *d)
{
    const uint64_t now = clock_ns();
    mutex_lock(d->lock);
    const bool due = now - d->gave_back_ns >= give_back_ns;
    if (due)
        d->gave_back_ns = now;
    mutex_unlock(d->lock);
    if (due)
        memory_give_back();
}

static int answer_request(struct mg_connection *connection)
{
    const struct mg_request_info *request = mg_get_request_info(connection);
    struct exchange x = {.connection = connection,
                         .request = request,
                         .dashboard = request->user_data,
                         .started_ns = clock_ns()};
    struct fault fault = FAULT_INIT;

    arena_init(&x.keep, REQUEST_ARENA_BYTES);
    x.head_only = strcmp(request->request_method, "HEAD") == 0;
    x.path = request->request_uri;
    int status = check_request(&x);
    if (status == 0) {
        /* route_find filled the params; the parse fills the pairs beside them */
        if (http_query_parse(request->query_string, &x.keep, &x.query, &fault) != ERR_NONE)
            status = answer_fault(&x, &fault);
        else if ((x.route->flags & ROUTE_BODY) != 0)
            status = answer_on_deep_stack(&x);
        else
            status = x.route->handler(&x);
    }
    exchange_end_upload(&x);
    const bool is_large = x.keep.used_bytes >= LARGE_ANSWER_BYTES;
    arena_free(&x.keep);
    if (is_large)
        give_back(x.dashboard);
    return status;
}

/* CivetWeb would write its messages to its own file; 1 means that they are handled. */
static int begin_request(struct mg_connection *connection)
{
    struct connections *connections = dashboard_of(connection)->connections;
    const uint32_t number = connections_busy(connections, mg_get_request_info(connection));
    const int status = answer_request(connection);
    connections_idle(connections, number);
    return status;
}

static int log_message(const struct mg_connection *connection, const char *message)
{
    (void)connection;
    (void)message;
    return 1;
}

static bool make_token(struct dashboard *d)
{
    static const char digits[] = "0123456789abcdef";
    unsigned char random[TOKEN_BYTES / 2];
    if (!secret_bytes(random, sizeof random))
        return false;
    for (size_t i = 0; i < sizeof random; i++) {
        d->token[2 * i] = digits[random[i] >> 4];
        d->token[2 * i + 1] = digits[random[i] & 15];
    }
    return true;
}

/* Each connection has a thread; with a dozen threads, a few idle connections would block all users.
 * 600 idle threads cost 11 MB.  There is no document_root: no file is served from disk.  decode_url
 * is off because it would decode in place, and "%2f" in a name would become a separator before the
 * routes are looked up. */
static struct mg_context *start_civetweb(struct dashboard *d, const char *ports)
{
    char threads[16], header_ms[16], keep_alive_ms[16];
    (void)snprintf(threads, sizeof threads, "%d", (int)CONNECTIONS_MAX);
    (void)snprintf(header_ms, sizeof header_ms, "%d", (int)CONNECTION_HEADER_MS);
    (void)snprintf(keep_alive_ms, sizeof keep_alive_ms, "%d", (int)CONNECTION_KEEP_ALIVE_MS);
    const char *settings[] = {"listening_ports",
                              ports,
                              "num_threads",
                              threads,
                              "connection_queue",
                              "256",
                              "listen_backlog",
                              "4096",
                              "max_request_size",
                              "16384",
                              "request_timeout_ms",
                              header_ms,
                              "keep_alive_timeout_ms",
                              keep_alive_ms,
                              "enable_keep_alive",
                              "yes",
                              "tcp_nodelay",
                              "1",
                              "decode_url",
                              "no",
                              "access_control_allow_origin",
                              "",
                              "access_control_allow_methods",
                              "",
                              "access_control_allow_headers",
                              "",
                              "enable_directory_listing",
                              "no",
                              NULL};
    const struct mg_callbacks callbacks = {.begin_request = begin_request,
                                           .init_connection = open_connection,
                                           .connection_close = close_connection,
                                           .log_message = log_message};
    return mg_start(&callbacks, d, settings);
}

static enum status check_listen(struct dashboard *d, struct fault *fault)
{
    if (!host_split(d->options.listen, d->host, sizeof d->host, &d->port))
        return fault_set_hint(fault, ERR_USAGE, FAULT_NO_OFFSET, "address to listen on",
                              "say ADDRESS:PORT, such as 127.0.0.1:0");
    if (text_equal_nocase(d->host, "localhost"))
        (void)snprintf(d->host, sizeof d->host, "127.0.0.1");
    if (!host_is_loopback(d->host) && !d->options.allow_remote)
        return fault_set_hint(fault, ERR_USAGE, FAULT_NO_OFFSET,
                              "an address that other machines reach",
                              "--allow-remote allows it, with the token");
    if (d->host[0] == '[' && (mg_check_feature(MG_FEATURES_IPV6) == 0))
        return fault_set_hint(fault, ERR_UNSUPPORTED, FAULT_NO_OFFSET, "IPv6 address",
                              "this build of civetweb has no IPv6; use 127.0.0.1");
    return ERR_NONE;
}

/* A server that may write upgrades an older database once, at its start.  Errors are ignored here:
 * the pages report them. */
static void upgrade_database(const char *path)
{
    struct store *store = NULL;
    struct fault ignored = FAULT_INIT;
    if (path_is_file(path) && store_open(path, STORE_WRITE, &store, &ignored) == ERR_NONE)
        store_close(store);
}

static enum status start(struct dashboard *d, struct fault *fault)
{
    char ports[300];
    struct mg_server_port bound[4];

    enum status status = check_listen(d, fault);
    if (status != ERR_NONE)
        return status;
    if (d->options.allow_write)
        upgrade_database(d->options.database);
    d->lock = mutex_new();
    d->write_lock = mutex_new();
    d->cache = cache_new();
    d->summed = d->cache != NULL ? summed_runs_new(d->cache) : NULL;
    d->connections = connections_new();
    d->stores = store_pool_new(d->options.database, d->options.wait);
    if (d->lock == NULL || d->write_lock == NULL || d->summed == NULL || d->connections == NULL ||
        d->stores == NULL)
        return fault_no_memory(fault, "server");
    if (d->options.collect && collector_open(&d->options, &d->collector, fault) != ERR_NONE)
        return fault->code;
    if (!make_token(d))
        return fault_set(fault, ERR_IO, FAULT_NO_OFFSET, "random bytes of the system");
    (void)mg_init_library(MG_FEATURES_DEFAULT);
    (void)snprintf(ports, sizeof ports, "%s:%u", d->host, (unsigned)d->port);
    memory_share_pools(ALLOCATOR_POOLS);
    d->server = start_civetweb(d, ports);
    if (d->server == NULL || mg_get_server_ports(d->server, 4, bound) < 1)
        return fault_set_hint(fault, ERR_IO, FAULT_NO_OFFSET, "listening on that address",
                              "another program may have it; port 0 takes any free one");
    mutex_lock(d->lock); /* requests may be coming in already */
    d->port = (uint16_t)bound[0].port;
    mutex_unlock(d->lock);
    bool needs_token = d->options.allow_write || d->options.allow_remote;
    (void)snprintf(d->url, sizeof d->url, "http://%s:%u/%s%s", d->host, (unsigned)d->port,
                   needs_token ? "#token=" : "", needs_token ? d->token : "");
    return ERR_NONE;
}

enum status dashboard_start(const struct dashboard_options *options, struct dashboard **out,
                            struct fault *fault)
{
    struct dashboard *d = calloc(1, sizeof *d);
    if (d == NULL)
        return fault_no_memory(fault, "server");
    d->options = *options;
    enum status status = start(d, fault);
    if (status != ERR_NONE) {
        dashboard_stop(d);
        d = NULL;
    }
    *out = d;
    return status;
}

const char *dashboard_url(const struct dashboard *dashboard)
{
    return dashboard->url;
}

void dashboard_stop(struct dashboard *d)
{
    if (d->lock != NULL) {
        mutex_lock(d->lock);
        d->stopping = true;
        mutex_unlock(d->lock);
    }
    if (d->server != NULL) {
        mg_stop(d->server);
        (void)mg_exit_library();
    }
    if (d->symbols != NULL)
        symbol_store_close(d->symbols);
    store_pool_free(d->stores);
    summed_runs_free(d->summed);
    cache_free(d->cache);
    collector_close(d->collector);
    connections_free(d->connections);
    mutex_free(d->lock);
    mutex_free(d->write_lock);
    free(d);
}
