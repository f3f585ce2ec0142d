/* Host, Origin and listening addresses. */
#include "dashboard/hosts.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

static bool parse_port(const char *text, uint16_t *port)
{
    uint64_t value = 0;
    if (!text_parse_uint(text, strlen(text), &value) || value > UINT16_MAX)
        return false;
    *port = (uint16_t)value;
    return true;
}

bool host_split(const char *text, char *host, unsigned host_bytes, uint16_t *port)
{
    const char *colon = strrchr(text, ':');
    const char *bracket = strrchr(text, ']');
    if (colon == NULL || colon == text || (bracket != NULL && bracket > colon))
        return false;
    size_t size = (size_t)(colon - text);
    if (size >= host_bytes || (text[0] == '[') != (text[size - 1] == ']'))
        return false;
    memcpy(host, text, size);
    host[size] = '\0';
    return parse_port(colon + 1, port);
}

bool host_is_loopback(const char *host)
{
    if (text_equal_nocase(host, "localhost") || strcmp(host, "[::1]") == 0)
        return true;
    unsigned a = 0, b = 0, c = 0, d = 0;
    int used = 0;
    return strlen(host) <= 15 && strspn(host, "0123456789.") == strlen(host) &&
           /* NOLINTNEXTLINE(cert-err34-c) at most three digits each */
           sscanf(host, "%3u.%3u.%3u.%3u%n", &a, &b, &c, &d, &used) == 4 && host[used] == '\0' &&
           a == 127 && b < 256 && c < 256 && d < 256;
}

bool host_is_ours(const char *header, uint16_t port, const char *const *names, uint32_t count)
{
    char host[256];
    uint16_t stated = 80;

    if (header == NULL || header[0] == '\0')
        return false;
    if (!host_split(header, host, sizeof host, &stated)) {
        if (strlen(header) >= sizeof host || (strchr(header, ':') != NULL && header[0] != '['))
            return false;
        memcpy(host, header, strlen(header) + 1);
    }
    if (stated != port)
        return false;
    if (host_is_loopback(host))
        return true;
    for (uint32_t i = 0; i < count; i++)
        if (text_equal_nocase(host, names[i]))
            return true;
    return false;
}

bool origin_is_ours(const char *origin, const char *host_header)
{
    static const char scheme[] = "http://";
    if (origin == NULL)
        return true;
    return host_header != NULL && strncmp(origin, scheme, sizeof scheme - 1) == 0 &&
           text_equal_nocase(origin + sizeof scheme - 1, host_header);
}
