/* Paths and queries of requests. */
#include "http/query_string.h"

#include <stdio.h>
#include <string.h>

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

/* Undoes %XX, and '+' in queries.  NULL for a bad escape, a control character, or memory. */
static char *decode(const char *text, size_t size, bool plus, struct arena *keep)
{
    char *out = arena_text(keep, text, size);
    if (out == NULL)
        return NULL;
    size_t length = 0;
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '%') {
            int high = size - i > 2 ? hex_digit(text[i + 1]) : -1;
            int low = high >= 0 ? hex_digit(text[i + 2]) : -1;
            if (low < 0)
                return NULL;
            c = (unsigned char)(high * 16 + low);
            i += 2;
        } else if (plus && c == '+') {
            c = ' ';
        }
        if (c < 0x20 || c == 0x7f)
            return NULL;
        out[length++] = (char)c;
    }
    out[length] = '\0';
    return out;
}

enum status http_query_parse(const char *text, struct arena *keep, struct http_query *out,
                             struct fault *fault)
{
    out->pair_count = 0;
    while (text != NULL && *text != '\0') {
        size_t size = strcspn(text, "&");
        size_t name = strcspn(text, "=&");
        if (size == 0) { /* "a=1&&b=2" */
            text++;
            continue;
        }
        if (out->pair_count == HTTP_QUERY_MAX)
            return fault_set(fault, ERR_LIMIT, FAULT_NO_OFFSET, "parameters of a query");
        struct http_pair *pair = &out->pairs[out->pair_count++];
        pair->name = decode(text, name, true, keep);
        pair->value = name < size ? decode(text + name + 1, size - name - 1, true, keep) : "";
        if (pair->name == NULL || pair->value == NULL)
            return fault_set(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "escape in a query");
        text += size + (text[size] == '&');
    }
    return ERR_NONE;
}

const char *http_query_get(const struct http_query *query, const char *name)
{
    for (uint32_t i = 0; i < query->pair_count; i++)
        if (strcmp(query->pairs[i].name, name) == 0)
            return query->pairs[i].value[0] != '\0' ? query->pairs[i].value : NULL;
    return NULL;
}

bool http_path_match(const char *pattern, const char *path, struct arena *keep,
                     struct http_query *out)
{
    out->param_count = 0;
    while (*pattern == '/' && *path == '/') {
        size_t want = strcspn(++pattern, "/");
        size_t have = strcspn(++path, "/");
        if (pattern[0] == '{') {
            const char *value = have > 0 ? decode(path, have, false, keep) : NULL;
            if (value == NULL || out->param_count == HTTP_PARAMS_MAX)
                return false;
            out->params[out->param_count++] = value;
        } else if (want != have || memcmp(pattern, path, want) != 0) {
            return false;
        }
        pattern += want;
        path += have;
    }
    return *pattern == '\0' && *path == '\0';
}

void http_escape(const char *text, char *out, size_t room)
{
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.!~*'()";
    size_t length = 0;
    for (; *text != '\0' && length + 4 < room; text++) {
        if (strchr(plain, *text) != NULL)
            out[length++] = *text;
        else
            length += (size_t)snprintf(out + length, 4, "%%%02X", (unsigned char)*text);
    }
    out[length] = '\0';
}
