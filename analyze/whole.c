/* Linked into the static program only; see whole.h. */
#define _GNU_SOURCE
#include "whole.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <netdb.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/files.h"
#include "base/log.h"

enum { PATH_ROOM = PATH_MAX + 256 };

static bool names_server(const char *text)
{
    return text != NULL && strstr(text, "://") != NULL;
}

static bool is_serving(int argc, char **argv)
{
    for (int i = 2; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0)
            return false;
    return argc > 1 && strcmp(argv[1], "serve") == 0;
}

static bool needs_whole(int argc, char **argv)
{
    static const char *const variables[] = {"TWINSTACK_SYMBOLS", "_NT_SYMBOL_PATH"};
    for (size_t i = 0; i < COUNT_OF(variables); i++)
        if (names_server(getenv(variables[i])))
            return true;
    for (int i = 1; i < argc; i++)
        if (names_server(argv[i]))
            return true;
    return is_serving(argc, argv);
}

/* The path of the whole program, as seen from the file that is running. NAME: what that was called.
 */
static void find_whole(const char *name, char out[PATH_ROOM])
{
    char self[PATH_MAX];
    const ssize_t bytes = readlink("/proc/self/exe", self, sizeof self - 1);
    if (bytes > 0)
        self[bytes] = '\0';
    else /* /proc is not mounted */
        (void)snprintf(self, sizeof self, "%s", name);
    (void)snprintf(out, PATH_ROOM, "%.*s%s", (int)(path_base(self) - self), self, TWINSTACK_WHOLE);
}

bool whole_become(int argc, char **argv)
{
    char path[PATH_ROOM];
    if (!needs_whole(argc, argv))
        return true;
    find_whole(argv[0], path);
    (void)execv(path, argv);
    if (!is_serving(argc, argv))
        return true;
    log_error("serve: %s cannot be started (%s): install it with this program", path,
              strerror(errno));
    return false;
}

/* What libraries call here. libc's own functions would need libraries, and the linker warns of
 * them; nothing calls these before the whole program has taken over. */

void *no_dlopen(const char *name, int mode); /* in place of dlopen(): see two_programs.cmake */

void *no_dlopen(const char *name, int mode)
{
    (void)name;
    (void)mode;
    return NULL;
}

void *dlsym(void *library, const char *name)
{
    (void)library;
    (void)name;
    return NULL;
}

char *dlerror(void)
{
    static char why[] = "this program loads no libraries";
    return why;
}

int dlclose(void *library)
{
    (void)library;
    return -1;
}

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints,
                struct addrinfo **out)
{
    (void)name;
    (void)service;
    (void)hints;
    (void)out;
    return EAI_FAIL;
}

void freeaddrinfo(struct addrinfo *list)
{
    (void)list;
}

int getnameinfo(const struct sockaddr *address, socklen_t bytes, char *host, socklen_t host_bytes,
                char *service, socklen_t service_bytes, int flags)
{
    (void)address;
    (void)bytes;
    (void)host;
    (void)host_bytes;
    (void)service;
    (void)service_bytes;
    (void)flags;
    return EAI_FAIL;
}

struct passwd *getpwnam(const char *name)
{
    (void)name;
    return NULL;
}
