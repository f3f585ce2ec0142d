/* Names and series: see difference.h. */
#include "model/difference.h"

#include <string.h>

const char *diff_group_name(enum diff_group group)
{
    static const char *const names[DIFF_GROUPS] = {
        "new", "fixed", "changed", "still", "same", "added", "gone", "accepted", "not_selected"};
    return names[group];
}

const char *change_words(enum change change)
{
    if (change == CHANGE_TOO_FEW)
        return "too few samples";
    return change == CHANGE_TOO_NOISY ? "too noisy to judge" : change_name(change);
}

const char *change_name(enum change change)
{
    static const char *const names[CHANGE_COUNT] = {"too_few", "same", "slower", "faster",
                                                    "too_noisy"};
    return names[change];
}

struct diff_series *diff_side_series(struct diff_side *side, const char *engine, bool subject,
                                     struct arena *keep, struct fault *fault)
{
    for (uint32_t i = 0; i < side->series_count; i++)
        if (side->series[i].engine == engine || strcmp(side->series[i].engine, engine) == 0)
            return &side->series[i];
    if (side->series_count == CLAIMS_MAX) {
        (void)fault_set(fault, ERR_LIMIT, FAULT_NO_OFFSET, "engines in one run");
        return NULL;
    }
    struct diff_series *out = &side->series[side->series_count];
    out->total_ns = ARENA_ARRAY(keep, (size_t)side->count + 1, uint64_t);
    if (out->total_ns == NULL) {
        (void)fault_no_memory(fault, "times of a run");
        return NULL;
    }
    out->engine = engine;
    out->subject = subject;
    side->series_count++;
    return out;
}
