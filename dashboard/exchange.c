/* The lines of a request's header, and tags over documents. */
#include "dashboard/exchange.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/text.h"

const char *exchange_header(const struct exchange *x, const char *name)
{
    return mg_get_header(x->connection, name);
}

bool exchange_header_is_once(const struct exchange *x, const char *name)
{
    int found = 0;
    for (int i = 0; i < x->request->num_headers; i++)
        found += text_equal_nocase(x->request->http_headers[i].name, name);
    return found <= 1;
}

/* Tells versions of one document apart; it is no defence against attackers. */
void etag_of(const void *data, size_t bytes, char out[ETAG_BYTES])
{
    (void)snprintf(out, ETAG_BYTES, "\"%016" PRIx64 "\"", hash_bytes(HASH_START, data, bytes));
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
