/* What the pages show: one JSON document per view.
 *
 * A view is a row of one table (table.h): a path pattern and a function that writes the document.
 * Here is what a view is given: the parts of a request.  Views only read, and the same database
 * gives the same bytes. */
#ifndef VIEW_VIEW_H
#define VIEW_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/fault.h"
#include "base/json.h"
#include "study/runs.h"

enum { VIEW_PARAMS_MAX = 4, VIEW_QUERY_MAX = 16 };

struct view_pair {
    const char *name, *value;
};

/* A request in parts.  All text is decoded, NUL-terminated and borrowed. */
struct view_query {
    const char *params[VIEW_PARAMS_MAX]; /* the values of {...} in the pattern, in order */
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

/* Matches PATH (as in the request line, without '?') with PATTERN.  A {word} matches one
 * non-empty segment, everything else itself; there are no prefixes and no trailing
 * slashes, so the order of a table does not matter.  Segments are split before they are
 * decoded: "%2f" never makes a new one.  Fills the params of OUT, in KEEP. */
bool view_path_match(const char *pattern, const char *path, struct arena *keep,
                     struct view_query *out);

/* Writes TEXT into OUT, of ROOM bytes, as encodeURIComponent() does in the pages; three times its
 * length and 5 are enough.  Text beyond ROOM is left out. */
void view_escape(const char *text, char *out, size_t room);

struct triage; /* study/triage.h */

struct view_input {
    struct store *store;
    const struct view_query *query;
    const char *known_text;      /* the file of known mismatches; NULL: none is kept */
    const struct triage *triage; /* of the run that all views are asked about; NULL: see
                                    view_get_triage() */
    struct arena *keep;
};

typedef enum status view_function(const struct view_input *in, struct json *out,
                                  struct fault *fault);

#endif
