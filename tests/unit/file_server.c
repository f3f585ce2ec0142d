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

/* Answers one request and notes its path. False: none came. */
static bool answer(int client, const struct file_server *server)
{
    char text[4096] = "", path[512] = "", head[200];
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
    note(server->log, path);
    const struct file_route *route = server->routes;
    while (route->path != NULL && strcmp(route->path, path) != 0)
        route++;
    const char *body = route->path != NULL && route->body != NULL ? route->body : "";
    const char *status = route->path == NULL ? "404 Not Found" : "200 OK";
    if (route->path != NULL && route->body == NULL)
        status = "500 Internal Server Error";
    (void)snprintf(head, sizeof head,
                   "HTTP/1.1 %s\r\nContent-Length: %zu\r\n%sConnection: %s\r\n\r\n", status,
                   strlen(body), server->lost > 0 ? "ETag: \"1\"\r\nAccept-Ranges: bytes\r\n" : "",
                   server->kept ? "keep-alive" : "close");
    (void)!write(client, head, strlen(head));
    (void)!write(client, body, strlen(body) > server->lost ? strlen(body) - server->lost : 0);
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
    static char text[2048];
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
