/* View: two runs compared. */
#ifndef PAGES_COMPARE_H
#define PAGES_COMPARE_H

#include "pages/view.h"
#include "study/run_difference.h"

/* {"new": [...], ..., "counts": {...}}: the first rows of each group of what differs between runs A
 * and B; null where that fails. */
enum status view_write_changes(const struct view_input *in, uint64_t a, uint64_t b,
                               struct json *out, struct fault *fault);

#endif
