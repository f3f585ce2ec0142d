/* The dashboard as its clients reach it: hostile requests over a socket, through every check and
 * route, with a small database and writing allowed.
 *
 * An input is an index into the list of routes, a set of flags, and text. The part of the text
 * before the first NUL replaces the {words} of the path and becomes the query; the part after it is
 * the body. One flag sends the input unchanged instead, as the bytes of a connection. */
#define _POSIX_C_SOURCE 200809L
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "fuzz.h"
#include "make_run.h"
#include "server/routes.h"
#include "server/server.h"
#include "store/store.h"

enum { ROUTES_MAX = 64, REQUEST_BYTES = 16384, BODY_BYTES = 65536, ANSWER_MS = 2000 };

enum flag {
    AS_IT_IS = 64 | 128, /* both bits: a quarter of the inputs, as each needs a connection */
    OTHER_METHOD = 1,
    NO_TOKEN = 2,
    WANTS_PAGE = 4,
    WANTS_GZIP = 8,
    WORD_IS_REAL = 16, /* {run} is "latest" and so on: names that the views accept */
};

static struct world {
    struct dashboard *server;
    char folder[64], database[128], known[128];
    const char *token;
    uint16_t port;
    struct route routes[ROUTES_MAX];
    size_t route_count;
} world;

static void require(bool held, const char *what)
{
    if (held)
        return;
    fprintf(stderr, "fuzz_server: %s\n", what);
    abort();
}

static void fill_database(const char *path)
{
    struct arena keep;
    struct run_info run;
    struct run_case cases[MADE_CASES];
    struct store *store = NULL;
    struct fault fault = FAULT_INIT;

    arena_init(&keep, 0);
    make_run(&keep, &run, cases);
    require(store_open(path, STORE_WRITE, &store, &fault) == ERR_NONE, "no database");
    (void)store_begin_run(store, &run, &keep, &fault);
    for (int i = 0; i < MADE_CASES; i++)
        (void)store_put_case(store, run.id, &cases[i], &fault);
    (void)store_finish_run(store, run.id, RUN_COMPLETE, run.finished_ns, &fault);
    require(fault.code == ERR_NONE, "no run");
    store_close(store);
    arena_free(&keep);
}

static void add_route(const struct route *route, void *context)
{
    (void)context;
    /* An event stream never ends, so a client cannot wait for its end. */
    if (world.route_count < ROUTES_MAX && strcmp(route->pattern, "/api/v1/events") != 0)
        world.routes[world.route_count++] = *route;
}

static void remove_world(void)
{
    dashboard_stop(world.server);
    (void)remove(world.known);
    (void)remove(world.database);
    (void)rmdir(world.folder);
}

static void start(void)
{
    struct fault fault = FAULT_INIT;
    memcpy(world.folder, "/tmp/twinstack-fuzz-XXXXXX", 27);
    require(mkdtemp(world.folder) != NULL, "no temporary folder");
    (void)snprintf(world.database, sizeof world.database, "%s/runs.db", world.folder);
    (void)snprintf(world.known, sizeof world.known, "%s/known.txt", world.folder);
    fill_database(world.database);
    static struct dashboard_options options;
    options = (struct dashboard_options){.listen = "127.0.0.1:0",
                                         .database = world.database,
                                         .known_file = world.known,
                                         .allow_write = true};
    require(dashboard_start(&options, &world.server, &fault) == ERR_NONE, "no server");
    const char *url = dashboard_url(world.server);
    world.token = strchr(url, '=') + 1;
    world.port = (uint16_t)strtoul(strrchr(url, ':') + 1, NULL, 10);
    route_each(add_route, NULL);
    (void)atexit(remove_world);
}

static int connection = -1; /* kept open between requests */

static void open_connection(void)
{
    const struct timeval limit = {.tv_sec = ANSWER_MS / 1000};
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(world.port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connection = socket(AF_INET, SOCK_STREAM, 0);
    require(connection >= 0 &&
                connect(connection, (struct sockaddr *)&address, sizeof address) == 0,
            "the server does not take connections");
    (void)setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
}

static void close_connection(void)
{
    (void)close(connection);
    connection = -1;
}

/* Reads one answer to its stated end; false: the connection cannot be used any more. */
static bool read_answer(bool has_body)
{
    static char answer[65536];
    size_t have = 0;
    const char *end = NULL;
    while (end == NULL && have + 1 < sizeof answer) {
        const ssize_t got = recv(connection, answer + have, sizeof answer - 1 - have, 0);
        if (got <= 0)
            return false;
        have += (size_t)got;
        answer[have] = '\0';
        end = strstr(answer, "\r\n\r\n");
    }
    const char *length = end != NULL ? strstr(answer, "Content-Length: ") : NULL;
    if (length == NULL || length > end || strstr(answer, "Connection: close") != NULL)
        return false;
    size_t left = has_body ? strtoul(length + 16, NULL, 10) : 0;
    left -= left < have - (size_t)(end + 4 - answer) ? left : have - (size_t)(end + 4 - answer);
    while (left > 0) {
        const ssize_t got =
            recv(connection, answer, left < sizeof answer ? left : sizeof answer, 0);
        if (got <= 0)
            return false;
        left -= (size_t)got;
    }
    return true;
}

static void exchange_bytes(const char *head, size_t head_bytes, const void *body, size_t bytes)
{
    if (connection < 0)
        open_connection();
    const bool is_head = head_bytes > 5 && memcmp(head, "HEAD ", 5) == 0;
    bool sent = send(connection, head, head_bytes, MSG_NOSIGNAL) > 0;
    if (sent && bytes > 0)
        sent = send(connection, body, bytes, MSG_NOSIGNAL) > 0;
    if (!sent || !read_answer(!is_head))
        close_connection();
}

/* Sends bytes of no known shape. The server may wait for more, so this side closes its end. */
static void send_as_it_is(const void *data, size_t bytes)
{
    char answer[4096];
    if (connection >= 0)
        close_connection();
    open_connection();
    if (send(connection, data, bytes, MSG_NOSIGNAL) > 0 && shutdown(connection, SHUT_WR) == 0)
        while (recv(connection, answer, sizeof answer, 0) > 0)
            continue;
    close_connection();
}

/* PATTERN with each {word} replaced: by real names, or by TEXT unchanged. */
static void write_path(const char *pattern, bool real, const char *text, char *out, size_t bytes)
{
    size_t used = 0;
    while (*pattern != '\0' && used + 1 < bytes) {
        if (*pattern != '{') {
            out[used++] = *pattern++;
            continue;
        }
        const char *word = text;
        if (real)
            word = strncmp(pattern, "{run}", 5) == 0    ? "latest"
                   : strncmp(pattern, "{case}", 6) == 0 ? "null_write.ob2"
                   : strncmp(pattern, "{vari", 5) == 0  ? "ob2"
                                                        : "null_write";
        const int wrote = snprintf(out + used, bytes - used, "%s", word);
        used += wrote > 0 ? (size_t)wrote : 0;
        pattern += strcspn(pattern, "}") + 1;
    }
    out[used < bytes ? used : bytes - 1] = '\0';
}

static void request(const struct route *route, unsigned flags, const char *text, const void *body,
                    size_t bytes)
{
    static const char *const methods[] = {"GET", "HEAD", "POST", "PUT", "DELETE", "PATCH"};
    char path[REQUEST_BYTES / 4], head[REQUEST_BYTES];
    write_path(route->pattern, (flags & WORD_IS_REAL) != 0, text, path, sizeof path);
    const int length =
        snprintf(head, sizeof head,
                 "%s %s?%.4000s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nConnection: keep-alive\r\n"
                 "Content-Type: application/json\r\n%s%s%s%s%sContent-Length: %zu\r\n\r\n",
                 (flags & OTHER_METHOD) != 0 ? methods[bytes % 6] : route->method, path, text,
                 (unsigned)world.port, (flags & NO_TOKEN) != 0 ? "" : "X-Token: ",
                 (flags & NO_TOKEN) != 0 ? "" : world.token, (flags & NO_TOKEN) != 0 ? "" : "\r\n",
                 (flags & WANTS_PAGE) != 0 ? "Accept: text/html\r\n" : "",
                 (flags & WANTS_GZIP) != 0 ? "Accept-Encoding: gzip\r\n" : "", bytes);
    if (length > 0 && (size_t)length < sizeof head)
        exchange_bytes(head, (size_t)length, body, bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[REQUEST_BYTES / 4];
    if (world.server == NULL)
        start();
    if (size < 2 || size > BODY_BYTES)
        return 0;
    const struct route *route = &world.routes[data[0] % world.route_count];
    const unsigned flags = data[1];
    data += 2;
    size -= 2;
    if ((flags & AS_IT_IS) == AS_IT_IS) {
        send_as_it_is(data, size);
        return 0;
    }
    const uint8_t *end = size > 0 ? memchr(data, '\0', size) : NULL;
    const size_t before = end != NULL ? (size_t)(end - data) : size;
    const size_t kept = before < sizeof text ? before : sizeof text - 1;
    memcpy(text, data, kept);
    text[kept] = '\0';
    request(route, flags, text, end != NULL ? end + 1 : NULL, end != NULL ? size - before - 1 : 0);
    return 0;
}
