/* What a draft lacks, and the line that it becomes: see suite_add.h. */
#include <string.h>

#include "base/array.h"
#include "base/json.h"
#include "suite/suite_parts.h"

static const char *text_of(const cJSON *object, const char *key)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, key));
    return text != NULL && text[0] != 0 ? text : NULL;
}

static bool is_one_of(const char *text, const char *const *words)
{
    for (; text != NULL && *words != NULL; words++)
        if (strcmp(text, *words) == 0)
            return true;
    return false;
}

static bool has_letters(const char *text, const char *letters)
{
    return text != NULL && text[0] != 0 && text[strspn(text, letters)] == 0;
}

static bool has_id(const cJSON *draft)
{
    const char *id = text_of(draft, "id");
    return id != NULL && strncmp(id, "addresses/", 10) == 0 && strstr(id, "//") == NULL &&
           id[strlen(id) - 1] != '/' &&
           has_letters(id + 10, "abcdefghijklmnopqrstuvwxyz0123456789-/");
}

static bool has_kind(const cJSON *draft)
{
    return is_one_of(text_of(draft, "kind"), (const char *const[]){"address", NULL});
}

static bool has_place(const cJSON *draft)
{
    return is_one_of(text_of(draft, "processor"),
                     (const char *const[]){"x64", "arm64", "x86", "arm", NULL}) &&
           text_of(draft, "shape") != NULL && text_of(draft, "position") != NULL;
}

static bool has_rule(const cJSON *draft)
{
    const cJSON *rule = cJSON_GetObjectItemCaseSensitive(draft, "rule");
    const cJSON *address = cJSON_GetObjectItemCaseSensitive(rule, "address");
    const char *url = cJSON_GetStringValue(address);
    return is_one_of(text_of(rule, "kind"),
                     (const char *const[]){"page", "standard", "vendor source", "thread",
                                           "executed", NULL}) &&
           text_of(rule, "name") != NULL &&
           (cJSON_IsNull(address) || (url != NULL && strncmp(url, "https://", 8) == 0));
}

static bool has_capability(const cJSON *draft)
{
    return is_one_of(text_of(draft, "capability"),
                     (const char *const[]){"addresses.pdb", "addresses.dwarf", NULL});
}

static bool has_given(const cJSON *draft)
{
    const cJSON *given = cJSON_GetObjectItemCaseSensitive(draft, "given");
    const char *rva = text_of(given, "rva");
    return (text_of(given, "image") != NULL || text_of(given, "symbols") != NULL) && rva != NULL &&
           strncmp(rva, "0x", 2) == 0 && has_letters(rva + 2, "0123456789abcdef") &&
           is_one_of(text_of(given, "lookup"),
                     (const char *const[]){"interrupted", "return", NULL});
}

static bool is_known(const cJSON *frame, const char *key)
{
    const cJSON *member = cJSON_GetObjectItemCaseSensitive(frame, key);
    return member != NULL && !cJSON_IsNull(member);
}

/* A frame of which nothing is known would accept any answer. */
static bool has_frames(const cJSON *frames)
{
    const cJSON *frame;
    cJSON_ArrayForEach(frame, frames)
    {
        if (!cJSON_HasObjectItem(frame, "function") || !cJSON_HasObjectItem(frame, "file") ||
            !cJSON_HasObjectItem(frame, "line") || !cJSON_HasObjectItem(frame, "inlined") ||
            !(is_known(frame, "function") || is_known(frame, "file") || is_known(frame, "line")))
            return false;
    }
    return cJSON_IsArray(frames);
}

static bool has_truth(const cJSON *draft)
{
    const cJSON *truth = cJSON_GetObjectItemCaseSensitive(draft, "truth");
    const cJSON *frames = cJSON_GetObjectItemCaseSensitive(truth, "frames");
    const cJSON *accepted = cJSON_GetObjectItemCaseSensitive(truth, "accepted"), *one;
    const char *level = text_of(truth, "level");
    if (level == NULL)
        return false;
    if (strcmp(level, "must") == 0)
        return cJSON_GetArraySize(frames) > 0 && has_frames(frames);
    if (strcmp(level, "unknown") == 0)
        return frames == NULL && accepted == NULL;
    cJSON_ArrayForEach(one, accepted)
    {
        if (!has_frames(one))
            return false;
    }
    return strcmp(level, "may") == 0 && cJSON_GetArraySize(accepted) > 0;
}

/* Two that differ for a must; a walk of ours would only agree with itself. */
static bool has_witnesses(const cJSON *draft)
{
    const cJSON *witnesses = cJSON_GetObjectItemCaseSensitive(draft, "known_by"), *one, *other;
    const char *level = text_of(cJSON_GetObjectItemCaseSensitive(draft, "truth"), "level");
    const int least = level != NULL && strcmp(level, "must") != 0 ? 1 : 2;
    cJSON_ArrayForEach(one, witnesses)
    {
        const char *name = cJSON_GetStringValue(one);
        if (name == NULL || name[0] == 0 || strncmp(name, "twinstack", 9) == 0)
            return false;
        for (other = one->next; other != NULL; other = other->next)
            if (cJSON_Compare(one, other, true) != 0)
                return false;
    }
    return cJSON_IsArray(witnesses) && cJSON_GetArraySize(witnesses) >= least;
}

static bool has_licence(const cJSON *draft)
{
    return text_of(draft, "licence") != NULL;
}

const char *const *suite_draft_missing(const cJSON *draft, struct arena *keep, uint32_t *count)
{
    static const struct {
        bool (*has)(const cJSON *draft);
        const char *words;
    } facts[] = {
        {has_kind, "\"kind\": \"address\"; moments and dumps are made by corpus/make_reference.py"},
        {has_id, "\"id\": a path of its own, \"addresses/x64/inline/issue-123\", of lower-case "
                 "letters, digits and hyphens"},
        {has_place, "\"processor\" (x64, arm64, x86, arm), \"shape\" and \"position\": texts"},
        {has_given, "\"given\": {\"image\": FILE, \"symbols\": FILE or null, \"rva\": \"0x...\", "
                    "\"lookup\": \"interrupted\" or \"return\"}"},
        {has_capability, "\"capability\": \"addresses.pdb\" or \"addresses.dwarf\""},
        {has_truth, "\"truth\": {\"level\": \"must\", \"frames\": [...]}, {\"level\": \"may\", "
                    "\"accepted\": [[...], ...]} or {\"level\": \"unknown\"}; a frame has "
                    "\"function\", \"file\", \"line\", \"inlined\""},
        {has_rule, "\"rule\": {\"kind\": \"page\", \"standard\", \"vendor source\", \"thread\" or "
                   "\"executed\", \"name\": what decides, \"address\": \"https://...\" or null}"},
        {has_witnesses, "\"known_by\": two witnesses of a must, one of any other, none of them "
                        "twinstack and none twice"},
        {has_licence, "\"licence\": of its files, \"MIT\""},
    };
    const char **missing = ARENA_ARRAY(keep, COUNT_OF(facts), const char *);
    *count = 0;
    for (size_t i = 0; missing != NULL && i < COUNT_OF(facts); i++)
        if (!facts[i].has(draft))
            missing[(*count)++] = facts[i].words;
    return missing;
}

/* The schema has lists of names only. */
static bool list_names(cJSON *frames)
{
    static const char *const keys[] = {"function", "file"};
    cJSON *frame;
    cJSON_ArrayForEach(frame, frames)
    {
        for (size_t i = 0; i < COUNT_OF(keys); i++) {
            cJSON *name = cJSON_GetObjectItemCaseSensitive(frame, keys[i]);
            cJSON *list = cJSON_IsString(name) ? cJSON_CreateArray() : NULL;
            if (!cJSON_IsString(name))
                continue;
            if (list == NULL ||
                !cJSON_AddItemToArray(list, cJSON_CreateString(name->valuestring)) ||
                !cJSON_ReplaceItemInObjectCaseSensitive(frame, keys[i], list))
                return false;
        }
    }
    return true;
}

const char *suite_draft_line(cJSON *draft, struct arena *keep, struct fault *fault)
{
    static const char *const members[] = {
        "id",     "kind", "processor",  "shape", "position", "rule",    "needs", "conflicts_with",
        "issues", "os",   "capability", "given", "truth",    "known_by"};
    cJSON *truth = cJSON_GetObjectItemCaseSensitive(draft, "truth"), *walk;
    cJSON *line = cJSON_CreateObject();
    const char *kept = NULL;
    bool made = line != NULL && list_names(cJSON_GetObjectItemCaseSensitive(truth, "frames"));

    cJSON_ArrayForEach(walk, cJSON_GetObjectItemCaseSensitive(truth, "accepted"))
    {
        made = made && list_names(walk);
    }
    for (size_t i = 0; made && i < COUNT_OF(members); i++) {
        cJSON *member = cJSON_GetObjectItemCaseSensitive(draft, members[i]);
        if (member != NULL)
            made = cJSON_AddItemReferenceToObject(line, members[i], member) != 0;
        else if (strcmp(members[i], "os") == 0)
            made = cJSON_AddNullToObject(line, members[i]) != NULL;
        else
            made = cJSON_AddArrayToObject(line, members[i]) != NULL;
    }
    char *text = made ? cJSON_PrintUnformatted(line) : NULL;
    if (text != NULL)
        kept = arena_printf(keep, "%s\n", text);
    if (kept == NULL)
        (void)fault_no_memory(fault, "case");
    cJSON_free(text);
    cJSON_Delete(line);
    return kept;
}
