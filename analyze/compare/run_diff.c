/* Two runs compared: see run_diff.h. */
#include "compare/run_diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "compare/statistics.h"

static bool same_text(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* ---- the environment ------------------------------------------------------------------ */

static void add_fact(struct run_diff *out, const char *name, const char *a, const char *b)
{
    if (!same_text(a, b))
        out->facts[out->fact_count++] = (struct diff_fact){name, a, b};
}

static const char *version_of(const struct named_version *rows, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++)
        if (same_text(rows[i].name, name))
            return rows[i].version;
    return NULL;
}

static void add_versions(struct run_diff *out, const struct named_version *a, uint32_t a_count,
                         const struct named_version *b, uint32_t b_count)
{
    for (uint32_t i = 0; i < a_count; i++)
        add_fact(out, a[i].name, a[i].version, version_of(b, b_count, a[i].name));
    for (uint32_t i = 0; i < b_count; i++) {
        bool known = false;
        for (uint32_t k = 0; k < a_count && !known; k++)
            known = same_text(a[k].name, b[i].name);
        if (!known)
            add_fact(out, b[i].name, NULL, b[i].version);
    }
}

static bool diff_facts(const struct run_info *a, const struct run_info *b, struct arena *keep,
                       struct run_diff *out)
{
    const size_t room =
        (size_t)a->tool_count + b->tool_count + a->environment_count + b->environment_count + 5;
    out->facts = ARENA_ARRAY(keep, room, struct diff_fact);
    if (out->facts == NULL)
        return false;
    add_fact(out, "compiler", a->compiler, b->compiler);
    add_fact(out, "flags", a->flags, b->flags);
    add_fact(out, "platform", a->platform, b->platform);
    add_fact(out, "cpu", a->cpu, b->cpu);
    add_versions(out, a->tools, a->tool_count, b->tools, b->tool_count);
    add_versions(out, a->environment, a->environment_count, b->environment, b->environment_count);
    return true;
}

/* ---- cases ---------------------------------------------------------------------------- */

static int by_name(const void *x, const void *y)
{
    const struct run_case *a = *(const struct run_case *const *)x;
    const struct run_case *b = *(const struct run_case *const *)y;
    int order = strcmp(a->scenario, b->scenario);
    if (order == 0)
        order = strcmp(a->variant, b->variant);
    return order != 0 ? order : (a->repeat > b->repeat) - (a->repeat < b->repeat);
}

static enum diff_group group_of(const struct run_case *a, const struct run_case *b)
{
    if (b == NULL)
        return DIFF_GONE;
    if (a == NULL)
        return run_verdict_fails(b->result.verdict) ? DIFF_NEW : DIFF_ADDED;
    const bool was = run_verdict_fails(a->result.verdict),
               is = run_verdict_fails(b->result.verdict);
    if (was != is)
        return is ? DIFF_NEW : b->result.verdict == VERDICT_XFAIL ? DIFF_ACCEPTED : DIFF_FIXED;
    const bool same = a->result.verdict == b->result.verdict &&
                      same_text(a->result.signature, b->result.signature);
    return !same ? DIFF_CHANGED : is ? DIFF_STILL : DIFF_SAME;
}

static const struct run_case **sorted(const struct run_case *cases, uint32_t count,
                                      struct arena *keep)
{
    const struct run_case **out = ARENA_ARRAY(keep, (size_t)count + 1, const struct run_case *);
    for (uint32_t i = 0; out != NULL && i < count; i++)
        out[i] = &cases[i];
    if (out != NULL)
        array_sort(out, count, sizeof *out, by_name);
    return out;
}

static bool same_case(const struct run_case *x, const struct run_case *y)
{
    return strcmp(x->scenario, y->scenario) == 0 && strcmp(x->variant, y->variant) == 0;
}

/* A case that one run repeated more often than the other counts as neither added nor gone. */
static bool is_other_repeat(const struct run_case *c, const struct run_case *const *others,
                            uint32_t count, uint32_t near)
{
    return (near < count && same_case(c, others[near])) ||
           (near > 0 && same_case(c, others[near - 1]));
}

static const struct run_case *case_of(const struct diff_row *row)
{
    return row->b != NULL ? row->b : row->a;
}

/* Repeats of one case are adjacent: each group counts the case once. */
static void count_rows(struct run_diff *out)
{
    bool met[DIFF_GROUPS] = {false};
    for (uint32_t i = 0; i < out->row_count; i++) {
        struct diff_row *row = &out->rows[i];
        if (i > 0 && !same_case(case_of(row), case_of(row - 1)))
            memset(met, 0, sizeof met);
        row->counts = !met[row->group];
        met[row->group] = true;
        out->counts[row->group] += row->counts;
    }
}

static bool diff_cases(const struct run_case *a, uint32_t a_count, const struct run_case *b,
                       uint32_t b_count, struct arena *keep, struct run_diff *out)
{
    const struct run_case **left = sorted(a, a_count, keep), **right = sorted(b, b_count, keep);
    out->rows = ARENA_ARRAY(keep, (size_t)a_count + b_count + 1, struct diff_row);
    if (left == NULL || right == NULL || out->rows == NULL)
        return false;
    for (uint32_t i = 0, k = 0; i < a_count || k < b_count;) {
        const int order = i == a_count ? 1 : k == b_count ? -1 : by_name(&left[i], &right[k]);
        struct diff_row row = {.a = order <= 0 ? left[i] : NULL, .b = order >= 0 ? right[k] : NULL};
        row.group = group_of(row.a, row.b);
        const bool other_repeat = order < 0   ? is_other_repeat(left[i], right, b_count, k)
                                  : order > 0 ? is_other_repeat(right[k], left, a_count, i)
                                              : false;
        i += order <= 0;
        k += order >= 0;
        if (!other_repeat || row.group == DIFF_NEW)
            out->rows[out->row_count++] = row;
    }
    count_rows(out);
    return true;
}

/* ---- times ---------------------------------------------------------------------------- */

static double total_ns(const struct run_case *c, const char *engine, bool *subject)
{
    for (uint32_t i = 0; i < c->claim_count && i < c->result.score_count; i++)
        if (same_text(c->claims[i].engine, engine)) {
            *subject = c->claims[i].subject;
            return c->result.scores[i].state == STACK_OK ? (double)c->claims[i].cost.total_ns : 0;
        }
    return 0;
}

static double fence_of(const struct diff_limits *limits, const char *engine)
{
    for (uint32_t i = 0; i < limits->fence_count; i++)
        if (same_text(limits->fences[i].engine, engine))
            return limits->fences[i].share;
    return 0;
}

static void diff_engine(const struct run_diff *rows, const char *engine,
                        const struct diff_limits *limits, double *before, double *now,
                        double *scratch, struct diff_time *out)
{
    size_t count = 0;
    for (uint32_t i = 0; i < rows->row_count; i++) {
        const struct diff_row *row = &rows->rows[i];
        if (row->a == NULL || row->b == NULL)
            continue;
        const double x = total_ns(row->a, engine, &out->subject);
        const double y = total_ns(row->b, engine, &out->subject);
        if (x <= 0 || y <= 0)
            continue;
        before[count] = x;
        now[count++] = y;
    }
    out->engine = engine;
    out->cases = (uint32_t)count;
    out->change = statistics_change_paired(before, now, count, limits->noise,
                                           fence_of(limits, engine), scratch);
    for (size_t i = 0; i < count; i++)
        scratch[i] = now[i] / before[i];
    out->ratio = statistics_geometric_mean(scratch, count);
    out->before_ns = statistics_median(before, count);
    out->now_ns = statistics_median(now, count);
}

static bool diff_times(const struct run_case *cases, uint32_t count,
                       const struct diff_limits *limits, struct arena *keep, struct run_diff *out)
{
    const size_t room = (size_t)out->row_count + 1;
    double *before = ARENA_ARRAY(keep, room, double), *now = ARENA_ARRAY(keep, room, double);
    double *scratch = ARENA_ARRAY(keep, room, double);
    out->times = ARENA_ARRAY(keep, CLAIMS_MAX, struct diff_time);
    if (before == NULL || now == NULL || scratch == NULL || out->times == NULL)
        return false;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < cases[i].claim_count && out->time_count < CLAIMS_MAX; k++) {
            const char *engine = cases[i].claims[k].engine;
            bool known = false;
            for (uint32_t t = 0; t < out->time_count && !known; t++)
                known = same_text(out->times[t].engine, engine);
            if (known)
                continue;
            struct diff_time *time = &out->times[out->time_count++];
            diff_engine(out, engine, limits, before, now, scratch, time);
        }
    return true;
}

enum status run_diff_make(const struct run_info *a, const struct run_case *a_cases,
                          uint32_t a_count, const struct run_info *b,
                          const struct run_case *b_cases, uint32_t b_count,
                          const struct diff_limits *limits, struct arena *keep,
                          struct run_diff *out, struct fault *fault)
{
    static const struct diff_limits none = {.fence_count = 0};
    memset(out, 0, sizeof *out);
    if (!diff_facts(a, b, keep, out) ||
        !diff_cases(a_cases, a_count, b_cases, b_count, keep, out) ||
        !diff_times(b_cases, b_count, limits != NULL ? limits : &none, keep, out))
        return fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "comparing two runs");
    return ERR_NONE;
}
