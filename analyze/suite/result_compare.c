/* A result beside an older one: see result_file.h. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "suite/result_file.h"

/* The outcome of each id, then. */
struct then {
    const char *id;
    enum suite_outcome outcome;
};

ARRAY_ORDER_TEXT(by_id, struct then, id)

static uint32_t count_ids(const cJSON *cases)
{
    const cJSON *list;
    uint32_t count = 0;
    cJSON_ArrayForEach(list, cases) count += (uint32_t)cJSON_GetArraySize(list);
    return count;
}

/* Sorted by id; the ids are of the tree. */
static struct then *read_cases(const cJSON *cases, struct arena *keep, uint32_t *count,
                               struct fault *fault)
{
    struct then *rows = ARENA_ARRAY(keep, (size_t)count_ids(cases) + 1, struct then);
    const cJSON *list, *id;
    *count = 0;
    if (rows == NULL)
        (void)fault_no_memory(fault, "result");
    cJSON_ArrayForEach(list, cases)
    {
        enum suite_outcome outcome;
        if (fault->code == ERR_NONE && !suite_outcome_parse(list->string, &outcome))
            (void)fault_set_hint(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "result",
                                 "\"cases\" has an outcome of another version");
        cJSON_ArrayForEach(id, list)
        {
            if (fault->code == ERR_NONE && cJSON_IsString(id))
                rows[(*count)++] = (struct then){id->valuestring, outcome};
        }
    }
    if (rows != NULL && *count > 0)
        qsort(rows, *count, sizeof *rows, by_id);
    return rows;
}

static enum status compare(const struct suite *suite, const struct score *score, const cJSON *tree,
                           struct arena *keep, struct result_difference *out, struct fault *fault)
{
    const cJSON *tool = json_get_object(tree, "tool", fault);
    const cJSON *cases = json_get_object(tree, "cases", fault);
    const char *edition = json_get_string(tree, "edition", keep, fault);
    uint32_t count = 0;

    out->version = tool != NULL ? json_get_string(tool, "version", keep, fault) : NULL;
    if (fault->code != ERR_NONE)
        return fault->code;
    if (tool == NULL || cases == NULL || edition == NULL)
        return fault_set_hint(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "result",
                              "tool, edition or cases is missing");
    if (strcmp(edition, suite->edition) != 0)
        return fault_set_hint(
            fault, ERR_ABSENT, FAULT_NO_OFFSET, "result",
            "it is of another edition of the suite; score again with --json -o FILE");
    const struct then *rows = read_cases(cases, keep, &count, fault);
    out->worse = ARENA_ARRAY(keep, (size_t)suite->count + 1, struct result_change);
    out->better = ARENA_ARRAY(keep, (size_t)suite->count + 1, struct result_change);
    if (rows == NULL || out->worse == NULL || out->better == NULL)
        return fault_no_memory(fault, "result");
    for (uint32_t i = 0; i < suite->count && fault->code == ERR_NONE; i++) {
        const struct then key = {.id = suite->cases[i].id};
        const struct then *before = bsearch(&key, rows, count, sizeof *rows, by_id);
        if (before == NULL)
            continue;
        const struct result_change change = {&suite->cases[i], before->outcome,
                                             score->answers[i].outcome};
        const int step = suite_outcome_rank(change.now) - suite_outcome_rank(change.before);
        out->compared++;
        if (step > 0)
            out->worse[out->worse_count++] = change;
        else if (step < 0)
            out->better[out->better_count++] = change;
    }
    return fault->code;
}

enum status result_compare(const struct suite *suite, const struct score *score, const char *text,
                           size_t bytes, struct arena *keep, struct result_difference *out,
                           struct fault *fault)
{
    cJSON *tree = NULL;
    memset(out, 0, sizeof *out);
    if (json_parse(text, bytes, &tree, fault) == ERR_NONE)
        (void)compare(suite, score, tree, keep, out, fault);
    cJSON_Delete(tree);
    return fault->code;
}
