/* One case of a suite: see suite.h. */
#include <string.h>

#include "base/array.h"
#include "base/json.h"
#include "suite/suite_case.h"
#include "suite/suite_logical.h"

static uint64_t read_hex(const cJSON *frame, const char *key, struct fault *fault)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(frame, key);
    if (value == NULL || cJSON_IsNull(value))
        return SUITE_NO_SP;
    return json_get_hex(frame, key, 0, fault);
}

static enum status read_frame(const cJSON *frame, enum suite_kind kind, struct arena *keep,
                              struct suite_frame *out, struct fault *fault)
{
    if (kind == SUITE_ADDRESS)
        return suite_logical_read(frame, keep, out, fault);
    if (!cJSON_HasObjectItem(frame, "ip"))
        return fault_set_hint(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "frames",
                              "each has an \"ip\"");
    *out = (struct suite_frame){.ip = read_hex(frame, "ip", fault),
                                .sp = read_hex(frame, "sp", fault)};
    return fault->code;
}

enum status suite_walk_read(const cJSON *array, enum suite_kind kind, struct arena *keep,
                            struct suite_walk *out, struct fault *fault)
{
    const int count = cJSON_GetArraySize(array);
    const cJSON *frame;
    uint32_t i = 0;

    if (!cJSON_IsArray(array))
        return fault_set_hint(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "frames", "not an array");
    if (count > SUITE_WALK_MAX)
        return fault_set_hint(fault, ERR_LIMIT, FAULT_NO_OFFSET, "frames", "more than 1,024");
    struct suite_frame *frames = ARENA_ARRAY(keep, (size_t)count + 1, struct suite_frame);
    if (frames == NULL)
        return fault_no_memory(fault, "frames");
    cJSON_ArrayForEach(frame, array)
    {
        if (kind == SUITE_DUMP && cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(frame, "inlined")))
            continue;
        if (read_frame(frame, kind, keep, &frames[i], fault) != ERR_NONE)
            return fault->code;
        i++;
    }
    *out = (struct suite_walk){frames, i};
    return fault->code;
}

static enum status read_truth(const cJSON *truth, struct arena *keep, struct suite_case *out,
                              struct fault *fault)
{
    const char *level = json_get_string(truth, "level", keep, fault);
    const cJSON *accepted = cJSON_GetObjectItemCaseSensitive(truth, "accepted");
    const bool may = level != NULL && strcmp(level, "may") == 0;
    const int count = may ? cJSON_GetArraySize(accepted) : 1;
    struct suite_walk *walks = ARENA_ARRAY(keep, (size_t)count + 1, struct suite_walk);

    if (fault->code != ERR_NONE)
        return fault->code;
    if (walks == NULL)
        return fault_no_memory(fault, "truth");
    out->walks = walks;
    out->level = may ? SUITE_MAY : SUITE_MUST;
    if (level != NULL && strcmp(level, "unknown") == 0) {
        out->level = SUITE_UNKNOWN;
        return ERR_NONE;
    }
    if (level == NULL || (!may && strcmp(level, "must") != 0) || count == 0)
        return fault_set_hint(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "truth",
                              "\"must\" with frames, \"may\" with accepted, or \"unknown\"");
    out->walk_count = (uint32_t)count;
    out->whole = !may && json_get_bool(truth, "whole", false, fault);
    for (int i = 0; i < count && fault->code == ERR_NONE; i++)
        (void)suite_walk_read(may ? cJSON_GetArrayItem(accepted, i)
                                  : cJSON_GetObjectItemCaseSensitive(truth, "frames"),
                              out->kind, keep, &walks[i], fault);
    return fault->code;
}

/* What a contestant must not see is left out: truth, rule, shape. */
static const char *question_of(const cJSON *tree, struct arena *keep, struct fault *fault)
{
    static const char *const members[] = {"id",         "kind",  "processor",
                                          "capability", "needs", "given"};
    cJSON *question = cJSON_CreateObject();
    char *line = NULL;
    bool made = question != NULL;

    for (size_t i = 0; made && i < sizeof members / sizeof members[0]; i++) {
        cJSON *member = cJSON_GetObjectItemCaseSensitive(tree, members[i]);
        if (member == NULL) {
            (void)fault_set_hint(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "case",
                                 "a member of its question is missing");
            break;
        }
        made = cJSON_AddItemReferenceToObject(question, members[i], member) != 0;
    }
    char *text = made && fault->code == ERR_NONE ? cJSON_PrintUnformatted(question) : NULL;
    const size_t bytes = text != NULL ? strlen(text) : 0;
    if (text != NULL)
        line = arena_text(keep, text, bytes + 1);
    if (line != NULL)
        line[bytes] = '\n';
    if (line == NULL && fault->code == ERR_NONE)
        (void)fault_no_memory(fault, "case");
    cJSON_free(text);
    cJSON_Delete(question);
    return line;
}

static enum status read_conflicts(const cJSON *tree, struct arena *keep, struct suite_case *out,
                                  struct fault *fault)
{
    const cJSON *ids = cJSON_GetObjectItemCaseSensitive(tree, "conflicts_with"), *id;
    if (cJSON_GetArraySize(ids) == 0)
        return ERR_NONE;
    out->conflicts = ARENA_ARRAY(keep, (size_t)cJSON_GetArraySize(ids), const char *);
    if (out->conflicts == NULL)
        return fault_no_memory(fault, "case");
    cJSON_ArrayForEach(id, ids)
    {
        const char *copy = cJSON_IsString(id) ? arena_string(keep, id->valuestring) : "";
        if (copy == NULL)
            return fault_no_memory(fault, "case");
        if (copy[0] == 0)
            return fault_set_hint(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "conflicts_with",
                                  "its members are ids");
        out->conflicts[out->conflict_count++] = copy;
    }
    return ERR_NONE;
}

static bool read_kind(const char *word, enum suite_kind *out)
{
    static const char *const kinds[] = {"moment", "address", "dump"};
    for (size_t i = 0; word != NULL && i < COUNT_OF(kinds); i++)
        if (strcmp(word, kinds[i]) == 0) {
            *out = (enum suite_kind)i;
            return true;
        }
    return false;
}

static enum status read_tree(const cJSON *tree, struct arena *keep, struct suite_case *out,
                             bool *is_read, struct fault *fault)
{
    const char *kind = json_get_string(tree, "kind", keep, fault);
    out->id = json_get_string(tree, "id", keep, fault);
    *is_read = read_kind(kind, &out->kind);
    if (fault->code != ERR_NONE)
        return fault->code;
    if (out->id == NULL)
        return fault_set_hint(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "case", "it has no id");
    if (!*is_read)
        return ERR_NONE;
    const cJSON *rule = json_get_object(tree, "rule", fault);
    const cJSON *truth = json_get_object(tree, "truth", fault);
    out->capability = json_get_string(tree, "capability", keep, fault);
    out->processor = json_get_string(tree, "processor", keep, fault);
    out->shape = json_get_string(tree, "shape", keep, fault);
    out->position = json_get_string(tree, "position", keep, fault);
    out->rule = rule != NULL ? json_get_string(rule, "name", keep, fault) : NULL;
    out->rule_url = rule != NULL ? json_get_string(rule, "address", keep, fault) : NULL;
    if (fault->code == ERR_NONE &&
        (truth == NULL || out->capability == NULL || out->processor == NULL || out->shape == NULL ||
         out->position == NULL || out->rule == NULL))
        (void)fault_set_hint(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "case",
                             "processor, shape, position, rule, capability or truth is missing");
    if (fault->code == ERR_NONE && read_truth(truth, keep, out, fault) == ERR_NONE &&
        read_conflicts(tree, keep, out, fault) == ERR_NONE)
        out->question = question_of(tree, keep, fault);
    return fault->code;
}

enum status suite_case_read(const char *line, size_t bytes, struct arena *keep,
                            struct suite_case *out, bool *is_read, struct fault *fault)
{
    cJSON *tree = NULL;
    memset(out, 0, sizeof *out);
    if (json_parse(line, bytes, &tree, fault) == ERR_NONE)
        (void)read_tree(tree, keep, out, is_read, fault);
    cJSON_Delete(tree);
    return fault->code;
}
