/* The portable parts of files.h. */
#include "base/files.h"

#include <string.h>

static bool is_separator(char c)
{
    return c == '/' || c == '\\';
}

char *path_join(struct arena *keep, const char *folder, const char *name)
{
    const size_t length = strlen(folder);
    const bool joined = length == 0 || is_separator(folder[length - 1]);
    return arena_printf(keep, "%s%s%s", folder, joined ? "" : "/", name);
}

const char *path_base(const char *path)
{
    const char *base = path;
    for (const char *p = path; *p != '\0'; p++)
        if (is_separator(*p))
            base = p + 1;
    return base;
}
