/* The difference of two runs, told: on a terminal, as Markdown, as JSON. */
#ifndef VERBS_COMPARE_TELL_H
#define VERBS_COMPARE_TELL_H

#include "base/json.h"
#include "compare/run_diff.h"

/* ONLY: the words of --only, comma separated; NULL: all but what is the same.  Totals are always of
 * everything. */
void compare_print(const struct run_info *a, const struct run_info *b, const struct run_diff *diff,
                   const char *only);

/* At most so long as fits into a comment on a change; what is left out is counted. */
void compare_print_markdown(const struct run_info *a, const struct run_info *b,
                            const struct run_diff *diff, const char *only, struct arena *keep);

/* Never filtered. */
void compare_write_json(const struct run_info *a, const struct run_info *b,
                        const struct run_diff *diff, struct json *j);

#endif
