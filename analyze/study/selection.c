/* See selection.h. */
#include "study/selection.h"

#include "base/text.h"
#include "model/scenario.h"

bool selection_has_variant(const char *list, const char *word)
{
    return list == NULL || text_list_has(list, word);
}

enum status selection_matches(const char *expr, const struct diff_case *c, bool *selected,
                              struct fault *fault)
{
    const struct scenario scenario = {.name = c->scenario, .variant = c->variant, .kind = c->kind};
    *selected = false;
    return scenario_select(expr, &scenario, selected, fault);
}

/* True when a run of this selection takes a case like C; of a shard that is unknown: false. */
static bool selection_takes(const struct run_selection *s, const struct diff_case *c)
{
    struct fault ignored = FAULT_INIT;
    bool selected = true;
    if (s->shard_count > 0 || !selection_has_variant(s->variants, c->variant))
        return false;
    return s->expr == NULL ||
           (selection_matches(s->expr, c, &selected, &ignored) == ERR_NONE && selected);
}

void selection_apply(const struct run_info *a, const struct run_info *b, struct run_diff *diff)
{
    if (run_selection_same(&a->selection, &b->selection))
        return;
    for (uint32_t i = 0; i < diff->row_count; i++) {
        struct diff_row *row = &diff->rows[i];
        if (row->group != DIFF_GONE || selection_takes(&b->selection, row->a))
            continue;
        row->group = DIFF_NOT_SELECTED;
        diff->counts[DIFF_GONE] -= row->counts;
        diff->counts[DIFF_NOT_SELECTED] += row->counts;
    }
}
