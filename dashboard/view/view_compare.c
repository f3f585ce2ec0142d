/* Two runs held against each other: what is new, fixed or differs for another reason. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare/statistics.h"
#include "view/parts.h"

static int by_name(const void *a, const void *b)
{
    const struct run_case *left = a, *right = b;
    int order = strcmp(left->scenario, right->scenario);
    if (order == 0)
        order = strcmp(left->variant, right->variant);
    if (order == 0)
        order = (left->repeat > right->repeat) - (left->repeat < right->repeat);
    return order;
}

enum group { GROUP_NEW, GROUP_FIXED, GROUP_CHANGED, GROUP_STILL, GROUP_ADDED, GROUP_GONE, GROUPS };

static const char *const group_names[GROUPS] = {"new",   "fixed", "changed",
                                                "still", "added", "gone"};

struct sides {
    struct run_case *a, *b;
    uint32_t a_count, b_count;
};

/* The group of a pair; one side may be NULL.  GROUPS: nothing to say. */
static enum group group_of(const struct run_case *a, const struct run_case *b)
{
    if (b == NULL)
        return GROUP_GONE;
    if (a == NULL)
        return run_verdict_fails(b->result.verdict) ? GROUP_NEW : GROUP_ADDED;
    bool was = run_verdict_fails(a->result.verdict), is = run_verdict_fails(b->result.verdict);
    if (was != is)
        return is ? GROUP_NEW : GROUP_FIXED;
    if (!is)
        return a->result.verdict == b->result.verdict ? GROUPS : GROUP_CHANGED;
    const char *left = a->result.signature != NULL ? a->result.signature : "";
    const char *right = b->result.signature != NULL ? b->result.signature : "";
    return strcmp(left, right) == 0 ? GROUP_STILL : GROUP_CHANGED;
}

static void write_pair(struct json *out, const struct run_case *a, const struct run_case *b)
{
    const struct run_case *any = b != NULL ? b : a;
    if (any == NULL)
        return;
    json_object(out);
    json_key_string(out, "scenario", any->scenario);
    json_key_string(out, "variant", any->variant);
    json_key_uint(out, "repeat", any->repeat);
    json_key_string(out, "was", a != NULL ? verdict_name(a->result.verdict) : NULL);
    json_key_string(out, "is", b != NULL ? verdict_name(b->result.verdict) : NULL);
    json_key_string(out, "signature", any->result.signature);
    json_key_string(out, "reason", any->result.reason);
    json_object_end(out);
}

/* Merges two sorted lists and writes the pairs of one group. */
static void write_group(struct json *out, const struct sides *s, enum group wanted)
{
    uint32_t i = 0, k = 0;
    json_key(out, group_names[wanted]);
    json_array(out);
    while (i < s->a_count || k < s->b_count) {
        int order = i == s->a_count ? 1 : k == s->b_count ? -1 : by_name(&s->a[i], &s->b[k]);
        const struct run_case *a = order <= 0 ? &s->a[i++] : NULL;
        const struct run_case *b = order >= 0 ? &s->b[k++] : NULL;
        if (group_of(a, b) == wanted)
            write_pair(out, a, b);
    }
    json_array_end(out);
}

static enum status read_sides(const struct view_input *in, uint64_t a, uint64_t b, struct sides *s,
                              struct fault *fault)
{
    uint64_t total = 0;
    enum status status =
        view_all_cases(in, a, false, VIEW_CASES_MAX, &s->a, &s->a_count, &total, fault);
    if (status == ERR_NONE)
        status = view_all_cases(in, b, false, VIEW_CASES_MAX, &s->b, &s->b_count, &total, fault);
    if (status != ERR_NONE)
        return status;
    qsort(s->a, s->a_count, sizeof *s->a, by_name);
    qsort(s->b, s->b_count, sizeof *s->b, by_name);
    return ERR_NONE;
}

enum status view_write_changes(const struct view_input *in, uint64_t a, uint64_t b,
                               struct json *out, struct fault *fault)
{
    struct sides sides = {0};
    enum status status = read_sides(in, a, b, &sides, fault);
    json_object(out);
    for (int g = 0; g < GROUPS; g++)
        write_group(out, &sides, (enum group)g);
    json_object_end(out);
    return status;
}

static void write_difference(struct json *out, const char *name, const char *a, const char *b)
{
    if ((a == NULL && b == NULL) || (a != NULL && b != NULL && strcmp(a, b) == 0))
        return;
    json_object(out);
    json_key_string(out, "name", name);
    json_key_string(out, "a", a);
    json_key_string(out, "b", b);
    json_object_end(out);
}

static const char *version_of(const struct named_version *rows, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(rows[i].name, name) == 0)
            return rows[i].version;
    return NULL;
}

static void write_versions(struct json *out, const struct named_version *a, uint32_t a_count,
                           const struct named_version *b, uint32_t b_count)
{
    for (uint32_t i = 0; i < a_count; i++)
        write_difference(out, a[i].name, a[i].version, version_of(b, b_count, a[i].name));
    for (uint32_t i = 0; i < b_count; i++)
        if (version_of(a, a_count, b[i].name) == NULL)
            write_difference(out, b[i].name, NULL, b[i].version);
}

static void write_environment(struct json *out, const struct run_info *a, const struct run_info *b)
{
    json_key(out, "environment");
    json_array(out);
    write_difference(out, "platform", a->platform, b->platform);
    write_difference(out, "compiler", a->compiler, b->compiler);
    write_difference(out, "flags", a->flags, b->flags);
    write_difference(out, "cpu", a->cpu, b->cpu);
    write_difference(out, "branch", a->branch, b->branch);
    write_difference(out, "commit", a->commit, b->commit);
    write_versions(out, a->tools, a->tool_count, b->tools, b->tool_count);
    write_versions(out, a->environment, a->environment_count, b->environment, b->environment_count);
    json_array_end(out);
}

/* The totals of one engine on the cases that both runs timed it on. */
struct pairs {
    double *a, *b, *scratch;
    size_t count;
};

static enum status pair_costs(const struct view_input *in, const struct case_cost *a,
                              uint32_t a_count, const struct case_cost *b, uint32_t b_count,
                              const char *engine, struct pairs *out, struct fault *fault)
{
    out->count = 0;
    out->a = ARENA_ARRAY(in->keep, (size_t)a_count + 1, double);
    out->b = ARENA_ARRAY(in->keep, (size_t)a_count + 1, double);
    out->scratch = ARENA_ARRAY(in->keep, 2 * (size_t)a_count + 1, double);
    if (out->a == NULL || out->b == NULL || out->scratch == NULL)
        return fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "timing of two runs");
    uint32_t k = 0; /* both lists are by case, so one pass does unless names were added */
    for (uint32_t i = 0; i < a_count; i++) {
        if (strcmp(a[i].engine, engine) != 0 || a[i].cost.total_ns == 0)
            continue;
        for (uint32_t tries = 0; tries < b_count; tries++, k = (k + 1) % b_count)
            if (strcmp(b[k].engine, engine) == 0 && strcmp(a[i].scenario, b[k].scenario) == 0 &&
                strcmp(a[i].variant, b[k].variant) == 0)
                break;
        const struct case_cost *other = b_count > 0 ? &b[k] : NULL;
        if (other == NULL || strcmp(other->engine, engine) != 0 || other->cost.total_ns == 0 ||
            strcmp(a[i].scenario, other->scenario) != 0 ||
            strcmp(a[i].variant, other->variant) != 0)
            continue;
        out->a[out->count] = (double)a[i].cost.total_ns;
        out->b[out->count++] = (double)other->cost.total_ns;
    }
    return ERR_NONE;
}

static void write_change(struct json *out, const char *engine, struct pairs *pairs)
{
    const struct change_verdict change =
        statistics_change(pairs->a, pairs->count, pairs->b, pairs->count, 0, 0, pairs->scratch);
    bool enough = change.change != CHANGE_TOO_FEW;
    json_object(out);
    json_key_string(out, "engine", engine);
    json_key_uint(out, "samples", pairs->count);
    json_key_number(out, "a_ns", statistics_median(pairs->a, pairs->count));
    json_key_number(out, "b_ns", statistics_median(pairs->b, pairs->count));
    json_key_string(out, "change", change_name(change.change));
    json_key_number(out, "effect", enough ? change.effect : NAN);
    json_key_number(out, "threshold", enough ? change.threshold : NAN);
    json_key_number(out, "p", enough ? change.p : NAN);
    json_object_end(out);
}

static enum status write_timing(const struct view_input *in, uint64_t a, uint64_t b,
                                struct json *out, struct fault *fault)
{
    struct case_cost *first = NULL, *second = NULL;
    uint32_t first_count = 0, second_count = 0;
    enum status status = store_read_costs(in->store, a, in->keep, &first, &first_count, fault);
    if (status == ERR_NONE)
        status = store_read_costs(in->store, b, in->keep, &second, &second_count, fault);
    json_key(out, "timing");
    json_array(out);
    const char *seen[CLAIMS_MAX];
    uint32_t seen_count = 0;
    for (uint32_t i = 0; i < first_count && status == ERR_NONE; i++) {
        struct pairs pairs;
        uint32_t k = 0;
        while (k < seen_count && strcmp(seen[k], first[i].engine) != 0)
            k++;
        if (k < seen_count || seen_count == CLAIMS_MAX)
            continue;
        seen[seen_count++] = first[i].engine;
        status = pair_costs(in, first, first_count, second, second_count, first[i].engine, &pairs,
                            fault);
        if (status == ERR_NONE && pairs.count > 0)
            write_change(out, first[i].engine, &pairs);
    }
    json_array_end(out);
    return status;
}

enum status view_compare(const struct view_input *in, struct json *out, struct fault *fault)
{
    uint64_t a = 0, b = 0;
    struct run_info runs[2];
    const char *first = view_query_get(in->query, "a");
    enum status status = view_find_run(in, first != NULL ? first : "latest~1", &a, fault);
    if (status == ERR_NONE)
        status = view_find_run(in, view_query_get(in->query, "b"), &b, fault);
    if (status == ERR_NONE)
        status = store_read_run(in->store, a, in->keep, &runs[0], fault);
    if (status == ERR_NONE)
        status = store_read_run(in->store, b, in->keep, &runs[1], fault);
    if (status != ERR_NONE)
        return status;
    json_object(out);
    json_key(out, "a");
    run_info_write_json(out, &runs[0]);
    json_key(out, "b");
    run_info_write_json(out, &runs[1]);
    write_environment(out, &runs[0], &runs[1]);
    json_key(out, "changes");
    status = view_write_changes(in, a, b, out, fault);
    if (status == ERR_NONE)
        status = write_timing(in, a, b, out, fault);
    json_object_end(out);
    return status;
}
