/* What the pages show: one JSON document a view, read from the store.
 *
 * A view is a row of one table: a path pattern and a function that writes the document.
 * The server answers it under {"data": ...}, the offline page carries it under its path,
 * and the OpenAPI description is held against the same table, so there is one definition.
 * Views only read, and the same database gives the same bytes. */
#ifndef VIEW_VIEW_H
#define VIEW_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/fault.h"
#include "base/json.h"
#include "store/store.h"

enum { VIEW_PARAMS_MAX = 4, VIEW_QUERY_MAX = 16 };

struct view_pair {
    const char *name, *value;
};

/* A request in parts.  All text is decoded, NUL-terminated and borrowed. */
struct view_query {
    const char *params[VIEW_PARAMS_MAX]; /* what {...} of the pattern stood for, in order */
    uint32_t param_count;
    struct view_pair pairs[VIEW_QUERY_MAX]; /* after '?' */
    uint32_t pair_count;
};

/* Splits "a=1&b=2" and decodes it into KEEP.  Fails: ERR_LIMIT more than VIEW_QUERY_MAX
 * pairs; ERR_MALFORMED a bad escape, a NUL, or text that is not UTF-8. */
enum status view_query_parse(const char *text, struct arena *keep, struct view_query *out,
                             struct fault *fault);

/* The value of NAME; NULL when it is absent or empty. */
const char *view_query_get(const struct view_query *query, const char *name);

/* Holds PATH (as in the request line, without '?') against PATTERN.  A {word} stands for
 * one non-empty segment, everything else for itself; there are no prefixes and no trailing
 * slashes, so the order of a table does not matter.  Segments are split before they are
 * decoded: "%2f" never makes a new one.  Fills the params of OUT, in KEEP. */
bool view_path_match(const char *pattern, const char *path, struct arena *keep,
                     struct view_query *out);

struct view_input {
    struct store *store;
    const struct view_query *query;
    const char *known_text; /* the file of known mismatches; NULL: none is kept */
    struct arena *keep;
};

typedef enum status view_function(const struct view_input *in, struct json *out,
                                  struct fault *fault);

struct view {
    const char *pattern; /* "/api/v1/runs/{run}" */
    const char *summary; /* one line */
    view_function *write;
};

extern const struct view views[];
extern const size_t view_count;

/* What one file without a server holds, at most: of the run its cases as lines, and the first of
 * them with their stacks and their history, failing ones first, until the packed text has so many
 * bytes; of the store its newest runs as a list, and the comparisons with some of them. */
enum {
    OFFLINE_CASES_MAX = 10000,
    OFFLINE_STACKS_MAX = 2000,
    OFFLINE_BYTES_MAX = 32 << 20,
    OFFLINE_RUNS_MAX = 200,
    OFFLINE_COMPARED_MAX = 20, /* the baseline and the run before come on top */
};

/* A document that stands beside the views, such as the list of routes: JSON, or text. */
struct view_extra {
    const char *path, *text;
    size_t bytes;
};

struct view_offline {
    uint64_t run_id;
    const struct view_extra *extras;
    uint32_t extra_count;
};

/* Writes {"offline": what there is, path: document, ...} for web_offline_page(): the run, its
 * cases, the pages that hang on it, and the runs around it, each document packed by view_pack().
 * The same store gives the same bytes.  Fails: ERR_ABSENT no such run; ERR_MEMORY; as the store. */
enum status view_write_offline(struct store *store, const struct view_offline *asked,
                               struct json *out, struct fault *fault);

#endif
