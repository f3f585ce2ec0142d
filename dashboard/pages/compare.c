/* Two runs compared: what is new, fixed or differs for another reason. */
#include "pages/compare.h"

#include <string.h>

#include "pages/asked.h"

/* Rows that a page shows; the counts are true whatever they are. */
enum { CHANGES_SHOWN = 200 };

enum status view_write_changes(const struct view_input *in, uint64_t a, uint64_t b,
                               struct json *out, struct fault *fault)
{
    const struct difference_rows rows = {.most = CHANGES_SHOWN};
    struct run_side before, now;
    struct run_diff diff;
    if (study_read_side_of(in->store, a, DIFF_VERDICTS, in->keep, &before, fault) == ERR_NONE &&
        study_read_side_of(in->store, b, DIFF_VERDICTS, in->keep, &now, fault) == ERR_NONE &&
        difference_of_verdicts(&before.side, &now.side, in->keep, &diff, fault) == ERR_NONE)
        difference_write_changes(out, &diff, &rows);
    else
        json_null(out);
    return fault->code;
}

/* `group` and `after`: the next cases of a group that has more than a page shows. */
static enum status read_rows(const struct view_input *in, struct difference_rows *out,
                             struct fault *fault)
{
    const char *word = http_query_get(in->query, "group");
    uint64_t after = 0;
    int group = 0;
    *out = (struct difference_rows){.most = CHANGES_SHOWN};
    if (view_get_uint(in, "after", 0, UINT32_MAX, &after, fault) != ERR_NONE)
        return fault->code;
    while (word != NULL && group < DIFF_GROUPS &&
           strcmp(diff_group_name((enum diff_group)group), word) != 0)
        group++;
    if (group == DIFF_GROUPS)
        return fault_set_hint(fault, ERR_USAGE, FAULT_NO_OFFSET,
                              "no group of changes has this name",
                              "new, fixed, changed, accepted, gone, added, still");
    out->group = (enum diff_group)group;
    out->after = word != NULL ? (uint32_t)after : 0;
    return ERR_NONE;
}

/* The run that the request is about has been summed up. */
static const struct dump_ratio *ratio_of(const struct view_input *in, const struct run_info *run,
                                         struct fault *fault)
{
    return in->triage != NULL && in->triage->run.id == run->id
               ? in->triage->figures.ratio
               : ratio_read(in->store, run, in->keep, fault);
}

enum status view_compare(const struct view_input *in, struct json *out, struct fault *fault)
{
    uint64_t ids[2] = {0, 0};
    struct difference_rows rows;
    struct run_side a, b;
    struct difference difference;
    const char *first = http_query_get(in->query, "a");
    enum status status = view_find_run(in, first != NULL ? first : "latest~1", &ids[0], fault);
    if (status == ERR_NONE)
        status = view_find_run(in, http_query_get(in->query, "b"), &ids[1], fault);
    if (status == ERR_NONE)
        status = read_rows(in, &rows, fault);
    if (status == ERR_NONE)
        status = study_read_side_of(in->store, ids[0], DIFF_TIMES, in->keep, &a, fault);
    if (status == ERR_NONE)
        status = study_read_side_of(in->store, ids[1], DIFF_TIMES, in->keep, &b, fault);
    if (status == ERR_NONE)
        status = difference_make(in->store, &a.side, &b.side, 0, in->keep, &difference, fault);
    if (status != ERR_NONE)
        return status;
    difference.ratio_a = ratio_of(in, &a.info, fault);
    difference.ratio_b = ratio_of(in, &b.info, fault);
    if (fault->code == ERR_NONE)
        difference_write_json(out, &difference, &rows);
    return fault->code;
}
