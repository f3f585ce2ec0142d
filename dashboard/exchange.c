/* Reads requests. */
#include "dashboard/exchange.h"

#include <string.h>

const char *exchange_header(const struct exchange *x, const char *name)
{
    return mg_get_header(x->connection, name);
}

bool exchange_read_body(struct exchange *x, size_t max_bytes, char **body, size_t *bytes)
{
    long long stated = x->request->content_length;
    if (stated < 0) {
        (void)answer_error(x, 411, "length_required", "The body's length is not stated",
                           "send Content-Length");
        return false;
    }
    if ((unsigned long long)stated > max_bytes) {
        (void)answer_error(x, 413, "too_large", "The body is larger than this server takes", NULL);
        return false;
    }
    char *text = arena_alloc(&x->keep, (size_t)stated + 1);
    if (text == NULL) {
        (void)answer_error(x, 503, "no_memory", "There is no memory for this body", NULL);
        return false;
    }
    size_t have = 0;
    while (have < (size_t)stated) {
        int got = mg_read(x->connection, text + have, (size_t)stated - have);
        if (got <= 0) {
            (void)answer_error(x, 400, "body_cut", "The body ended before its stated length", NULL);
            return false;
        }
        have += (size_t)got;
    }
    *body = text;
    *bytes = have;
    return true;
}

bool etag_matches(const char *header, const char *etag)
{
    size_t size = strlen(etag);
    while (header != NULL && *header != '\0') {
        header += strspn(header, " \t,");
        if (*header == '*')
            return true;
        if (strncmp(header, "W/", 2) == 0)
            header += 2;
        if (strncmp(header, etag, size) == 0)
            return true;
        header += strcspn(header, ",");
    }
    return false;
}

bool accepts_gzip(const char *header)
{
    for (const char *at = header; at != NULL && (at = strstr(at, "gzip")) != NULL; at += 4) {
        if (at != header && at[-1] != ' ' && at[-1] != ',')
            continue;
        const char *rest = at + 4 + strspn(at + 4, " ");
        if (*rest == '\0' || *rest == ',')
            return true;
        if (strncmp(rest, ";q=0", 4) != 0 || rest[4] == '.')
            return *rest == ';';
    }
    return false;
}
