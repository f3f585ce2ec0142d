/* Host, Origin and listening addresses. */
#include "http/hosts.h"

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

enum { HOST_BYTES = 256 };

/* The name and the port of a Host line; 80 where it states none.  False: it is malformed. */
static bool read_host(const char *header, char host[HOST_BYTES], uint16_t *port)
{
    *port = 80;
    if (header == NULL || header[0] == '\0')
        return false;
    if (host_split(header, host, HOST_BYTES, port))
        return true;
    if (strlen(header) >= HOST_BYTES || (strchr(header, ':') != NULL && header[0] != '['))
        return false;
    memcpy(host, header, strlen(header) + 1);
    return true;
}

bool host_is_ours(const char *header, uint16_t port, const char *const *names, uint32_t count)
{
    char host[HOST_BYTES];
    uint16_t stated = 0;
    if (!read_host(header, host, &stated))
        return false;
    if (host_is_loopback(host))
        return stated == port;
    for (uint32_t i = 0; i < count; i++)
        if (text_equal_nocase(host, names[i]))
            return true;
    return false;
}

bool origin_is_ours(const char *origin, const char *host_header)
{
    static const char plain[] = "http://", tls[] = "https://";
    char host[HOST_BYTES];
    uint16_t port = 0;
    if (origin == NULL)
        return true;
    if (!read_host(host_header, host, &port))
        return false;
    if (strncmp(origin, plain, sizeof plain - 1) == 0)
        return text_equal_nocase(origin + sizeof plain - 1, host_header);
    /* a proxy may handle TLS for us, but not on loopback */
    return strncmp(origin, tls, sizeof tls - 1) == 0 && !host_is_loopback(host) &&
           text_equal_nocase(origin + sizeof tls - 1, host_header);
}
