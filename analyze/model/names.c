/* See names.h. */
#include "model/names.h"

#include <stddef.h>
#include <string.h>

int name_index(const char *const *names, int count, const char *text)
{
    for (int i = 0; text != NULL && i < count; i++)
        if (names[i] != NULL && strcmp(names[i], text) == 0)
            return i;
    return -1;
}
