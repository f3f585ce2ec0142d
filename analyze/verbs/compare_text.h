/* The difference of two runs, on a terminal and as Markdown. */
#ifndef VERBS_COMPARE_TEXT_H
#define VERBS_COMPARE_TEXT_H

#include "base/arena.h"
#include "study/difference.h"

/* ONLY: the words of --only, comma separated; NULL: all but what is the same.  Totals are always of
 * everything. */
void compare_print(const struct run_info *a, const struct run_info *b, const struct run_diff *diff,
                   const char *only);

/* Short enough for a comment on a change; what is left out is counted. */
void compare_print_markdown(const struct difference *difference, const char *only,
                            struct arena *keep);

#endif
