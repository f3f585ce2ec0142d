/* See problem.h. */
#include "study/problem.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "compare/known.h"

bool problem_has(const struct triage *t, const struct triage_item *item, const char *key)
{
    const struct failures *all = triage_failures(t, item);
    for (int i = 0; i < FAILURES_OF_CASE; i++)
        if (item->failures[i] != UINT32_MAX && strcmp(all->rows[item->failures[i]].key, key) == 0)
            return true;
    return false;
}

static const struct failure *find_in(const struct failures *all, const char *key)
{
    for (uint32_t i = 0; i < all->count; i++)
        if (strcmp(all->rows[i].key, key) == 0)
            return &all->rows[i];
    return NULL;
}

static const struct failure *find(const struct triage *t, const char *key)
{
    const struct failure *failing = find_in(&t->failures, key);
    return failing != NULL ? failing : find_in(&t->accepted, key);
}

/* ---- the matrix ------------------------------------------------------------------------- */

struct row {
    const char *scenario;
    uint32_t cases;            /* of the problem */
    uint32_t *of, *of_problem; /* by variant */
};

struct matrix {
    struct row *rows;
    const char **variants;
    uint32_t row_count, variant_count;
};

ARRAY_ORDER_TEXT(by_scenario, struct row, scenario)

static int by_cases(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    return x->cases != y->cases ? (x->cases < y->cases) - (x->cases > y->cases) : by_scenario(a, b);
}

/* Sorts TEXTS and keeps one of each; how many there are. */
static uint32_t sort_once(const char **texts, uint32_t count)
{
    uint32_t kept = 0;
    array_sort(texts, count, sizeof *texts, text_order);
    for (uint32_t i = 0; i < count; i++)
        if (kept == 0 || strcmp(texts[kept - 1], texts[i]) != 0)
            texts[kept++] = texts[i];
    return kept;
}

static bool begin_rows(struct matrix *m, const char **scenarios, struct arena *keep)
{
    uint32_t *numbers =
        ARENA_ARRAY(keep, 2 * (size_t)m->row_count * m->variant_count + 1, uint32_t);
    m->rows = ARENA_ARRAY(keep, (size_t)m->row_count + 1, struct row);
    if (numbers == NULL || m->rows == NULL)
        return false;
    for (uint32_t i = 0; i < m->row_count; i++) {
        m->rows[i] = (struct row){scenarios[i], 0, numbers, numbers + m->variant_count};
        numbers += 2 * (size_t)m->variant_count;
    }
    return true;
}

static void count_item(struct matrix *m, const struct triage_item *item, bool of_problem)
{
    const struct row wanted = {.scenario = item->scenario};
    struct row *row = bsearch(&wanted, m->rows, m->row_count, sizeof *m->rows, by_scenario);
    const char **variant =
        bsearch(&item->variant, m->variants, m->variant_count, sizeof *m->variants, text_order);
    if (row == NULL || variant == NULL)
        return;
    row->of[variant - m->variants]++;
    row->of_problem[variant - m->variants] += of_problem;
    row->cases += of_problem;
}

/* Rows are the scenarios of the problem, columns all builds of the run. */
static bool make_matrix(const struct triage *t, const char *key, struct arena *keep,
                        struct matrix *out)
{
    const char **scenarios = ARENA_ARRAY(keep, (size_t)t->item_count + 1, const char *);
    out->variants = ARENA_ARRAY(keep, (size_t)t->item_count + 1, const char *);
    if (scenarios == NULL || out->variants == NULL)
        return false;
    out->row_count = 0;
    for (uint32_t i = 0; i < t->item_count; i++) {
        out->variants[i] = t->items[i].variant;
        if (problem_has(t, &t->items[i], key))
            scenarios[out->row_count++] = t->items[i].scenario;
    }
    out->variant_count = sort_once(out->variants, t->item_count);
    out->row_count = sort_once(scenarios, out->row_count);
    if (!begin_rows(out, scenarios, keep))
        return false;
    for (uint32_t i = 0; i < t->item_count; i++)
        count_item(out, &t->items[i], problem_has(t, &t->items[i], key));
    array_sort(out->rows, out->row_count, sizeof *out->rows, by_cases);
    return true;
}

static void write_numbers(struct json *j, const char *name, const uint32_t *numbers, uint32_t count)
{
    json_key_array(j, name);
    for (uint32_t i = 0; i < count; i++)
        json_uint(j, numbers[i]);
    json_array_end(j);
}

/* Builds that have a case of the problem. */
static uint32_t count_hit(const struct matrix *m)
{
    uint32_t hit = 0;
    for (uint32_t v = 0; v < m->variant_count; v++) {
        uint32_t row = 0;
        while (row < m->row_count && m->rows[row].of_problem[v] == 0)
            row++;
        hit += row < m->row_count;
    }
    return hit;
}

static void write_matrix(struct json *j, const struct matrix *m, uint32_t after)
{
    const uint32_t start = after < m->row_count ? after : m->row_count;
    const uint32_t left = m->row_count - start;
    const uint32_t end = start + (left < PROBLEM_ROWS_MOST ? left : PROBLEM_ROWS_MOST);
    json_object(j);
    json_key_array(j, "variants");
    for (uint32_t i = 0; i < m->variant_count; i++)
        json_string(j, m->variants[i]);
    json_array_end(j);
    json_key_array(j, "rows");
    for (uint32_t i = start; i < end; i++) {
        json_object(j);
        json_key_string(j, "scenario", m->rows[i].scenario);
        write_numbers(j, "cases", m->rows[i].of_problem, m->variant_count);
        write_numbers(j, "of", m->rows[i].of, m->variant_count);
        json_object_end(j);
    }
    json_array_end(j);
    json_key_uint(j, "rows_before", start);
    json_key_uint(j, "rows_left", m->row_count - end);
    json_key_uint(j, "variants_hit", count_hit(m));
    json_object_end(j);
}

enum status problem_write_json(struct json *j, const struct triage *t, const char *key,
                               uint32_t after, struct arena *keep, struct fault *fault)
{
    const struct failure *failure = key != NULL ? find(t, key) : NULL;
    struct matrix matrix;
    if (failure == NULL) {
        json_null(j);
        return ERR_NONE;
    }
    if (!make_matrix(t, key, keep, &matrix))
        return fault_no_memory(fault, "cases of a problem");
    json_object(j);
    failure_write_members(j, failure);
    json_key_uint(j, "new", failure->fresh);
    json_key(j, "matrix");
    write_matrix(j, &matrix, after);
    json_object_end(j);
    return ERR_NONE;
}

/* ---- accepting -------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
    const struct run_case *x = *(const struct run_case *const *)a,
                          *y = *(const struct run_case *const *)b;
    const int order = strcmp(x->scenario, y->scenario);
    return order != 0 ? order : strcmp(x->variant, y->variant);
}

/* The cases of the problem that can be accepted, by name. */
static enum status read_cases(const struct triage *t, const char *key, struct arena *keep,
                              const struct run_case ***out, uint32_t *count, struct fault *fault)
{
    const struct run_case **cases = ARENA_ARRAY(keep, PROBLEM_CASES_MOST, const struct run_case *);
    *count = 0;
    if (cases == NULL)
        return fault_no_memory(fault, "cases of a problem");
    for (uint32_t i = 0; i < t->item_count; i++) {
        const struct triage_item *item = &t->items[i];
        if (!problem_has(t, item, key) ||
            (item->verdict != VERDICT_FAIL && item->verdict != VERDICT_FLAKY))
            continue;
        if (*count == PROBLEM_CASES_MOST)
            return fault_set_hint(fault, ERR_USAGE, FAULT_NO_OFFSET, "cases of a problem",
                                  "too many for one acceptance: `twinstack accept --scope` takes "
                                  "a pattern");
        struct run_case *c = ARENA_NEW(keep, struct run_case);
        if (c == NULL)
            return fault_no_memory(fault, "cases of a problem");
        if (triage_read_case(t, item, keep, c, fault) != ERR_NONE)
            return fault->code;
        cases[(*count)++] = c;
    }
    array_sort(cases, *count, sizeof *cases, by_name);
    *out = cases;
    return ERR_NONE;
}

enum status problem_accept(struct acceptance *acceptance, const struct triage *t, const char *key,
                           const struct known_words *words, struct arena *keep, const char **block,
                           uint32_t *count, struct fault *fault)
{
    const struct run_case **cases = NULL;
    const char *text = NULL, *id = arena_printf(keep, "problem-%s", key);
    if (find(t, key) == NULL)
        return fault_set(fault, ERR_ABSENT, FAULT_NO_OFFSET, "problem of that key");
    if (read_cases(t, key, keep, &cases, count, fault) != ERR_NONE)
        return fault->code;
    if (*count == 0)
        return fault_set_hint(fault, ERR_USAGE, FAULT_NO_OFFSET, "acceptance",
                              "no case of the problem can be accepted");
    if (known_add_cases(acceptance->text, &acceptance->list, id, cases, *count, words, keep, &text,
                        block, fault) != ERR_NONE)
        return fault->code;
    return acceptance_take_text(acceptance, text, keep, fault);
}
