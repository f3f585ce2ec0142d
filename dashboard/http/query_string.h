/* Paths and queries of requests. */
#ifndef HTTP_QUERY_STRING_H
#define HTTP_QUERY_STRING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/fault.h"

enum { HTTP_PARAMS_MAX = 4, HTTP_QUERY_MAX = 16 };

struct http_pair {
    const char *name, *value;
};

/* A request in parts.  All text is decoded, NUL-terminated and borrowed. */
struct http_query {
    const char *params[HTTP_PARAMS_MAX]; /* the values of {...} in the pattern, in order */
    uint32_t param_count;
    struct http_pair pairs[HTTP_QUERY_MAX]; /* after '?' */
    uint32_t pair_count;
};

/* Splits "a=1&b=2" and decodes it into KEEP.  Fails: ERR_LIMIT more than HTTP_QUERY_MAX
 * pairs; ERR_MALFORMED a bad escape, a NUL, or text that is not UTF-8. */
enum status http_query_parse(const char *text, struct arena *keep, struct http_query *out,
                             struct fault *fault);

/* The value of NAME; NULL when it is absent or empty. */
const char *http_query_get(const struct http_query *query, const char *name);

/* Matches PATH (as in the request line, without '?') with PATTERN.  A {word} matches one
 * non-empty segment, everything else itself; there are no prefixes and no trailing
 * slashes, so the order of a table does not matter.  Segments are split before they are
 * decoded: "%2f" never makes a new one.  Fills the params of OUT, in KEEP. */
bool http_path_match(const char *pattern, const char *path, struct arena *keep,
                     struct http_query *out);

/* Writes TEXT into OUT, of ROOM bytes, as encodeURIComponent() does in the pages; three times its
 * length and 5 are enough.  Text beyond ROOM is left out. */
void http_escape(const char *text, char *out, size_t room);

#endif
