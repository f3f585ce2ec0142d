/* See file_server.h. */
#include "file_server.h"

#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/files.h"
#include "test.h"

static void note(const char *log, const char *word)
{
    FILE *out = fopen(log, "ab");
    if (out != NULL) {
        (void)fprintf(out, "%s\n", word);
        (void)fclose(out);
    }
}

/* The file PATH of the server's folder, or NULL. */
static const char *file_of(const struct file_server *server, const char *path, size_t *bytes)
{
    char file[1200];
    if (server->folder == NULL)
        return NULL;
    (void)snprintf(file, sizeof file, "%s/%s", server->folder, path);
    return path_is_file(file) ? (const char *)test_read(file, bytes) : NULL;
}

static void write_all(int client, const char *at, size_t left)
{
    for (ssize_t put = 0; left > 0 && put >= 0; left -= (size_t)put, at += put)
        put = write(client, at, left);
}

/* Answers one request and notes its path. False: none came. */
static bool answer(int client, const struct file_server *server)
{
    char text[4096] = "", path[560] = "", asked[600], head[300], place[80] = "";
    size_t bytes = 0;
    while (strstr(text, "\r\n\r\n") == NULL && bytes < sizeof text - 1) {
        const ssize_t more = read(client, text + bytes, sizeof text - 1 - bytes);
        if (more <= 0)
            return false;
        bytes += (size_t)more;
        text[bytes] = '\0';
    }
    const char *start = strchr(text, '/');
    if (start != NULL)
        (void)snprintf(path, sizeof path, "%.*s", (int)strcspn(start + 1, " "), start + 1);
    const char *range = server->resumes ? strstr(text, "\r\nRange: bytes=") : NULL;
    const size_t from = range != NULL && strstr(text, "\r\nIf-Range: \"1\"\r\n") != NULL
                            ? strtoul(range + strlen("\r\nRange: bytes="), NULL, 10)
                            : 0;
    (void)snprintf(asked, sizeof asked, "%s", path);
    if (from > 0)
        (void)snprintf(asked, sizeof asked, "%s+%zu", path, from);
    note(server->log, asked);
    const struct file_route *route = server->routes;
    while (route->path != NULL && strcmp(route->path, path) != 0)
        route++;
    size_t size = 0;
    const char *body = route->path != NULL ? route->body : file_of(server, path, &size);
    const char *status = body != NULL ? "200 OK" : "404 Not Found";
    if (route->path != NULL && route->body == NULL)
        status = server->status != NULL ? server->status : "500 Internal Server Error";
    if (route->path != NULL && route->body != NULL)
        size = strlen(body);
    size_t lost = server->lost;
    if (from > 0 && from < size) {
        status = "206 Partial Content";
        lost = 0;
        (void)snprintf(place, sizeof place, "Content-Range: bytes %zu-%zu/%zu\r\n", from, size - 1,
                       size);
        body += from;
        size -= from;
    }
    (void)snprintf(
        head, sizeof head, "HTTP/1.1 %s\r\nContent-Length: %zu\r\n%s%s%sConnection: %s\r\n\r\n",
        status, size,
        server->lost > 0 || server->resumes ? "ETag: \"1\"\r\nAccept-Ranges: bytes\r\n" : "", place,
        server->lines != NULL ? server->lines : "", server->kept ? "keep-alive" : "close");
    write_all(client, head, strlen(head));
    write_all(client, body, size > lost ? size - lost : 0);
    return true;
}

void file_serve(struct file_server *server)
{
    static unsigned served;
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t size = sizeof address;
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(listener >= 0 && bind(listener, (struct sockaddr *)&address, sizeof address) == 0 &&
            listen(listener, 16) == 0 &&
            getsockname(listener, (struct sockaddr *)&address, &size) == 0);
    (void)snprintf(server->log, sizeof server->log, "%s/served%u", test_scratch(), served++);
    (void)snprintf(server->url, sizeof server->url, "http://127.0.0.1:%u",
                   (unsigned)ntohs(address.sin_port));
    if (server->bound != NULL)
        server->bound(server, server->context);
    server->process = fork();
    REQUIRE(server->process >= 0);
    if (server->process == 0) {
        (void)alarm(60); /* it outlives a test that fails */
        (void)close(STDOUT_FILENO);
        (void)close(STDERR_FILENO);
        for (;;) {
            const int client = accept(listener, NULL, NULL);
            if (client >= 0) {
                if (server->kept)
                    note(server->log, "(connected)");
                while (answer(client, server) && server->kept)
                    continue;
                (void)close(client);
            }
        }
    }
    (void)close(listener);
}

const char *file_serve_end(const struct file_server *server)
{
    size_t bytes;
    static char text[4096];
    text[0] = '\0';
    (void)kill(server->process, SIGKILL);
    (void)waitpid(server->process, NULL, 0);
    if (path_is_file(server->log)) {
        const uint8_t *data = test_read(server->log, &bytes);
        (void)snprintf(text, sizeof text, "%.*s", (int)bytes, (const char *)data);
        for (char *at = text; *at != '\0'; at++)
            *at = *at == '\n' ? ' ' : *at;
    }
    return text;
}
