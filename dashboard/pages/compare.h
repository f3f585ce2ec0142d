/* View: two runs compared. */
#ifndef PAGES_COMPARE_H
#define PAGES_COMPARE_H

#include "pages/view.h"
#include "study/run_difference.h"

/* Two runs, and what differs.  The difference borrows the runs. */
struct view_compared {
    struct run_side a, b;
    struct difference difference;
};

enum status view_compare_runs(const struct view_input *in, uint64_t a, uint64_t b,
                              struct view_compared *out, struct fault *fault);

/* {"new": [...], ..., "counts": {...}}: the first rows of each group. */
void view_write_changes(const struct view_compared *compared, struct json *out);

#endif
