/* See hooks.h. */
#include "study/hooks.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"

/* No hook can see any other case. */
static bool can_have_hook(enum verdict verdict, enum case_kind kind, uint32_t hooks)
{
    return verdict != VERDICT_UNSUPPORTED && verdict != VERDICT_ERROR &&
           !(kind == CASE_KIND_CALM && hooks == 0);
}

void hook_outcomes_reduce(struct hook_outcome *rows, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!can_have_hook(rows[i].verdict, rows[i].kind, rows[i].expected | rows[i].got))
            rows[i].expected = rows[i].got = 0;
}

/* While cases are counted, hook D is column D; columns that no case uses are dropped at the end. */
void hook_count_begin(struct hook_count *count, bool each_scenario, struct arena *keep,
                      struct hook_matrix *out)
{
    memset(out, 0, sizeof *out);
    *count = (struct hook_count){.out = out, .keep = keep, .each_scenario = each_scenario};
    for (int k = 0; k < CASE_HOOK_COUNT; k++)
        out->hooks[k].hook = (enum case_hook)k;
    out->hook_count = CASE_HOOK_COUNT;
}

static const struct run_case *kept_case(struct arena *keep, const struct run_case *c)
{
    struct run_case *copy = ARENA_NEW(keep, struct run_case);
    if (copy == NULL)
        return NULL;
    copy->scenario = arena_string(keep, c->scenario);
    copy->variant = arena_string(keep, c->variant);
    copy->repeat = c->repeat;
    return copy->scenario != NULL && copy->variant != NULL ? copy : NULL;
}

static enum status add_row(struct hook_count *count, struct hook_row row, struct fault *fault)
{
    struct hook_matrix *m = count->out;
    row.first = kept_case(count->keep, row.first);
    if (!ARENA_ROOM(count->keep, m->rows, count->room, (uint64_t)m->row_count + 1) ||
        row.first == NULL)
        return fault_no_memory(fault, "hooks of a run");
    row.last = row.first->scenario;
    m->rows[m->row_count++] = row;
    return ERR_NONE;
}

enum status hook_count_add(struct hook_count *count, const struct run_case *c, struct fault *fault)
{
    struct hook_matrix *m = count->out;
    struct hook_row row = {.first = c, .cases = 1, .scenarios = 1};
    if (!can_have_hook(c->result.verdict, c->kind, c->expected_hooks | c->got_hooks))
        return ERR_NONE;
    if (!slots_reserve(&count->slots, 64))
        return fault_no_memory(fault, "hooks of a run");
    for (uint32_t d = 0; d < m->hook_count; d++) {
        const bool expected = (c->expected_hooks & HOOK_BIT(m->hooks[d].hook)) != 0;
        const bool seen = (c->got_hooks & HOOK_BIT(m->hooks[d].hook)) != 0;
        m->hooks[d].expected += expected;
        m->hooks[d].seen += seen;
        row.marks[d] = seen ? HOOK_EXTRA : HOOK_NONE;
        if (expected)
            row.marks[d] = seen ? HOOK_KEPT : HOOK_MISSED;
        row.differs = row.differs || expected != seen;
    }
    const bool alone = count->each_scenario || row.differs; /* one scenario has the row */
    const uint64_t key = hash_text(HASH_START, alone ? c->scenario : "");
    const uint32_t hash = hash_fold(hash_bytes(key, row.marks, sizeof row.marks));
    uint32_t at = hash;
    struct slot *slot;
    while ((slot = slots_next(&count->slots, hash, &at))->row != 0) {
        struct hook_row *old = &m->rows[slot->row - 1];
        const bool same = strcmp(old->last, c->scenario) == 0;
        if ((alone && !same) || memcmp(old->marks, row.marks, sizeof row.marks) != 0)
            continue;
        old->cases++;
        old->scenarios += !same;
        if (!same)
            old->last = arena_string(count->keep, c->scenario);
        return old->last != NULL ? ERR_NONE : fault_no_memory(fault, "hooks of a run");
    }
    if (add_row(count, row, fault) == ERR_NONE)
        slots_take(&count->slots, slot, hash, m->row_count);
    return fault->code;
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

void hook_count_end(struct hook_count *count)
{
    struct hook_matrix *m = count->out;
    uint32_t kept = 0;
    free(count->slots.at);
    count->slots = (struct slots){0};
    for (uint32_t d = 0; d < m->hook_count; d++) {
        if (m->hooks[d].expected + m->hooks[d].seen == 0)
            continue;
        m->hooks[kept] = m->hooks[d];
        for (uint32_t i = 0; i < m->row_count; i++)
            m->rows[i].marks[kept] = m->rows[i].marks[d];
        kept++;
    }
    for (uint32_t i = 0; i < m->row_count; i++)
        memset(&m->rows[i].marks[kept], HOOK_NONE, CASE_HOOK_COUNT - kept);
    m->hook_count = kept;
    array_sort(m->rows, m->row_count, sizeof *m->rows, compare_rows);
}

enum status hooks_of_scenarios(const struct run_figures *figures, struct arena *keep,
                               struct hook_matrix *out, struct fault *fault)
{
    struct hook_count count;
    struct case_window w;
    hook_count_begin(&count, true, keep, out);
    case_window_open(&w, figures, 0, fault);
    for (uint32_t i = 0; i < w.count && fault->code == ERR_NONE; i++) {
        const struct run_case *c = case_window_get(&w, i, fault);
        if (c != NULL)
            (void)hook_count_add(&count, c, fault);
    }
    case_window_close(&w);
    hook_count_end(&count);
    return fault->code;
}
