/* Equality of frames; see recognise.h. */
#include <string.h>

#include "base/text.h"
#include "reporter/recognise.h"

static size_t stem_length(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot != NULL && dot != name ? (size_t)(dot - name) : strlen(name);
}

static bool starts_nocase(const char *text, const char *start, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        const char a = text[i], b = start[i];
        const char x = a >= 'A' && a <= 'Z' ? (char)(a + 32) : a;
        const char y = b >= 'A' && b <= 'Z' ? (char)(b + 32) : b;
        if (x != y || a == '\0')
            return false;
    }
    return true;
}

bool module_names_equal(const char *a, const char *b)
{
    if (a == NULL || b == NULL)
        return a == b;
    if (text_equal_nocase(a, b))
        return true;
    const size_t x = strlen(a), y = strlen(b), stem_x = stem_length(a), stem_y = stem_length(b);
    return (stem_x == y && stem_x < x && starts_nocase(a, b, y)) ||
           (stem_y == x && stem_y < y && starts_nocase(b, a, x));
}

bool place_same(const struct recognition *in, const struct place *given, const struct place *truth)
{
    if (given->no_offset)
        return given->function != NULL && in->world->named != NULL &&
               in->world->named(in->world->self, truth, given->function) == NAMED_HERE;
    /* Tools that print the call itself state an address to be looked up where it is. */
    return (given->offset == truth->offset ||
            (given->interrupted && !truth->interrupted && given->offset + 1 == truth->offset)) &&
           module_names_equal(given->module, truth->module);
}

uint32_t places_common(const struct recognition *in)
{
    uint32_t i = 0;
    while (i < in->given.count && i < in->truth.count &&
           place_same(in, &in->given.at[i], &in->truth.at[i]))
        i++;
    return i;
}
