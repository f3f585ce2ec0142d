/* A server of files for tests of what is asked of symbol servers. */
#ifndef TESTS_UNIT_FILE_SERVER_H
#define TESTS_UNIT_FILE_SERVER_H

#include <stddef.h>
#include <sys/types.h>

struct file_route {
    const char *path, *body; /* BODY NULL: 500 */
};

/* Starts a server in a process of its own, which answers ROUTES (the last has no path) and 404 for
 * everything else, and notes each path that is asked for in the file LOG. Returns that process, and
 * its port in *PORT; ends the test when it cannot. */
pid_t file_serve(const struct file_route *routes, const char *log, unsigned *port);

/* The same, but a connection stays open for more requests, one connection at a time; LOG has
 * "(connected)" for each. */
pid_t file_serve_kept(const struct file_route *routes, const char *log, unsigned *port);

/* The same as file_serve(), but each body lacks its last LOST bytes, and has a validator. */
pid_t file_serve_cut(const struct file_route *routes, const char *log, size_t lost, unsigned *port);

/* What LOG has: the paths in their order, each with a blank after it. Lives until the next call. */
const char *file_requests(const char *log);

#endif
