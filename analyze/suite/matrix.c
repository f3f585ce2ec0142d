/* See matrix.h. */
#include "suite/matrix.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "suite/suite_case.h"

/* ---- order ----------------------------------------------------------------------------- */

/* What qsort() compares: it takes no context. */
struct place {
    const struct suite_case *of;
    uint32_t index;
};

ARRAY_ORDER_TEXT(by_id, struct place, of->id)

static int by_shape(const void *a, const void *b)
{
    const struct suite_case *x = ((const struct place *)a)->of, *y = ((const struct place *)b)->of;
    int order = strcmp(x->capability, y->capability);
    order = order != 0 ? order : strcmp(x->shape, y->shape);
    return order != 0 ? order : strcmp(x->id, y->id);
}

static const uint32_t *sorted(const struct suite *suite, int (*compare)(const void *, const void *),
                              struct arena *keep)
{
    struct place *places = ARENA_ARRAY(keep, (size_t)suite->count + 1, struct place);
    uint32_t *out = ARENA_ARRAY(keep, (size_t)suite->count + 1, uint32_t);
    if (places == NULL || out == NULL)
        return NULL;
    for (uint32_t i = 0; i < suite->count; i++)
        places[i] = (struct place){&suite->cases[i], i};
    if (suite->count > 0)
        qsort(places, suite->count, sizeof *places, compare);
    for (uint32_t i = 0; i < suite->count; i++)
        out[i] = places[i].index;
    return out;
}

static bool find_case(const struct matrix *matrix, const char *id, uint32_t *out)
{
    uint32_t low = 0, high = matrix->suite->count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const int order = strcmp(matrix->suite->cases[matrix->by_id[middle]].id, id);
        if (order == 0) {
            *out = matrix->by_id[middle];
            return true;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

enum status matrix_open(const struct suite *suite, uint32_t results, struct arena *keep,
                        struct matrix *out, struct fault *fault)
{
    *out = (struct matrix){.suite = suite,
                           .tools = ARENA_ARRAY(keep, (size_t)results + 1, struct matrix_tool),
                           .order = sorted(suite, by_shape, keep),
                           .by_id = sorted(suite, by_id, keep)};
    if (out->tools == NULL || out->order == NULL || out->by_id == NULL)
        return fault_no_memory(fault, "results");
    return ERR_NONE;
}

/* ---- one result ------------------------------------------------------------------------ */

static bool is_answer(int outcome)
{
    return outcome != SUITE_UNSUPPORTED && outcome != MATRIX_NOT_ASKED;
}

/* WORDS: a literal. */
#define MALFORMED(words) fault_set_hint(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "result", words)

static enum status add_cases(const struct matrix *matrix, struct matrix_tool *tool,
                             const cJSON *cases, struct fault *fault)
{
    const cJSON *list, *id;
    cJSON_ArrayForEach(list, cases)
    {
        enum suite_outcome outcome;
        if (!suite_outcome_parse(list->string, &outcome))
            return MALFORMED("\"cases\" has an outcome of another version");
        cJSON_ArrayForEach(id, list)
        {
            uint32_t at = 0;
            if (!cJSON_IsString(id))
                return MALFORMED("\"cases\" has an id that is no text");
            if (!find_case(matrix, id->valuestring, &at))
                tool->elsewhere++;
            else if (!is_answer(tool->outcomes[at]))
                tool->outcomes[at] = (uint8_t)outcome;
            else if (is_answer((int)outcome))
                return MALFORMED("this version of the tool has two answers to one case; "
                                 "give each result once");
        }
    }
    return ERR_NONE;
}

static enum status add_answer(struct suite_answer *out, enum suite_kind kind, const cJSON *answer,
                              struct arena *keep, struct fault *fault)
{
    const uint64_t first = json_get_uint(answer, "first", 0, fault);
    const uint64_t left_out = json_get_uint(answer, "left_out", 0, fault);
    const cJSON *frames = json_get_array(answer, "frames", fault);
    if (fault->code != ERR_NONE)
        return fault->code;
    if (first > SUITE_WALK_MAX || left_out > SUITE_WALK_MAX || frames == NULL)
        return MALFORMED("an answer is without frames, or has too many");
    out->first = (uint32_t)first;
    out->left_out = (uint32_t)left_out;
    return suite_walk_read(frames, kind, keep, &out->walk, fault);
}

/* Results of older versions have no answers. */
static enum status add_answers(const struct matrix *matrix, struct matrix_tool *tool,
                               const cJSON *answers, struct arena *keep, struct fault *fault)
{
    const cJSON *answer;
    if (answers == NULL)
        return ERR_NONE;
    if (!cJSON_IsObject(answers))
        return MALFORMED("\"answers\" is no object");
    if (tool->answers == NULL)
        tool->answers = ARENA_ARRAY(keep, (size_t)matrix->suite->count + 1, struct suite_answer);
    if (tool->answers == NULL)
        return fault_no_memory(fault, "results");
    cJSON_ArrayForEach(answer, answers)
    {
        uint32_t at = 0;
        if (!find_case(matrix, answer->string, &at))
            continue;
        struct suite_answer *out = &tool->answers[at];
        if (add_answer(out, matrix->suite->cases[at].kind, answer, keep, fault) != ERR_NONE)
            return fault->code;
        out->outcome = (enum suite_outcome)tool->outcomes[at];
    }
    return ERR_NONE;
}

static struct matrix_tool *tool_of(struct matrix *matrix, const struct matrix_tool *read,
                                   struct arena *keep)
{
    for (uint32_t i = 0; i < matrix->count; i++)
        if (strcmp(matrix->tools[i].name, read->name) == 0 &&
            strcmp(matrix->tools[i].version, read->version) == 0)
            return &matrix->tools[i];
    struct matrix_tool *tool = &matrix->tools[matrix->count];
    *tool = *read;
    tool->outcomes = ARENA_ARRAY(keep, (size_t)matrix->suite->count + 1, uint8_t);
    if (tool->outcomes == NULL)
        return NULL;
    memset(tool->outcomes, MATRIX_NOT_ASKED, matrix->suite->count);
    matrix->count++;
    return tool;
}

/* Badges are XML, which a byte that is no UTF-8 would end. */
static const char *readable(const char *text, struct arena *keep)
{
    char *copy = text != NULL ? arena_string(keep, text) : NULL;
    for (char *c = copy; c != NULL && *c != 0;) {
        const size_t length = text_utf8_length((const unsigned char *)c);
        if (length == 0)
            *c = '?';
        c += length > 0 ? length : 1;
    }
    return copy;
}

static enum status add_tree(struct matrix *matrix, const cJSON *tree, struct arena *keep,
                            struct fault *fault)
{
    const cJSON *named = json_get_object(tree, "tool", fault);
    const cJSON *cases = json_get_object(tree, "cases", fault);
    const uint64_t form = json_get_uint(tree, "result", 0, fault);
    const uint64_t wall_ms = json_get_uint(tree, "wall_ms", 0, fault);
    const uint64_t peak_bytes = json_get_uint(tree, "peak_bytes", 0, fault);
    struct matrix_tool read = {.edition = json_get_string(tree, "edition", keep, fault),
                               .when = json_get_string(tree, "when", keep, fault)};

    if (named != NULL) {
        read.name = json_get_string(named, "name", keep, fault);
        read.version = json_get_string(named, "version", keep, fault);
        read.bugs = json_get_string(named, "bugs", keep, fault);
    }
    if (fault->code != ERR_NONE)
        return fault->code;
    if (form != 1 || read.name == NULL || read.version == NULL || read.edition == NULL ||
        cases == NULL)
        return MALFORMED("result 1, tool, edition or cases is missing; "
                         "make it with `twinstack score --json -o FILE`");
    read.name = readable(read.name, keep);
    read.version = readable(read.version, keep);
    read.edition = readable(read.edition, keep);
    if (read.name == NULL || read.version == NULL || read.edition == NULL)
        return fault_no_memory(fault, "results");
    struct matrix_tool *tool = tool_of(matrix, &read, keep);
    if (tool == NULL)
        return fault_no_memory(fault, "results");
    tool->wall_ms += wall_ms;
    tool->peak_bytes = peak_bytes > tool->peak_bytes ? peak_bytes : tool->peak_bytes;
    if (add_cases(matrix, tool, cases, fault) != ERR_NONE)
        return fault->code;
    return add_answers(matrix, tool, cJSON_GetObjectItemCaseSensitive(tree, "answers"), keep,
                       fault);
}

enum status matrix_add(struct matrix *matrix, const char *text, size_t bytes, struct arena *keep,
                       struct fault *fault)
{
    cJSON *tree = NULL;
    if (json_parse(text, bytes, &tree, fault) == ERR_NONE)
        (void)add_tree(matrix, tree, keep, fault);
    cJSON_Delete(tree);
    return fault->code;
}

enum status matrix_add_file(struct matrix *matrix, const char *path, struct arena *keep,
                            struct fault *fault)
{
    char *text = NULL;
    size_t bytes = 0;
    if (file_read(path, RESULT_BYTES_MAX, keep, &text, &bytes, fault) != ERR_NONE ||
        matrix_add(matrix, text, bytes, keep, fault) != ERR_NONE)
        fault_set_path(fault, path);
    return fault->code;
}

enum status matrix_add_score(struct matrix *matrix, const struct score *score, const char *when,
                             struct arena *keep, struct fault *fault)
{
    const struct matrix_tool read = {.name = readable(score->name.name, keep),
                                     .version = readable(score->name.version, keep),
                                     .bugs = score->name.bugs,
                                     .edition = matrix->suite->edition,
                                     .when = when};
    struct matrix_tool *tool =
        read.name != NULL && read.version != NULL ? tool_of(matrix, &read, keep) : NULL;
    if (tool == NULL)
        return fault_no_memory(fault, "results");
    tool->wall_ms += score->wall_ns / 1000000U;
    tool->peak_bytes = score->peak_bytes > tool->peak_bytes ? score->peak_bytes : tool->peak_bytes;
    tool->answers = score->answers;
    for (uint32_t i = 0; i < matrix->suite->count; i++) /* the same as result_write() writes */
        if (contestant_can(&score->name, matrix->suite->cases[i].capability))
            tool->outcomes[i] = (uint8_t)score->answers[i].outcome;
    return ERR_NONE;
}

const struct suite_answer *matrix_answer(const struct matrix_tool *tool, uint32_t case_index)
{
    const int outcome = tool->outcomes[case_index];
    return tool->answers != NULL && (outcome == SUITE_EARLY || outcome == SUITE_WRONG) &&
                   (int)tool->answers[case_index].outcome == outcome
               ? &tool->answers[case_index]
               : NULL;
}

/* ---- sums ------------------------------------------------------------------------------ */

uint32_t matrix_end(const struct matrix *matrix, uint32_t from, bool by_shape_too)
{
    const struct suite_case *cases = matrix->suite->cases;
    const struct suite_case *first = &cases[matrix->order[from]];
    uint32_t end = from + 1;
    while (end < matrix->suite->count) {
        const struct suite_case *c = &cases[matrix->order[end]];
        if (strcmp(c->capability, first->capability) != 0 ||
            (by_shape_too && strcmp(c->shape, first->shape) != 0))
            break;
        end++;
    }
    return end;
}

void matrix_count(const struct matrix *matrix, uint32_t tool, uint32_t from, uint32_t end,
                  uint32_t counts[MATRIX_OUTCOMES])
{
    memset(counts, 0, MATRIX_OUTCOMES * sizeof *counts);
    for (uint32_t i = from; i < end; i++)
        counts[matrix->tools[tool].outcomes[matrix->order[i]]]++;
}

bool matrix_covers(const uint32_t counts[MATRIX_OUTCOMES])
{
    for (int k = 0; k < MATRIX_OUTCOMES; k++)
        if (counts[k] > 0 && is_answer(k))
            return true;
    return false;
}

bool matrix_wrong_here_only(const struct matrix *matrix, uint32_t case_index, uint32_t *tool)
{
    bool found = false, other_right = false;
    for (uint32_t i = 0; i < matrix->count; i++) {
        const int outcome = matrix->tools[i].outcomes[case_index];
        if (!is_answer(outcome) || suite_outcome_rank((enum suite_outcome)outcome) < 2)
            continue;
        if (found && strcmp(matrix->tools[i].name, matrix->tools[*tool].name) != 0)
            return false;
        if (!found)
            *tool = i;
        found = true;
    }
    for (uint32_t i = 0; found && i < matrix->count; i++)
        other_right =
            other_right || (matrix->tools[i].outcomes[case_index] == SUITE_RIGHT &&
                            strcmp(matrix->tools[i].name, matrix->tools[*tool].name) != 0);
    return other_right;
}

const char *matrix_outcome_name(int outcome)
{
    return outcome == MATRIX_NOT_ASKED ? "not asked"
                                       : suite_outcome_name((enum suite_outcome)outcome);
}
