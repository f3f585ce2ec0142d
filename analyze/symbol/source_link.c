/* See source_link.h. */
#include "symbol/source_link.h"

#include <string.h>

#include "base/arena.h"
#include "base/json.h"

static char plain(char c)
{
    if (c == '\\')
        return '/';
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* The next character of a path; runs of slashes count as one, since some builds escape them twice.
 */
static char next_of(const char **path)
{
    const char c = plain(*(*path)++);
    while (c == '/' && plain(**path) == '/')
        (*path)++;
    return c;
}

/* What FILE has after the part that KEY has before its '*', or its end; NULL: it does not fit. */
static const char *rest_of(const char *key, const char *file)
{
    while (*key != '\0' && *key != '*')
        if (*file == '\0' || next_of(&key) != next_of(&file))
            return NULL;
    const bool is_whole = *key == '\0' ? *file == '\0' : key[1] == '\0';
    return is_whole ? file : NULL;
}

/* With a host, and of no characters that an address cannot have. */
static bool is_web_address(const char *url)
{
    size_t scheme = 0;
    if (strncmp(url, "https://", 8) == 0)
        scheme = 8;
    else if (strncmp(url, "http://", 7) == 0)
        scheme = 7;
    if (scheme == 0 || url[scheme] == '\0' || url[scheme] == '/')
        return false;
    for (const char *at = url; *at != '\0'; at++)
        if ((unsigned char)*at <= ' ' || strchr("\"<>\\^`{|}\x7F", *at) != NULL)
            return false;
    return true;
}

/* The rest of a path as part of an address, in KEEP; NULL: out of memory. */
static char *escape(const char *rest, struct arena *keep)
{
    static const char plain_marks[] = "-_.~/";
    char *out = arena_alloc(keep, 3 * strlen(rest) + 1), *to = out;
    for (; out != NULL && *rest != '\0'; rest++) {
        const char c = *rest == '\\' ? '/' : *rest;
        const bool keeps = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                           (c >= 'A' && c <= 'Z') || strchr(plain_marks, c) != NULL;
        if (keeps) {
            *to++ = c;
        } else {
            *to++ = '%';
            *to++ = "0123456789ABCDEF"[(unsigned char)c >> 4];
            *to++ = "0123456789ABCDEF"[(unsigned char)c & 15];
        }
    }
    if (out != NULL)
        *to = '\0';
    return out;
}

/* URL with what the key's '*' stood for in place of its own. */
static const char *fill(const char *url, const char *rest, struct arena *keep)
{
    const char *star = strchr(url, '*');
    if (star == NULL)
        return arena_string(keep, url);
    const char *end = escape(rest, keep);
    return end == NULL ? NULL
                       : arena_printf(keep, "%.*s%s%s", (int)(star - url), url, end, star + 1);
}

const char *symbol_source_link(const char *json, size_t bytes, const char *file, struct arena *keep)
{
    struct fault damaged = FAULT_INIT;
    cJSON *tree = NULL;
    const cJSON *entry = NULL;
    const char *url = NULL, *rest = NULL;
    size_t longest = 0;

    if (file == NULL || bytes == 0 || json_parse(json, bytes, &tree, &damaged) != ERR_NONE)
        return NULL;
    cJSON_ArrayForEach(entry, cJSON_GetObjectItemCaseSensitive(tree, "documents"))
    {
        const char *found = NULL;
        if (entry->string == NULL || !cJSON_IsString(entry) ||
            !is_web_address(entry->valuestring) || strlen(entry->string) < longest ||
            (found = rest_of(entry->string, file)) == NULL)
            continue;
        longest = strlen(entry->string);
        url = entry->valuestring;
        rest = found;
    }
    if (url != NULL)
        url = fill(url, rest, keep);
    cJSON_Delete(tree);
    return url;
}
