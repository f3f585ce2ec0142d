/* shared_library.h on Windows. */
#include "fetch/shared_library.h"

#include <string.h>
#include <windows.h>

void *library_open(const char *name)
{
    return LoadLibraryA(name);
}

bool library_function(void *library, const char *name, void *to)
{
    const FARPROC found = GetProcAddress(library, name);
    memcpy(to, &found, sizeof found);
    return found != NULL;
}
