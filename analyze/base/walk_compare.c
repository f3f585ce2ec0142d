/* See walk_compare.h. */
#include "base/walk_compare.h"

#include <stddef.h>

enum walk_outcome walk_compare(const struct walk_pair *pair, uint32_t *first)
{
    uint32_t same = 0, less = UINT32_MAX;
    enum walk_match found = WALK_SAME;
    while (same < pair->truth_count && same < pair->claim_count && found != WALK_OTHER) {
        found = pair->match(pair->self, same);
        if (found == WALK_LESS && less == UINT32_MAX)
            less = same;
        same += found != WALK_OTHER;
    }
    if (first != NULL)
        *first = same;
    if (same == pair->truth_count && less == UINT32_MAX &&
        (pair->open || same == pair->claim_count))
        return WALK_RIGHT;
    if (same != pair->claim_count)
        return WALK_WRONG;
    if (first != NULL && less < same)
        *first = less;
    return WALK_EARLY;
}
