/* See hooks.h. */
#include "study/hooks.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* No hook can see any other case. */
static bool can_have_hook(const struct run_case *c)
{
    const bool calm = c->kind == CASE_KIND_CALM;
    return c->result.verdict != VERDICT_UNSUPPORTED && c->result.verdict != VERDICT_ERROR &&
           !(calm && c->expected_hooks == 0 && c->got_hooks == 0);
}

static void find_hooks(struct hook_matrix *m, const struct run_figures *figures)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < figures->case_count; i++)
        if (can_have_hook(&figures->cases[i]))
            found |= figures->cases[i].expected_hooks | figures->cases[i].got_hooks;
    for (int k = 0; k < CASE_HOOK_COUNT; k++)
        if ((found & HOOK_BIT(k)) != 0)
            m->hooks[m->hook_count++].hook = (enum case_hook)k;
}

static void add_case(struct hook_matrix *m, const struct run_case *c, bool each_scenario)
{
    struct hook_row row = {.first = c, .last = c->scenario, .cases = 1, .scenarios = 1};
    for (uint32_t d = 0; d < m->hook_count; d++) {
        const bool expected = (c->expected_hooks & HOOK_BIT(m->hooks[d].hook)) != 0;
        const bool seen = (c->got_hooks & HOOK_BIT(m->hooks[d].hook)) != 0;
        m->hooks[d].expected += expected;
        m->hooks[d].seen += seen;
        row.marks[d] = expected ? (seen ? HOOK_KEPT : HOOK_MISSED) : seen ? HOOK_EXTRA : HOOK_NONE;
        row.differs = row.differs || expected != seen;
    }
    for (uint32_t i = m->row_count; i-- > 0;) { /* cases of one scenario are neighbours */
        struct hook_row *old = &m->rows[i];
        const bool same_scenario = strcmp(old->last, c->scenario) == 0;
        if (memcmp(old->marks, row.marks, sizeof row.marks) != 0 ||
            ((each_scenario || row.differs) && !same_scenario))
            continue;
        old->cases++;
        old->scenarios += !same_scenario;
        old->last = c->scenario;
        return;
    }
    m->rows[m->row_count++] = row;
}

/* Rows that differ first, then by hooks; those that no hook saw last. */
static int compare_rows(const void *a, const void *b)
{
    const struct hook_row *x = a, *y = b;
    const int by_marks = memcmp(y->marks, x->marks, sizeof x->marks);
    if (x->differs != y->differs)
        return x->differs ? -1 : 1;
    return by_marks != 0 ? by_marks : strcmp(x->first->scenario, y->first->scenario);
}

enum status hooks_make(const struct run_figures *figures, bool each_scenario, struct arena *keep,
                       struct hook_matrix *out, struct fault *fault)
{
    memset(out, 0, sizeof *out);
    out->rows = ARENA_ARRAY(keep, (size_t)figures->case_count + 1, struct hook_row);
    if (out->rows == NULL)
        return fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "hooks of a run");
    find_hooks(out, figures);
    for (uint32_t i = 0; i < figures->case_count; i++)
        if (can_have_hook(&figures->cases[i]))
            add_case(out, &figures->cases[i], each_scenario);
    array_sort(out->rows, out->row_count, sizeof *out->rows, compare_rows);
    return ERR_NONE;
}
