/* What names and types of MSVC's decoration both read: single characters, numbers; and joining the
 * answer.  See undecorate_msvc.h. */
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "symbol/undecorate_msvc.h"

const char *msvc_fail(struct msvc *d)
{
    d->failed = true;
    return "";
}

const char *msvc_join(struct msvc *d, const char *first, ...)
{
    va_list list;
    size_t bytes = 0;

    va_start(list, first);
    for (const char *part = first; part != NULL; part = va_arg(list, const char *))
        bytes += strlen(part);
    va_end(list);
    char *text = arena_alloc(d->arena, bytes + 1);
    if (text == NULL)
        return msvc_fail(d);
    char *at = text;
    va_start(list, first);
    for (const char *part = first; part != NULL; part = va_arg(list, const char *)) {
        const size_t part_bytes = strlen(part);
        memcpy(at, part, part_bytes);
        at += part_bytes;
    }
    va_end(list);
    *at = '\0';
    return text;
}

bool msvc_take(struct msvc *d, char c)
{
    if (d->failed || *d->at != c)
        return false;
    d->at++;
    return true;
}

bool msvc_take_text(struct msvc *d, const char *text)
{
    const size_t bytes = strlen(text);
    if (d->failed || strncmp(d->at, text, bytes) != 0)
        return false;
    d->at += bytes;
    return true;
}

int64_t msvc_number(struct msvc *d)
{
    const bool negative = msvc_take(d, '?');
    uint64_t value = 0;

    if (*d->at >= '0' && *d->at <= '9') {
        value = (uint64_t)(*d->at++ - '0') + 1;
    } else {
        while (*d->at >= 'A' && *d->at <= 'P' && value >> 58 == 0)
            value = value * 16 + (uint64_t)(*d->at++ - 'A');
        if (!msvc_take(d, '@'))
            (void)msvc_fail(d);
    }
    return negative ? -(int64_t)value : (int64_t)value;
}
