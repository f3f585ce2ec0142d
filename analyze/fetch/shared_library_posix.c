/* shared_library.h on POSIX systems. */
#define _XOPEN_SOURCE 700
#include "fetch/shared_library.h"

#include <dlfcn.h>
#include <string.h>

void *library_open(const char *name)
{
    return dlopen(name, RTLD_NOW | RTLD_LOCAL);
}

bool library_function(void *library, const char *name, void *to)
{
    void *found = dlsym(library, name);
    memcpy(to, (void *)&found, sizeof found); /* POSIX: both kinds of pointer are alike */
    return found != NULL;
}
