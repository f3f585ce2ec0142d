/* The lines of a request's header, and tags over documents. */
#include "http/exchange.h"

#include <ctype.h>
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

/* True unless REST, the end of an item of a list, has the parameter q=0. */
static bool is_wanted(const char *rest)
{
    const size_t size = strcspn(rest, ",");
    const char *q = strstr(rest, "q=");
    if (q == NULL || q >= rest + size)
        return true;
    return strspn(q + 2, "0.") != strcspn(q + 2, ",; \t");
}

bool accepts(const char *header, const char *word)
{
    const size_t size = strlen(word);
    for (const char *at = header; at != NULL && *at != '\0'; at += strcspn(at, ",")) {
        size_t same = 0;
        at += strspn(at, " \t,");
        while (same < size && tolower((unsigned char)at[same]) == word[same])
            same++;
        if (same == size && strchr(",; \t", at[size]) != NULL && is_wanted(at + size))
            return true;
    }
    return false;
}
