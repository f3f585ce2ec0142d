/* The difference of two runs, on a terminal and as Markdown. */
#ifndef VERBS_COMPARE_TEXT_H
#define VERBS_COMPARE_TEXT_H

#include "report/sheet.h"
#include "study/run_difference.h"

/* What --only asks for. */
struct compare_only {
    bool given;                 /* false: everything but what is the same      */
    bool groups[DIFF_GROUPS];   /* by enum diff_group                          */
    bool changes[CHANGE_COUNT]; /* by enum change                              */
};

/* One document for both. Totals are always of everything; Markdown is short enough for a comment on
 * a change, and what is left out is counted. */
void compare_write(struct sheet *s, const struct difference *difference,
                   const struct compare_only *only);

#endif
