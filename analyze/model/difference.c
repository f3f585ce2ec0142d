/* The names of difference.h. */
#include "model/difference.h"

const char *diff_group_name(enum diff_group group)
{
    static const char *const names[DIFF_GROUPS] = {
        "new", "fixed", "changed", "still", "same", "added", "gone", "accepted", "not_selected"};
    return names[group];
}

const char *change_name(enum change change)
{
    static const char *const names[CHANGE_COUNT] = {"too_few", "same", "slower", "faster"};
    return names[change];
}
