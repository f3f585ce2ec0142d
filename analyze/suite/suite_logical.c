/* Frames of addresses: functions, files and lines; see suite_logical.h. */
#include <string.h>

#include "base/json.h"
#include "suite/suite_logical.h"

enum { NAMES_MAX = 64, PARTS_MAX = 256 };

/* ---- reading --------------------------------------------------------------------------- */

static enum status read_names(const cJSON *frame, const char *key, struct arena *keep,
                              struct suite_names *out, struct fault *fault)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(frame, key);
    *out = (struct suite_names){.count = 0};
    if (value == NULL || cJSON_IsNull(value))
        return ERR_NONE;
    const int count = cJSON_IsArray(value) ? cJSON_GetArraySize(value) : 1;
    if (count > NAMES_MAX)
        return fault_set_hint(fault, ERR_LIMIT, FAULT_NO_OFFSET, "names", "more than 64");
    const char **names = ARENA_ARRAY(keep, (size_t)count + 1, const char *);
    if (names == NULL)
        return fault_no_memory(fault, "names");
    for (int i = 0; i < count; i++) {
        const cJSON *item = cJSON_IsArray(value) ? cJSON_GetArrayItem(value, i) : value;
        if (!cJSON_IsString(item))
            return fault_set_hint(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "names",
                                  "a name is a text, a list of texts, or null");
        names[i] = arena_string(keep, item->valuestring);
        if (names[i] == NULL)
            return fault_no_memory(fault, "names");
    }
    *out = (struct suite_names){names, (uint32_t)count};
    return ERR_NONE;
}

enum status suite_logical_read(const cJSON *frame, struct arena *keep, struct suite_frame *out,
                               struct fault *fault)
{
    const cJSON *inlined = cJSON_GetObjectItemCaseSensitive(frame, "inlined");
    const cJSON *line = cJSON_GetObjectItemCaseSensitive(frame, "line");

    *out = (struct suite_frame){.ip = 0};
    if (!cJSON_HasObjectItem(frame, "function"))
        return fault_set_hint(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "frames",
                              "each has a \"function\", which may be null");
    if (line != NULL && !cJSON_IsNull(line))
        out->line = (uint32_t)json_get_uint(frame, "line", UINT32_MAX, fault);
    if (cJSON_IsBool(inlined))
        out->inlined = cJSON_IsTrue(inlined) ? SUITE_INLINED : SUITE_NOT_INLINED;
    if (fault->code == ERR_NONE &&
        read_names(frame, "function", keep, &out->function, fault) == ERR_NONE)
        (void)read_names(frame, "file", keep, &out->file, fault);
    return fault->code;
}

static bool keep_names(struct suite_names *names, struct arena *keep)
{
    const char **copies = ARENA_ARRAY(keep, (size_t)names->count + 1, const char *);
    bool kept = copies != NULL;
    for (uint32_t i = 0; kept && i < names->count; i++) {
        copies[i] = arena_string(keep, names->names[i]);
        kept = copies[i] != NULL;
    }
    *names = (struct suite_names){kept ? copies : NULL, kept ? names->count : 0};
    return kept;
}

bool suite_logical_keep(struct suite_frame *frame, struct arena *keep)
{
    const bool kept = keep_names(&frame->function, keep);
    return keep_names(&frame->file, keep) && kept;
}

/* ---- comparison ------------------------------------------------------------------------ */

/* Blanks do not count, nor does a leading "::", nor parameters after a name that is accepted
 * without them. */
static bool same_name(const char *truth, const char *answer)
{
    answer += strncmp(answer, "::", 2) == 0 ? 2 : 0;
    for (;;) {
        truth += strspn(truth, " ");
        answer += strspn(answer, " ");
        if (*truth == '\0' || *truth != *answer)
            break;
        truth++;
        answer++;
    }
    return *truth == '\0' && (*answer == '\0' || *answer == '(');
}

struct part {
    const char *text;
    size_t bytes;
};

/* The parts of a path that are left when "." and ".." are followed. */
static uint32_t split_path(const char *path, struct part parts[PARTS_MAX])
{
    uint32_t count = 0;
    while (*path != '\0' && count < PARTS_MAX) {
        const size_t bytes = strcspn(path, "/\\");
        const bool is_up = bytes == 2 && strncmp(path, "..", 2) == 0;
        if (is_up && count > 0)
            count--;
        else if (bytes > 0 && !(bytes == 1 && path[0] == '.'))
            parts[count++] = (struct part){path, bytes};
        path += bytes + (path[bytes] != '\0');
    }
    return count;
}

static bool same_path(const char *truth, const char *answer)
{
    struct part a[PARTS_MAX], b[PARTS_MAX];
    const uint32_t count = split_path(truth, a), said = split_path(answer, b);
    const bool is_bare = strpbrk(answer, "/\\") == NULL;
    const uint32_t from = is_bare && count > 0 ? count - 1 : 0;
    if (said != count - from || (!is_bare && (truth[0] == '/') != (answer[0] == '/')))
        return false;
    for (uint32_t i = 0; i < said; i++)
        if (a[from + i].bytes != b[i].bytes || memcmp(a[from + i].text, b[i].text, b[i].bytes) != 0)
            return false;
    return true;
}

static enum walk_match match_names(const struct suite_names *truth,
                                   const struct suite_names *answer,
                                   bool (*same)(const char *truth, const char *answer))
{
    if (answer->count == 0)
        return truth->count == 0 ? WALK_SAME : WALK_LESS;
    for (uint32_t i = 0; i < truth->count; i++)
        if (same(truth->names[i], answer->names[0]))
            return WALK_SAME;
    return WALK_OTHER;
}

enum walk_match suite_logical_match(const struct suite_frame *truth,
                                    const struct suite_frame *answer)
{
    const enum walk_match function = match_names(&truth->function, &answer->function, same_name);
    const enum walk_match file = match_names(&truth->file, &answer->file, same_path);
    enum walk_match line = truth->line == answer->line ? WALK_SAME : WALK_OTHER;
    if (line == WALK_OTHER && answer->line == 0)
        line = WALK_LESS;
    enum walk_match worst = function > file ? function : file;
    worst = line > worst ? line : worst;
    if (truth->inlined != SUITE_INLINED_UNKNOWN && answer->inlined != SUITE_INLINED_UNKNOWN &&
        truth->inlined != answer->inlined)
        worst = WALK_OTHER;
    return worst;
}
