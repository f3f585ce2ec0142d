/* Shares as people type them. */
#ifndef VERBS_FIGURES_TEXT_H
#define VERBS_FIGURES_TEXT_H

#include <stdbool.h>

/* "5%", "0.05" or "5 %": 0.05.  False for anything else or below 0. */
bool parse_share(const char *text, double *out);

#endif
