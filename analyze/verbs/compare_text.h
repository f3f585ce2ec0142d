/* The difference of two runs, on a terminal and as Markdown. */
#ifndef VERBS_COMPARE_TEXT_H
#define VERBS_COMPARE_TEXT_H

#include "base/arena.h"
#include "study/difference.h"

/* What --only asks for. */
struct compare_only {
    bool given;                 /* false: everything but what is the same      */
    bool groups[DIFF_GROUPS];   /* by enum diff_group                          */
    bool changes[CHANGE_COUNT]; /* by enum change                              */
};

/* Totals are always of everything. */
void compare_print(const struct run_info *a, const struct run_info *b, const struct run_diff *diff,
                   const struct compare_only *only);

/* Short enough for a comment on a change; what is left out is counted. */
void compare_print_markdown(const struct difference *difference, const struct compare_only *only,
                            struct arena *keep);

#endif
