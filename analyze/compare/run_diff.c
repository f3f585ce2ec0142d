/* Two runs compared: see run_diff.h. */
#include "compare/run_diff.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/quantile.h"
#include "base/text.h"
#include "compare/statistics.h"

/* ---- the environment ------------------------------------------------------------------ */

static void add_fact(struct run_diff *out, const char *name, const char *a, const char *b)
{
    if (!text_equal(a, b))
        out->facts[out->fact_count++] = (struct diff_fact){name, a, b};
}

/* Whether a writer of dumps, one of those that "A and B" names, is among OTHERS: with the same
 * version, if OTHERS has its processor ("dbgcore.amd64,10.0.1").  A run without cases of that
 * processor says nothing about it. */
static bool is_among(const char *writer, size_t bytes, const char *others)
{
    const size_t processor = strcspn(writer, ",");
    for (const char *at = others, *next; at != NULL; at = next) {
        next = strstr(at, ENGINE_VERSIONS_AND);
        const size_t size = next != NULL ? (size_t)(next - at) : strlen(at);
        if (size == bytes && memcmp(at, writer, bytes) == 0)
            return true;
        if (processor < bytes && strncmp(at, writer, processor + 1) == 0)
            return false;
        next = next != NULL ? next + strlen(ENGINE_VERSIONS_AND) : NULL;
    }
    return processor < bytes;
}

static bool are_among(const char *writers, const char *others)
{
    bool good = true;
    for (const char *at = writers, *next; good && at != NULL; at = next) {
        next = strstr(at, ENGINE_VERSIONS_AND);
        good = is_among(at, next != NULL ? (size_t)(next - at) : strlen(at), others);
        next = next != NULL ? next + strlen(ENGINE_VERSIONS_AND) : NULL;
    }
    return good;
}

static void add_version(struct run_diff *out, const char *name, const char *a, const char *b)
{
    if (!text_equal(name, DIFF_FACT_WRITER) || a == NULL || b == NULL || !are_among(a, b) ||
        !are_among(b, a))
        add_fact(out, name, a, b);
}

static const char *version_of(const struct named_version *rows, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++)
        if (text_equal(rows[i].name, name))
            return rows[i].version;
    return NULL;
}

static void add_versions(struct run_diff *out, const struct named_version *a, uint32_t a_count,
                         const struct named_version *b, uint32_t b_count)
{
    for (uint32_t i = 0; i < a_count; i++)
        add_version(out, a[i].name, a[i].version, version_of(b, b_count, a[i].name));
    for (uint32_t i = 0; i < b_count; i++) {
        bool known = false;
        for (uint32_t k = 0; k < a_count && !known; k++)
            known = text_equal(a[k].name, b[i].name);
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
    const struct diff_case *a = *(const struct diff_case *const *)x;
    const struct diff_case *b = *(const struct diff_case *const *)y;
    int order = strcmp(a->scenario, b->scenario);
    if (order == 0)
        order = strcmp(a->variant, b->variant);
    return order != 0 ? order : (a->repeat > b->repeat) - (a->repeat < b->repeat);
}

static enum diff_group group_of(const struct diff_case *a, const struct diff_case *b)
{
    if (b == NULL)
        return DIFF_GONE;
    if (a == NULL)
        return run_verdict_fails(b->verdict) ? DIFF_NEW : DIFF_ADDED;
    const bool was = run_verdict_fails(a->verdict), is = run_verdict_fails(b->verdict);
    if (!was && is)
        return DIFF_NEW;
    if (was && !is)
        return b->verdict == VERDICT_XFAIL ? DIFF_ACCEPTED : DIFF_FIXED;
    const bool same = a->verdict == b->verdict && text_equal(a->signature, b->signature);
    if (!same)
        return DIFF_CHANGED;
    return is ? DIFF_STILL : DIFF_SAME;
}

static const struct diff_case **sorted(const struct diff_side *side, struct arena *keep)
{
    const struct diff_case **out =
        ARENA_ARRAY(keep, (size_t)side->count + 1, const struct diff_case *);
    for (uint32_t i = 0; out != NULL && i < side->count; i++)
        out[i] = &side->cases[i];
    if (out != NULL)
        array_sort(out, side->count, sizeof *out, by_name);
    return out;
}

static bool same_case(const struct diff_case *x, const struct diff_case *y)
{
    return strcmp(x->scenario, y->scenario) == 0 && strcmp(x->variant, y->variant) == 0;
}

/* Where another repeat of C is among OTHERS, which are sorted and have C's place at NEAR; COUNT:
 * nowhere. */
static uint32_t place_of_repeat(const struct diff_case *c, const struct diff_case *const *others,
                                uint32_t count, uint32_t near)
{
    if (near < count && same_case(c, others[near]))
        return near;
    return near > 0 && same_case(c, others[near - 1]) ? near - 1 : count;
}

/* [i]: a repeat of CASES[i], which are sorted, fails. */
static bool *failing(const struct diff_case *const *cases, uint32_t count, struct arena *keep)
{
    bool *out = ARENA_ARRAY(keep, (size_t)count + 1, bool);
    for (uint32_t i = 0, end = 0; out != NULL && i < count; i = end) {
        bool fails = false;
        for (; end < count && same_case(cases[i], cases[end]); end++)
            fails = fails || run_verdict_fails(cases[end]->verdict);
        memset(out + i, fails, end - i);
    }
    return out;
}

static const struct diff_case *case_of(const struct diff_row *row)
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

/* A case that one run repeated more often than the other counts as neither added nor gone, and as
 * new only if it fails and no repeat failed before. */
static bool diff_cases(const struct diff_side *a, const struct diff_side *b, struct arena *keep,
                       struct run_diff *out)
{
    const struct diff_case **left = sorted(a, keep), **right = sorted(b, keep);
    const bool *failed = left != NULL ? failing(left, a->count, keep) : NULL;
    out->rows = ARENA_ARRAY(keep, (size_t)a->count + b->count + 1, struct diff_row);
    if (failed == NULL || right == NULL || out->rows == NULL)
        return false;
    for (uint32_t i = 0, k = 0; i < a->count || k < b->count;) {
        int order = i == a->count ? 1 : -1;
        if (i < a->count && k < b->count)
            order = by_name(&left[i], &right[k]);
        struct diff_row row = {.a = order <= 0 ? left[i] : NULL, .b = order >= 0 ? right[k] : NULL};
        row.group = group_of(row.a, row.b);
        bool counted = true;
        if (order < 0) {
            counted = place_of_repeat(left[i], right, b->count, k) == b->count;
        } else if (order > 0) {
            const uint32_t at = place_of_repeat(right[k], left, a->count, i);
            counted = at == a->count || (row.group == DIFF_NEW && !failed[at]);
        }
        i += order <= 0;
        k += order >= 0;
        if (counted)
            out->rows[out->row_count++] = row;
    }
    count_rows(out);
    return true;
}

/* ---- times ---------------------------------------------------------------------------- */

static const struct diff_series *series_of(const struct diff_side *side, const char *engine)
{
    for (uint32_t i = 0; i < side->series_count; i++)
        if (text_equal(side->series[i].engine, engine))
            return &side->series[i];
    return NULL;
}

static double fence_of(const struct diff_limits *limits, const char *engine)
{
    for (uint32_t i = 0; i < limits->fence_count; i++)
        if (text_equal(limits->fences[i].engine, engine))
            return limits->fences[i].share;
    return 0;
}

/* Room for one number per row. */
struct numbers {
    double *before, *now, *scratch;
};

static void diff_engine(const struct run_diff *rows, const struct diff_series *a,
                        const struct diff_series *b, const struct diff_limits *limits,
                        const struct numbers *n, struct diff_time *out)
{
    size_t count = 0;
    for (uint32_t i = 0; a != NULL && i < rows->row_count; i++) {
        const struct diff_row *row = &rows->rows[i];
        const uint64_t x = row->a != NULL ? a->total_ns[row->a->index] : 0;
        const uint64_t y = row->b != NULL ? b->total_ns[row->b->index] : 0;
        if (x == 0 || y == 0)
            continue;
        n->before[count] = (double)x;
        n->now[count++] = (double)y;
    }
    out->engine = b->engine;
    out->subject = b->subject;
    out->cases = (uint32_t)count;
    out->change = statistics_change_paired(n->before, n->now, count, limits->noise,
                                           fence_of(limits, b->engine), n->scratch);
    const double fence = fence_of(limits, b->engine);
    statistics_admit_noise(&out->change, limits->measured > fence ? limits->measured : fence);
    for (size_t i = 0; i < count; i++)
        n->scratch[i] = n->now[i] / n->before[i];
    out->ratio = statistics_geometric_mean(n->scratch, count);
    out->before_ns = quantile_median(n->before, count);
    out->now_ns = quantile_median(n->now, count);
}

bool run_diff_mixes_writers(const struct run_diff *diff)
{
    for (uint32_t i = 0; i < diff->fact_count; i++)
        if (strcmp(diff->facts[i].name, DIFF_FACT_WRITER) == 0)
            return diff->facts[i].a != NULL && diff->facts[i].b != NULL;
    return false;
}

static bool diff_times(const struct diff_side *a, const struct diff_side *b,
                       const struct diff_limits *limits, struct arena *keep, struct run_diff *out)
{
    const size_t room = (size_t)out->row_count + 1;
    const struct numbers n = {ARENA_ARRAY(keep, room, double), ARENA_ARRAY(keep, room, double),
                              ARENA_ARRAY(keep, room, double)};
    out->times = ARENA_ARRAY(keep, CLAIMS_MAX, struct diff_time);
    if (n.before == NULL || n.now == NULL || n.scratch == NULL || out->times == NULL)
        return false;
    for (uint32_t i = 0; i < b->series_count; i++)
        if (!text_equal(b->series[i].engine, ENGINE_NAME_DUMP) || !run_diff_mixes_writers(out))
            diff_engine(out, series_of(a, b->series[i].engine), &b->series[i], limits, &n,
                        &out->times[out->time_count++]);
    return true;
}

enum status run_diff_make(const struct diff_side *a, const struct diff_side *b,
                          const struct diff_limits *limits, struct arena *keep,
                          struct run_diff *out, struct fault *fault)
{
    static const struct diff_limits none = {.fence_count = 0};
    memset(out, 0, sizeof *out);
    if (!diff_facts(a->run, b->run, keep, out) || !diff_cases(a, b, keep, out) ||
        !diff_times(a, b, limits != NULL ? limits : &none, keep, out))
        return fault_no_memory(fault, "comparing two runs");
    return ERR_NONE;
}

/* ---- from whole cases ------------------------------------------------------------------ */

static void take_case(const struct run_case *c, uint32_t index, struct diff_case *out)
{
    *out = (struct diff_case){.scenario = c->scenario,
                              .variant = c->variant,
                              .reason = c->result.reason,
                              .signature = c->result.signature,
                              .folder = c->folder,
                              .kind = c->kind,
                              .verdict = c->result.verdict,
                              .repeat = c->repeat,
                              .index = index};
    out->has = c->truth != NULL ? DIFF_HAS_TRUTH : 0;
    for (uint32_t i = 0; i < c->result.score_count; i++) {
        const struct engine_score *s = &c->result.scores[i];
        if (s->subject && s->frames > out->frames)
            out->frames = s->frames;
        if (!s->subject || s->state != STACK_OK || s->frames == 0)
            continue;
        if (text_equal(s->engine, ENGINE_NAME_OFFSET))
            out->has |= DIFF_HAS_OFFSET;
        else if (text_equal(s->engine, ENGINE_NAME_DUMP))
            out->has |= DIFF_HAS_DUMP;
    }
    const struct finding *shown[FINDINGS_DECIDING];
    findings_deciding(c->result.findings, c->result.finding_count, c->result.reason, shown);
    out->finding = shown[0];
    out->second = shown[1];
}

static void take_times(const struct run_case *c, uint32_t index, struct arena *keep,
                       struct diff_side *out, struct fault *fault)
{
    for (uint32_t i = 0; i < c->claim_count && i < c->result.score_count; i++) {
        struct diff_series *series =
            diff_side_series(out, c->claims[i].engine, c->claims[i].subject, keep, fault);
        if (series != NULL && c->result.scores[i].state == STACK_OK)
            series->total_ns[index] = c->claims[i].cost.total_ns;
    }
}

enum status diff_side_of(const struct run_info *run, const struct run_case *cases, uint32_t count,
                         struct arena *keep, struct diff_side *out, struct fault *fault)
{
    *out = (struct diff_side){.run = run,
                              .cases = ARENA_ARRAY(keep, (size_t)count + 1, struct diff_case),
                              .count = count};
    if (out->cases == NULL)
        return fault_no_memory(fault, "comparing two runs");
    for (uint32_t i = 0; i < count && fault->code == ERR_NONE; i++) {
        take_case(&cases[i], i, &out->cases[i]);
        take_times(&cases[i], i, keep, out, fault);
    }
    return fault->code;
}
