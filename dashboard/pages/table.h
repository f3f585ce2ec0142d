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

/* The view of ADDRESS ("/api/v1/runs?limit=5") and what OUT, in KEEP, is asked. Fails: ERR_USAGE
 * there is none; as http_query_parse(). */
enum status view_find(const char *address, struct arena *keep, struct http_query *out,
                      const struct view **view, struct fault *fault);

/* The document that VIEW writes. In IN->keep, with a NUL at its end. Fails: as the view. */
enum status view_make(const struct view *view, const struct view_input *in, char **text,
                      size_t *bytes, struct fault *fault);

#endif
