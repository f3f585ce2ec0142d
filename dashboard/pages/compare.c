/* Two runs compared: what is new, fixed or differs for another reason. */
#include "pages/compare.h"

#include "pages/input.h"

/* Rows that a page shows; the counts are true whatever they are. */
enum { CHANGES_SHOWN = 200 };

enum status view_compare_runs(const struct view_input *in, uint64_t a, uint64_t b,
                              struct view_compared *out, struct fault *fault)
{
    enum status status = study_read_side_of(in->store, a, DIFF_TIMES, in->keep, &out->a, fault);
    if (status == ERR_NONE)
        status = study_read_side_of(in->store, b, DIFF_TIMES, in->keep, &out->b, fault);
    return status == ERR_NONE ? difference_make(in->store, &out->a.side, &out->b.side, 0, in->keep,
                                                &out->difference, fault)
                              : status;
}

void view_write_changes(const struct view_compared *compared, struct json *out)
{
    difference_write_changes(out, &compared->difference.diff, CHANGES_SHOWN);
}

enum status view_compare(const struct view_input *in, struct json *out, struct fault *fault)
{
    uint64_t ids[2] = {0, 0};
    struct view_compared c;
    const char *first = http_query_get(in->query, "a");
    enum status status = view_find_run(in, first != NULL ? first : "latest~1", &ids[0], fault);
    if (status == ERR_NONE)
        status = view_find_run(in, http_query_get(in->query, "b"), &ids[1], fault);
    if (status == ERR_NONE)
        status = view_compare_runs(in, ids[0], ids[1], &c, fault);
    if (status == ERR_NONE)
        difference_write_json(out, &c.difference, CHANGES_SHOWN);
    return status;
}
