/* The dashboard as its clients reach it: hostile requests over a socket, through every check and
 * route, with a small database behind it and writing allowed.
 *
 * An input is a row of the list of routes, a set of flags, and text: the part before the first NUL
 * replaces the {words} of the path and becomes the query, the part after it is the body.  One flag
 * sends the input as it is instead, as the bytes of a connection. */
#define _POSIX_C_SOURCE 200809L
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/files.h"
#include "dashboard/routes.h"
#include "dashboard/server.h"
#include "fuzz.h"
#include "make_run.h"

enum { ROUTES_MAX = 64, REQUEST_BYTES = 16384, BODY_BYTES = 65536, ANSWER_MS = 2000 };

enum flag {
    AS_IT_IS = 1,
    OTHER_METHOD = 2,
    NO_TOKEN = 4,
    WANTS_PAGE = 8,
    WANTS_GZIP = 16,
    WORD_IS_REAL = 32, /* {run} is "latest" and so on, so that views get beyond their names */
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
    /* an event stream has no end that a client could wait for */
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

static void exchange_bytes(const char *head, size_t head_bytes, const void *body, size_t bytes)
{
    const struct timeval limit = {.tv_sec = ANSWER_MS / 1000};
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(world.port)};
    char answer[4096];
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int s = socket(AF_INET, SOCK_STREAM, 0);
    require(s >= 0 && connect(s, (struct sockaddr *)&address, sizeof address) == 0,
            "the server does not take connections");
    (void)setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    if (send(s, head, head_bytes, MSG_NOSIGNAL) > 0 && bytes > 0)
        (void)send(s, body, bytes, MSG_NOSIGNAL);
    (void)shutdown(s, SHUT_WR);
    while (recv(s, answer, sizeof answer, 0) > 0)
        continue;
    (void)close(s);
}

/* PATTERN with each {word} replaced: by real names, or by TEXT as it is. */
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
                 "%s %s?%.4000s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nConnection: close\r\n"
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
    if ((flags & AS_IT_IS) != 0) {
        exchange_bytes((const char *)data, size, NULL, 0);
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
