/* The table of views: one row per view.
 *
 * The server answers a view under {"data": ...}, the offline page carries it under its path, and
 * a test compares the OpenAPI description with the same table, so there is one definition. */
#ifndef PAGES_TABLE_H
#define PAGES_TABLE_H

#include "pages/view.h"
#include <stddef.h>

struct view {
    const char *pattern; /* "/api/v1/runs/{run}" */
    const char *summary; /* one line */
    view_function *write;
    const char *query; /* the names that its query may have, as "a, b"; NULL: none */
};

extern const struct view views[];
extern const size_t view_count;

#endif
