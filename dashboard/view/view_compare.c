/* Two runs compared: what is new, fixed or differs for another reason. */
#include "study/difference.h"

#include <inttypes.h>

#include "view/parts.h"

/* Rows that a page shows of each group; the counts are always of all cases. */
enum { CHANGES_SHOWN = 200 };

static enum status compare(const struct view_input *in, uint64_t a, uint64_t b,
                           struct stored_run runs[2], struct difference *out, struct fault *fault)
{
    const uint64_t ids[2] = {a, b};
    for (int i = 0; i < 2; i++) {
        const char *word = arena_printf(in->keep, "%" PRIu64, ids[i]);
        if (word == NULL)
            return fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "runs to compare");
        if (study_read_run(in->store, word, RUN_OUTCOMES, in->keep, &runs[i], fault) != ERR_NONE)
            return fault->code;
    }
    return difference_make(in->store, &runs[0], &runs[1], 0, in->keep, out, fault);
}

enum status view_write_changes(const struct view_input *in, uint64_t a, uint64_t b,
                               struct json *out, struct fault *fault)
{
    struct stored_run runs[2];
    struct difference difference = {.a = NULL};
    (void)compare(in, a, b, runs, &difference, fault);
    difference_write_changes(out, &difference.diff, CHANGES_SHOWN);
    return fault->code;
}

enum status view_compare(const struct view_input *in, struct json *out, struct fault *fault)
{
    uint64_t ids[2] = {0, 0};
    struct stored_run runs[2];
    struct difference difference;
    const char *first = view_query_get(in->query, "a");
    enum status status = view_find_run(in, first != NULL ? first : "latest~1", &ids[0], fault);
    if (status == ERR_NONE)
        status = view_find_run(in, view_query_get(in->query, "b"), &ids[1], fault);
    if (status == ERR_NONE)
        status = compare(in, ids[0], ids[1], runs, &difference, fault);
    if (status == ERR_NONE)
        difference_write_json(out, &difference, CHANGES_SHOWN);
    return status;
}
