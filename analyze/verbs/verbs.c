/* The table of verbs: see verbs.h. */
#include "verbs/verbs.h"
#include "base/array.h"

#include <string.h>

#define VERB_ROW(NAME) &verb_##NAME,
const struct verb *const verbs[] = {VERBS(VERB_ROW)};
const size_t verb_count = COUNT_OF(verbs);

const struct verb *verb_find(const char *name)
{
    for (size_t i = 0; i < verb_count; i++)
        if (strcmp(verbs[i]->name, name) == 0)
            return verbs[i];
    return NULL;
}
