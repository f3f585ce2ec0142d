/* Shares as people type them. */
#ifndef VERBS_FIGURES_TEXT_H
#define VERBS_FIGURES_TEXT_H

#include <stdbool.h>

/* "5%", "0.05" or "5 %": 0.05.  False for anything else, below 0, or
 * above 1 without its "%". */
bool parse_share(const char *text, double *out);

#endif
