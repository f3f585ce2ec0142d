/* See clusters.h. */
#include "study/clusters.h"

#include <string.h>

#include "store/store.h"

enum { HISTORIES_MAX = 32 }; /* clusters whose history is read; more are not shown anyway */

static bool is_worse(const struct diff_row *row)
{
    return row->counts && row->b != NULL &&
           (row->group == DIFF_NEW || row->group == DIFF_CHANGED) &&
           run_verdict_fails(row->b->verdict);
}

/* A run that was read from another database has another number there. */
static bool has_run(struct store *store, const struct run_info *run, struct arena *keep)
{
    struct run_info same;
    struct fault ignored = FAULT_INIT;
    return run->uuid != NULL && run->id != 0 &&
           store_read_run(store, run->id, keep, &same, &ignored) == ERR_NONE && same.uuid != NULL &&
           strcmp(same.uuid, run->uuid) == 0;
}

static bool is_example(const struct diff_case *c, const struct failure *group)
{
    return c->repeat == group->example->repeat &&
           strcmp(c->scenario, group->example->scenario) == 0 &&
           strcmp(c->variant, group->example->variant) == 0;
}

/* Completes C's history by what the comparison shows: its example was good in run A. APART: one of
 * the runs is of another database. */
static void add_runs(struct failure *c, const struct run_info *a, const struct run_info *b,
                     bool apart, const struct run_diff *diff)
{
    bool was_good = false;
    for (uint32_t i = 0; i < diff->row_count && !was_good; i++)
        was_good = diff->rows[i].group == DIFF_NEW && diff->rows[i].a != NULL &&
                   diff->rows[i].b != NULL && is_example(diff->rows[i].b, c);
    if (!was_good || c->since.good_run != 0)
        return;
    c->since = (struct case_history){.failing_run = b->id,
                                     .failing_commit = b->commit,
                                     .good_run = a->id,
                                     .good_commit = a->commit,
                                     .good_elsewhere = apart};
}

enum status clusters_make(struct store *store, const struct run_info *a, const struct run_info *b,
                          const struct run_diff *diff, struct arena *keep, struct failures *out,
                          struct fault *fault)
{
    struct failure_count count;
    uint32_t numbers[FAILURES_OF_CASE];
    failures_begin(&count, keep, out);
    for (uint32_t i = 0; i < diff->row_count; i++)
        if (is_worse(&diff->rows[i]) && !failures_add(&count, diff->rows[i].b, numbers))
            return fault_no_memory(fault, "difference of two runs");
    if (failures_end(&count, NULL, fault) != ERR_NONE)
        return fault->code;
    const bool known = out->count > 0 && has_run(store, b, keep);
    const bool apart = out->count > 0 && known != has_run(store, a, keep);
    for (uint32_t i = 0; i < out->count; i++) {
        struct failure *c = &out->rows[i];
        if (known && i < HISTORIES_MAX &&
            store_read_history(store, c->example, b, keep, &c->since, fault) != ERR_NONE)
            return fault->code;
        add_runs(c, a, b, apart, diff);
    }
    return ERR_NONE;
}

void clusters_write_json(struct json *j, const struct failures *clusters)
{
    json_array(j);
    for (uint32_t i = 0; i < clusters->count; i++) {
        const struct failure *c = &clusters->rows[i];
        json_object(j);
        failure_write_members(j, c);
        json_key_string(j, "blame", c->blame_count > 0 ? c->blames[0].text : NULL);
        json_object_end(j);
    }
    json_array_end(j);
}
