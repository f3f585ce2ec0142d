/* A server of files for tests of what is asked of symbol servers. */
#ifndef TESTS_UNIT_FILE_SERVER_H
#define TESTS_UNIT_FILE_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct file_route {
    const char *path, *body; /* BODY NULL: 500, or what the server says */
};

struct file_server {
    const struct file_route *routes; /* the last has no path; all else is 404 */
    const char *folder;              /* whose files it has besides; NULL: none */
    bool kept;          /* a connection stays open for more requests, one connection at a time */
    size_t lost;        /* each whole body lacks so many last bytes, and has a validator */
    bool resumes;       /* the rest of a body is sent, too, and noted as PATH+FROM */
    const char *status; /* of a route without a body */
    const char *lines;  /* more lines of each head, each with its end */
    void (*bound)(const struct file_server *server, void *context); /* its address is known */
    void *context;

    /* by file_serve() */
    char log[600]; /* a file in the scratch folder, of this server alone */
    char url[64];
    pid_t process;
};

/* Starts it in a process of its own; ends the test when it cannot. */
void file_serve(struct file_server *server);

/* Ends it. Returns the paths that were asked for in their order, each with a blank after it; KEPT:
 * "(connected)" for each connection. Lives until the next call. */
const char *file_serve_end(const struct file_server *server);

#endif
