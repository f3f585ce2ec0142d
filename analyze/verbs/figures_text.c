/* See figures_text.h. */
#include "verbs/figures_text.h"

#include <stdlib.h>

bool parse_share(const char *text, double *out)
{
    char *end = NULL;
    const double value = strtod(text, &end);
    if (end == text || !(value >= 0))
        return false;
    while (*end == ' ')
        end++;
    const bool percent = *end == '%';
    *out = percent ? value / 100 : value;
    return end[percent] == 0 && (percent || value <= 1); /* "5" was probably meant as "5%" */
}
