/* See suite_make.h. Lists are kept in temporary files until all is there. */
#include "suite/suite_make.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/files.h"
#include "base/json.h"
#include "suite/suite_case.h"
#include "suite/suite_draft.h"
#include "suite/suite_index.h"

enum { INDEX_BYTES_MAX = 256 << 20, GROUPS_MAX = 256, PART_BYTES_MAX = 120 };

struct group {
    const char *name, *list;
    FILE *lines;
};

/* A file that was copied: many moments name it. */
struct taken {
    const char *path;
    const struct taken *next;
};

struct suite_maker {
    struct suite_make_request request;
    const struct taken *taken;
    cJSON *index; /* suite.json of the new suite */
    struct group groups[GROUPS_MAX];
    uint32_t group_count;
    struct suite_made_counts counts;
    struct arena *keep, scratch; /* SCRATCH: of one case */
};

static enum status copy(struct suite_maker *m, const char *name, struct fault *fault)
{
    const char *from = path_join(m->keep, m->request.base, name);
    const char *to = path_join(m->keep, m->request.out, name);
    const char *folder =
        to != NULL ? arena_text(m->keep, to, (size_t)(path_base(to) - to) - 1) : NULL;
    if (from == NULL || folder == NULL)
        return fault_no_memory(fault, "suite");
    return folder_make(folder, fault) == ERR_NONE ? file_copy(from, to, fault) : fault->code;
}

/* The base is read as any suite is, so its hashes are right and its paths are below it. */
static enum status copy_base(struct suite_maker *m, struct fault *fault)
{
    const cJSON *item;
    struct suite suite;
    char *text = NULL;
    size_t bytes = 0;
    const char *path = path_join(m->keep, m->request.base, "suite.json");
    if (path == NULL)
        return fault_no_memory(fault, "suite");
    if (suite_open(m->request.base, NULL, m->keep, &suite, fault) != ERR_NONE ||
        file_read(path, INDEX_BYTES_MAX, m->keep, &text, &bytes, fault) != ERR_NONE ||
        json_parse(text, bytes, &m->index, fault) != ERR_NONE)
        return fault->code;
    m->counts.base_cases = suite.count + suite.not_asked;
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(m->index, "lists"))
    {
        if (copy(m, cJSON_GetStringValue(item), fault) != ERR_NONE)
            return fault->code;
    }
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(m->index, "files"))
    {
        const cJSON *name = cJSON_GetObjectItemCaseSensitive(item, "path");
        if (copy(m, cJSON_GetStringValue(name), fault) != ERR_NONE)
            return fault->code;
    }
    return ERR_NONE;
}

/* suite.json with the edition, and all of its members. */
static bool complete_index(struct suite_maker *m)
{
    static const char *const lists[] = {"lists", "retired", "files"};
    cJSON *edition = cJSON_CreateString(m->request.edition);
    if (m->index != NULL) {
        if (!cJSON_ReplaceItemInObjectCaseSensitive(m->index, "edition", edition))
            return false;
    } else {
        m->index = cJSON_CreateObject();
        if (cJSON_AddNumberToObject(m->index, "suite", 1) == NULL ||
            !cJSON_AddItemToObject(m->index, "edition", edition))
            return false;
    }
    for (size_t i = 0; i < COUNT_OF(lists); i++)
        if (!cJSON_HasObjectItem(m->index, lists[i]) &&
            cJSON_AddArrayToObject(m->index, lists[i]) == NULL)
            return false;
    return true;
}

enum status suite_make_open(const struct suite_make_request *request, struct arena *keep,
                            struct suite_maker **out, struct fault *fault)
{
    struct suite_maker *m = ARENA_NEW(keep, struct suite_maker);
    const char *index = path_join(keep, request->out, "suite.json");
    *out = m;
    if (m == NULL || index == NULL)
        return fault_no_memory(fault, "suite");
    m->request = *request;
    m->keep = keep;
    arena_init(&m->scratch, 0);
    if (path_is_file(index)) {
        (void)fault_set_hint(fault, ERR_USAGE, FAULT_NO_OFFSET, "suite",
                             "there is one already; name a new folder");
        fault_set_path(fault, index);
        return fault->code;
    }
    if (folder_make(request->out, fault) != ERR_NONE ||
        (request->base != NULL && copy_base(m, fault) != ERR_NONE))
        return fault->code;
    return complete_index(m) ? ERR_NONE : fault_no_memory(fault, "suite");
}

void suite_make_close(struct suite_maker *maker)
{
    if (maker == NULL)
        return;
    for (uint32_t i = 0; i < maker->group_count; i++)
        if (maker->groups[i].lines != NULL)
            (void)fclose(maker->groups[i].lines);
    cJSON_Delete(maker->index);
    arena_free(&maker->scratch);
}

/* ---- images ------------------------------------------------------------------------------ */

static bool list_file(struct suite_maker *m, const char *path, const char *hash)
{
    cJSON *row = cJSON_CreateObject();
    return row != NULL &&
           cJSON_AddItemToArray(cJSON_GetObjectItemCaseSensitive(m->index, "files"), row) &&
           cJSON_AddStringToObject(row, "path", path) != NULL &&
           cJSON_AddStringToObject(row, "sha256", hash) != NULL &&
           cJSON_AddStringToObject(row, "licence", m->request.licence) != NULL;
}

static enum status copy_image(struct suite_maker *m, const char *path, struct fault *fault)
{
    const char *name = arena_printf(m->keep, "images/%s", path_base(path));
    const char *to = name != NULL ? path_join(m->keep, m->request.out, name) : NULL;
    const char *folder = path_join(m->keep, m->request.out, "images");
    char hash[65];
    if (to == NULL || folder == NULL)
        return fault_no_memory(fault, "suite");
    if (file_sha256(path, hash, fault) != ERR_NONE)
        return fault->code;
    const char *there = suite_index_hash(m->index, name);
    if (there != NULL && strcmp(there, hash) != 0) {
        (void)fault_set_hint(fault, ERR_USAGE, FAULT_NO_OFFSET, "image of a case",
                             "the suite has another file of that name");
        fault_set_path(fault, path);
    }
    if (there != NULL || folder_make(folder, fault) != ERR_NONE ||
        file_copy(path, to, fault) != ERR_NONE)
        return fault->code;
    m->counts.files++;
    return list_file(m, name, hash) ? ERR_NONE : fault_no_memory(fault, "suite");
}

static bool is_taken(const struct suite_maker *m, const char *path)
{
    for (const struct taken *one = m->taken; one != NULL; one = one->next)
        if (strcmp(one->path, path) == 0)
            return true;
    return false;
}

enum status suite_make_image(struct suite_maker *m, const char *path, struct fault *fault)
{
    if (is_taken(m, path))
        return ERR_NONE;
    struct taken *one = ARENA_NEW(m->keep, struct taken);
    const char *from = arena_string(m->keep, path);
    if (one == NULL || from == NULL)
        return fault_no_memory(fault, "suite");
    *one = (struct taken){from, m->taken};
    if (copy_image(m, path, fault) == ERR_NONE)
        m->taken = one;
    return fault->code;
}

/* ---- cases ------------------------------------------------------------------------------- */

/* A part of an id: lower-case letters, digits and hyphens, at most 120 of them. */
static const char *id_part(const char *text, const char *otherwise, struct arena *keep)
{
    char part[PART_BYTES_MAX + 1];
    size_t length = 0;
    for (; text != NULL && *text != 0 && length < PART_BYTES_MAX; text++) {
        const char c = *text >= 'A' && *text <= 'Z' ? (char)(*text - 'A' + 'a') : *text;
        const bool is_plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        if (is_plain)
            part[length++] = c;
        else if (length > 0 && part[length - 1] != '-')
            part[length++] = '-';
    }
    while (length > 0 && part[length - 1] == '-')
        length--;
    return length > 0 ? arena_text(keep, part, length) : otherwise;
}

static struct group *group_of(struct suite_maker *m, const char *name, struct fault *fault)
{
    for (uint32_t i = 0; i < m->group_count; i++)
        if (strcmp(m->groups[i].name, name) == 0)
            return &m->groups[i];
    if (m->group_count == GROUPS_MAX) {
        (void)fault_set(fault, ERR_LIMIT, FAULT_NO_OFFSET, "number of lists");
        return NULL;
    }
    struct group *group = &m->groups[m->group_count];
    group->name = arena_string(m->keep, name);
    group->list = arena_printf(m->keep, "moments/%s.ndjson", name);
    group->lines = group->list != NULL ? tmpfile() : NULL;
    if (group->name == NULL || group->lines == NULL) {
        (void)fault_set(fault, ERR_IO, FAULT_NO_OFFSET, "temporary file");
        return NULL;
    }
    m->group_count++;
    return group;
}

/* The facts that the draft lacks. */
static bool complete(const struct suite_maker *m, cJSON *draft, const char *group,
                     const struct suite_made *made, struct arena *keep)
{
    const char *cpu = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(draft, "processor"));
    const char *shape = id_part(made->shape, "code", keep);
    const char *id =
        cpu != NULL && shape != NULL
            ? arena_printf(keep, "moments/%s/%s/%s/%05" PRIu32, cpu, shape, group, made->number)
            : NULL;
    cJSON *rule = cJSON_AddObjectToObject(draft, "rule"), *module;
    bool done = id != NULL && cJSON_AddStringToObject(draft, "id", id) != NULL &&
                cJSON_AddStringToObject(draft, "shape", shape) != NULL &&
                cJSON_AddStringToObject(draft, "position", made->position) != NULL &&
                cJSON_AddStringToObject(draft, "licence", m->request.licence) != NULL &&
                cJSON_AddStringToObject(rule, "kind", "executed") != NULL &&
                cJSON_AddStringToObject(rule, "name", "the calls and returns of its run") != NULL &&
                cJSON_AddNullToObject(rule, "address") != NULL;
    cJSON *needs = done ? cJSON_AddArrayToObject(draft, "needs") : NULL;
    if (needs != NULL && strcmp(cpu, "x86") == 0)
        done = cJSON_AddItemToArray(needs, cJSON_CreateString("frame-data"));
    const cJSON *given = cJSON_GetObjectItemCaseSensitive(draft, "given");
    cJSON_ArrayForEach(module, cJSON_GetObjectItemCaseSensitive(given, "modules"))
    {
        const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(module, "path"));
        const char *path = name != NULL ? arena_printf(keep, "images/%s", path_base(name)) : NULL;
        done = done && path != NULL &&
               cJSON_ReplaceItemInObjectCaseSensitive(module, "path", cJSON_CreateString(path));
    }
    return done && needs != NULL;
}

static enum status add(struct suite_maker *m, cJSON *draft, const struct suite_made *made,
                       struct fault *fault)
{
    const char *name = id_part(made->group, "steps", &m->scratch);
    struct group *group = name != NULL ? group_of(m, name, fault) : NULL;
    struct suite_case read;
    bool is_read = false;
    uint32_t missing = 0;
    if (group == NULL || !complete(m, draft, name, made, &m->scratch))
        return fault->code != ERR_NONE ? fault->code : fault_no_memory(fault, "draft");
    const char *const *lacks = suite_draft_missing(draft, &m->scratch, &missing);
    if (lacks == NULL)
        return fault_no_memory(fault, "draft");
    if (missing > 0)
        return fault_set_lasting(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "draft", lacks[0]);
    const char *line = suite_draft_line(draft, &m->scratch, fault);
    if (line == NULL ||
        suite_case_read(line, strlen(line), &m->scratch, &read, &is_read, fault) != ERR_NONE)
        return fault->code;
    if (fputs(line, group->lines) == EOF)
        return fault_set(fault, ERR_IO, FAULT_NO_OFFSET, "temporary file");
    m->counts.must += read.level == SUITE_MUST;
    m->counts.may += read.level == SUITE_MAY;
    return ERR_NONE;
}

enum status suite_make_moment(struct suite_maker *m, const char *draft,
                              const struct suite_made *made, struct fault *fault)
{
    cJSON *tree = NULL;
    arena_reset(&m->scratch);
    if (json_parse(draft, strlen(draft), &tree, fault) == ERR_NONE)
        (void)add(m, tree, made, fault);
    cJSON_Delete(tree);
    return fault->code;
}

/* ---- the end ----------------------------------------------------------------------------- */

static enum status write_list(struct suite_maker *m, struct group *group, struct fault *fault)
{
    const char *path = path_join(m->keep, m->request.out, group->list);
    if (path == NULL)
        return fault_no_memory(fault, "suite");
    if (path_is_file(path)) {
        (void)fault_set_hint(fault, ERR_USAGE, FAULT_NO_OFFSET, "list of a suite",
                             "the suite that it starts from has one of that name");
        fault_set_path(fault, path);
        return fault->code;
    }
    return file_write_stream(path, group->lines, fault);
}

enum status suite_make_finish(struct suite_maker *m, struct suite_made_counts *counts,
                              struct fault *fault)
{
    cJSON *lists = cJSON_GetObjectItemCaseSensitive(m->index, "lists");
    const char *folder = path_join(m->keep, m->request.out, "moments");
    const char *index = path_join(m->keep, m->request.out, "suite.json");
    if (folder == NULL || index == NULL)
        return fault_no_memory(fault, "suite");
    if (folder_make(folder, fault) != ERR_NONE)
        return fault->code;
    for (uint32_t i = 0; i < m->group_count; i++) {
        if (write_list(m, &m->groups[i], fault) != ERR_NONE)
            return fault->code;
        if (!cJSON_AddItemToArray(lists, cJSON_CreateString(m->groups[i].list)))
            return fault_no_memory(fault, "suite");
    }
    *counts = m->counts;
    return suite_index_write(m->index, index, fault);
}
