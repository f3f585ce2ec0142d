/* The files of a suite: see suite.h. */
#include "suite/suite.h"

#include <string.h>

#include "base/array.h"
#include "base/expression.h"
#include "base/files.h"
#include "base/json.h"
#include "suite/suite_case.h"

enum { SUITE_FILE_BYTES_MAX = 256 << 20, SUITE_CASES_MAX = 10000000 };

struct reading {
    struct suite *out;
    const char *expr;
    struct arena *keep;
    uint32_t room;
    struct fault *fault;
};

static bool word_is_true(const void *context, const char *word)
{
    static const char *const levels[] = {"must", "may", "unknown"};
    const struct suite_case *c = context;
    return strstr(c->id, word) != NULL || strstr(c->shape, word) != NULL ||
           strstr(c->position, word) != NULL || strstr(c->capability, word) != NULL ||
           strcmp(levels[c->level], word) == 0;
}

/* A path of suite.json leads to a file below the folder. */
static const char *path_in(struct reading *r, const cJSON *name)
{
    const char *text = cJSON_GetStringValue(name);
    if (text == NULL || text[0] == '/' || text[0] == '\\' || strstr(text, "..") != NULL ||
        strchr(text, ':') != NULL) {
        (void)fault_set_hint(r->fault, ERR_MALFORMED, FAULT_NO_OFFSET, "suite.json",
                             "a path is not below the suite's folder");
        return NULL;
    }
    const char *path = path_join(r->keep, r->out->folder, text);
    if (path == NULL)
        (void)fault_no_memory(r->fault, "suite");
    return path;
}

static enum status add_case(struct reading *r, const char *line, size_t bytes)
{
    struct suite *out = r->out;
    struct suite_case c;
    bool is_read = false, selected = false;

    if (suite_case_read(line, bytes, r->keep, &c, &is_read, r->fault) != ERR_NONE)
        return r->fault->code;
    out->not_asked += !is_read;
    if (!is_read || expression_of(r->expr, word_is_true, &c, &selected, r->fault) != ERR_NONE ||
        !selected)
        return r->fault->code;
    if (out->count == SUITE_CASES_MAX ||
        !ARENA_ROOM(r->keep, out->cases, r->room, (uint64_t)out->count + 1))
        return fault_no_memory(r->fault, "suite");
    out->cases[out->count++] = c;
    return ERR_NONE;
}

static enum status read_list(struct reading *r, const char *path)
{
    char *text = NULL;
    size_t bytes = 0;
    if (file_read(path, SUITE_FILE_BYTES_MAX, r->keep, &text, &bytes, r->fault) != ERR_NONE)
        return r->fault->code;
    for (size_t at = 0; at < bytes && r->fault->code == ERR_NONE;) {
        const char *end = memchr(text + at, '\n', bytes - at);
        const size_t length = end != NULL ? (size_t)(end - text) - at : bytes - at;
        if (length > 0 && add_case(r, text + at, length) != ERR_NONE) {
            if (r->fault->code == ERR_MALFORMED)
                r->fault->offset =
                    at + (r->fault->offset != FAULT_NO_OFFSET ? r->fault->offset : 0);
            fault_set_path(r->fault, path);
        }
        at += length + 1;
    }
    return r->fault->code;
}

/* A changed image gives other answers, which would count against the contestant. */
static enum status check_file(struct reading *r, const cJSON *file)
{
    const char *path = path_in(r, cJSON_GetObjectItemCaseSensitive(file, "path"));
    const char *want = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(file, "sha256"));
    char got[65];

    if (path == NULL || file_sha256(path, got, r->fault) != ERR_NONE)
        return r->fault->code;
    if (want == NULL || strcmp(got, want) != 0) {
        (void)fault_set_hint(r->fault, ERR_MALFORMED, FAULT_NO_OFFSET, "hash",
                             "not that of suite.json; fetch the folder again");
        fault_set_path(r->fault, path);
    }
    return r->fault->code;
}

static enum status read_index(struct reading *r, const cJSON *index)
{
    const cJSON *item;
    const cJSON *files = json_get_array(index, "files", r->fault);
    const cJSON *lists = json_get_array(index, "lists", r->fault);

    r->out->edition = json_get_string(index, "edition", r->keep, r->fault);
    if (r->fault->code != ERR_NONE)
        return r->fault->code;
    if (json_get_uint(index, "suite", 0, r->fault) != 1 || r->out->edition == NULL || lists == NULL)
        return fault_set_hint(r->fault, ERR_MALFORMED, FAULT_NO_OFFSET, "suite.json",
                              "not of version 1 of the suite, or without edition or lists");
    cJSON_ArrayForEach(item, files)
    {
        if (check_file(r, item) != ERR_NONE)
            return r->fault->code;
    }
    cJSON_ArrayForEach(item, lists)
    {
        const char *path = path_in(r, item);
        if (path == NULL || read_list(r, path) != ERR_NONE)
            return r->fault->code;
    }
    return ERR_NONE;
}

enum status suite_open(const char *folder, const char *expr, struct arena *keep, struct suite *out,
                       struct fault *fault)
{
    struct reading r = {.out = out, .expr = expr, .keep = keep, .fault = fault};
    cJSON *index = NULL;
    char *text = NULL;
    size_t bytes = 0;

    memset(out, 0, sizeof *out);
    out->folder = path_absolute(folder, keep);
    if (out->folder == NULL) {
        (void)fault_set_hint(fault, ERR_ABSENT, FAULT_NO_OFFSET, "suite",
                             "a folder with suite.json is needed: --suite DIR");
        fault_set_path(fault, folder);
        return fault->code;
    }
    const char *path = path_join(keep, out->folder, "suite.json");
    if (path == NULL)
        return fault_no_memory(fault, "suite");
    if (file_read(path, SUITE_FILE_BYTES_MAX, keep, &text, &bytes, fault) == ERR_NONE &&
        json_parse(text, bytes, &index, fault) == ERR_NONE)
        (void)read_index(&r, index);
    cJSON_Delete(index);
    if (fault->code != ERR_NONE)
        fault_set_path(fault, path);
    return fault->code;
}
