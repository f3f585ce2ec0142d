/* See hooks.h. */
#include "study/hooks.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* NAME is one of LIST, which is comma separated. */
static bool has_hook(const char *list, const char *name)
{
    const size_t length = strlen(name);
    while (list != NULL && *list != '\0') {
        const size_t part = strcspn(list, ",");
        if (part == length && memcmp(list, name, length) == 0)
            return true;
        list += part + (list[part] == ',');
    }
    return false;
}

/* The other kinds of cases have no hook to see, or cannot have one. */
static bool can_have_hook(const struct run_case *c)
{
    const bool calm = c->kind == CASE_KIND_CALM;
    return c->result.verdict != VERDICT_UNSUPPORTED && c->result.verdict != VERDICT_ERROR &&
           !(calm && c->expected_doors == NULL && c->got_doors == NULL);
}

static void add_hook(struct hook_matrix *m, const char *name)
{
    for (uint32_t i = 0; i < m->hook_count; i++)
        if (strcmp(m->hooks[i].name, name) == 0)
            return;
    if (m->hook_count < HOOKS_MAX)
        m->hooks[m->hook_count++].name = name;
}

static void add_hooks(struct hook_matrix *m, const char *list, struct arena *keep)
{
    while (list != NULL && *list != '\0') {
        const size_t part = strcspn(list, ",");
        const char *name = arena_text(keep, list, part);
        if (name != NULL && part > 0)
            add_hook(m, name);
        list += part + (list[part] == ',');
    }
}

static void find_hooks(struct hook_matrix *m, const struct run_figures *figures, struct arena *keep)
{
    for (int k = 0; k < CASE_HOOK_COUNT; k++) { /* in the order in which a crash passes them */
        const char *const name = case_hook_name((enum case_hook)k);
        for (uint32_t i = 0; i < figures->case_count; i++)
            if (can_have_hook(&figures->cases[i]) &&
                (has_hook(figures->cases[i].expected_doors, name) ||
                 has_hook(figures->cases[i].got_doors, name))) {
                add_hook(m, name);
                break;
            }
    }
    for (uint32_t i = 0; i < figures->case_count; i++)
        if (can_have_hook(&figures->cases[i])) {
            add_hooks(m, figures->cases[i].expected_doors, keep);
            add_hooks(m, figures->cases[i].got_doors, keep);
        }
}

static void add_case(struct hook_matrix *m, const struct run_case *c, bool each_scenario)
{
    struct hook_row row = {.first = c, .last = c->scenario, .cases = 1, .scenarios = 1};
    for (uint32_t d = 0; d < m->hook_count; d++) {
        const bool expected = has_hook(c->expected_doors, m->hooks[d].name);
        const bool seen = has_hook(c->got_doors, m->hooks[d].name);
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
    find_hooks(out, figures, keep);
    for (uint32_t i = 0; i < figures->case_count; i++)
        if (can_have_hook(&figures->cases[i]))
            add_case(out, &figures->cases[i], each_scenario);
    array_sort(out->rows, out->row_count, sizeof *out->rows, compare_rows);
    return ERR_NONE;
}
