/* See suite_add.h. */
#include "suite/suite_add.h"

#include <string.h>

#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "suite/suite_case.h"
#include "suite/suite_draft.h"
#include "suite/suite_index.h"

#define SYMBOLS_FOLDER "dumps/symbols"

enum { DRAFT_BYTES_MAX = 1 << 20, LIST_BYTES_MAX = 256 << 20, FILES_MAX = 32 };

struct added_file {
    const char *from, *path, *hash; /* PATH: below the suite's folder */
    const void *data;               /* of a file that was made; NULL: as FROM */
    size_t bytes;
    bool is_there; /* the suite has it */
};

struct adding {
    const char *folder, *draft_path;
    suite_scrub_fn *scrub;
    cJSON *index, *draft, *cases; /* CASES: drafts, too */
    const struct draft_kind *kind;
    struct added_file files[FILES_MAX];
    uint32_t file_count;
    bool listed; /* the list of additions was in suite.json */
    struct arena *keep;
    struct fault *fault;
};

static enum status read_tree(struct adding *a, const char *path, size_t max_bytes, cJSON **out)
{
    char *text = NULL;
    size_t bytes = 0;
    if (file_read(path, max_bytes, a->keep, &text, &bytes, a->fault) == ERR_NONE)
        (void)json_parse(text, bytes, out, a->fault);
    if (a->fault->code == ERR_NONE && !cJSON_IsObject(*out))
        (void)fault_set(a->fault, ERR_MALFORMED, FAULT_NO_OFFSET, "JSON object");
    if (a->fault->code != ERR_NONE)
        fault_set_path(a->fault, path);
    return a->fault->code;
}

/* ---- checks ---------------------------------------------------------------------------- */

/* A member with a wrong letter would be left out without a word. */
static enum status check_names(const struct adding *a, const cJSON *object, const char *known)
{
    const cJSON *member;
    cJSON_ArrayForEach(member, object)
    {
        if (member->string != NULL && text_list_has(known, member->string))
            continue;
        (void)fault_set_hint(a->fault, ERR_MALFORMED, FAULT_NO_OFFSET, "draft",
                             "this member is none of a case; see corpus/reference/schema.json");
        fault_set_path(a->fault, arena_string(a->keep, text_or_empty(member->string)));
        return a->fault->code;
    }
    return ERR_NONE;
}

#define CASE_MEMBERS                                                                               \
    "id,kind,processor,shape,position,rule,needs,conflicts_with,issues,os,capability,given,"       \
    "truth,known_by,licence"

static enum status check_members(const struct adding *a)
{
    const cJSON *thread;
    if (!a->kind->is_dump)
        return check_names(a, a->draft, CASE_MEMBERS);
    if (check_names(a, a->draft, CASE_MEMBERS ",threads") != ERR_NONE)
        return a->fault->code;
    cJSON_ArrayForEach(thread, cJSON_GetObjectItemCaseSensitive(a->draft, "threads"))
    {
        if (check_names(a, thread, "thread,position,truth,known_by") != ERR_NONE)
            return a->fault->code;
    }
    return ERR_NONE;
}

static enum status check_id(const struct adding *a, const struct suite *suite, const char *id)
{
    const cJSON *retired = cJSON_GetObjectItemCaseSensitive(a->index, "retired"), *one;
    bool used = false;
    for (uint32_t i = 0; i < suite->count; i++)
        used = used || strcmp(suite->cases[i].id, id) == 0;
    cJSON_ArrayForEach(one, retired)
    {
        const char *old = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(one, "id"));
        used = used || (old != NULL && strcmp(old, id) == 0);
    }
    if (used) {
        (void)fault_set_hint(a->fault, ERR_USAGE, FAULT_NO_OFFSET, "id",
                             "a case has or had it; an id is never used again");
        fault_set_path(a->fault, id);
    }
    return a->fault->code;
}

static enum status check_ids(const struct adding *a)
{
    const cJSON *one;
    struct suite suite;
    if (suite_open(a->folder, NULL, a->keep, &suite, a->fault) != ERR_NONE)
        return a->fault->code;
    cJSON_ArrayForEach(one, a->cases)
    {
        const char *id = json_get_string(one, "id", a->keep, a->fault);
        if (id == NULL || check_id(a, &suite, id) != ERR_NONE)
            return a->fault->code;
    }
    return ERR_NONE;
}

/* ---- files ----------------------------------------------------------------------------- */

static const char *path_from(const struct adding *a, const char *name)
{
    const size_t folder = (size_t)(path_base(a->draft_path) - a->draft_path);
    if (name[0] == '/' || name[0] == '\\' || strchr(name, ':') != NULL)
        return arena_string(a->keep, name);
    return arena_printf(a->keep, "%.*s%s", (int)folder, a->draft_path, name);
}

static enum status check_size(struct adding *a, const char *path)
{
    if (path_bytes(path) > SUITE_ADDED_FILE_BYTES_MAX)
        (void)fault_set_hint(a->fault, ERR_LIMIT, FAULT_NO_OFFSET, "file of a case",
                             "more than 2 MiB; make a smaller program that shows the same");
    return a->fault->code;
}

static enum status hash_file(struct adding *a, const char *path, const char **out)
{
    char hash[65];
    if (check_size(a, path) == ERR_NONE && file_sha256(path, hash, a->fault) == ERR_NONE) {
        *out = arena_string(a->keep, hash);
        if (*out == NULL)
            (void)fault_no_memory(a->fault, "draft");
    }
    if (a->fault->code != ERR_NONE)
        fault_set_path(a->fault, path);
    return a->fault->code;
}

/* suite_open() refuses other paths. */
static bool is_plain_name(const char *name)
{
    return name[0] != 0 && strstr(name, "..") == NULL &&
           name[strspn(name,
                       "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._+-")] == 0;
}

/* Whether the suite has FILE, or has another one of its name, which is a fault. What an addition
 * left that was interrupted has the same bytes, and is written again. */
static enum status find_file(struct adding *a, struct added_file *file)
{
    const char *target = path_join(a->keep, a->folder, file->path);
    const char *there = suite_index_hash(a->index, file->path), *found = there;
    if (target == NULL)
        return fault_no_memory(a->fault, "draft");
    if (there == NULL && path_is_file(target) && hash_file(a, target, &found) != ERR_NONE)
        return a->fault->code;
    for (const struct added_file *other = a->files; other < file; other++)
        if (strcmp(other->path, file->path) == 0)
            there = found = other->hash;
    if (found != NULL && strcmp(found, file->hash) != 0) {
        (void)fault_set_hint(a->fault, ERR_USAGE, FAULT_NO_OFFSET, "file of a case",
                             "the suite has another file of that name; give this one a new name");
        fault_set_path(a->fault, file->path);
    } else {
        file->is_there = there != NULL;
    }
    return a->fault->code;
}

/* One more file; NULL: there are too many. */
static struct added_file *new_file(struct adding *a)
{
    if (a->file_count < FILES_MAX)
        return &a->files[a->file_count++];
    (void)fault_set_hint(a->fault, ERR_LIMIT, FAULT_NO_OFFSET, "draft",
                         "it names more than 32 files");
    return NULL;
}

/* FILE has where it is from, and its path in the suite. */
static enum status place_file(struct adding *a, struct added_file *file)
{
    if (file->from == NULL || file->path == NULL)
        return fault_no_memory(a->fault, "draft");
    if (!is_plain_name(path_base(file->path))) {
        (void)fault_set_hint(a->fault, ERR_MALFORMED, FAULT_NO_OFFSET, "file of a case",
                             "its name has other characters than letters, digits and ._+-");
        fault_set_path(a->fault, file->from);
        return a->fault->code;
    }
    if (file->data != NULL) {
        char hash[65];
        text_sha256(file->data, file->bytes, hash);
        file->hash = arena_string(a->keep, hash);
        if (file->hash == NULL)
            return fault_no_memory(a->fault, "draft");
    } else if (hash_file(a, file->from, &file->hash) != ERR_NONE) {
        return a->fault->code;
    }
    return find_file(a, file);
}

/* Takes the file that KEY names, and names it as it is in the suite from now on. */
static enum status take_file(struct adding *a, cJSON *given, const char *key)
{
    const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(given, key));
    if (name == NULL)
        return ERR_NONE;
    struct added_file *file = new_file(a);
    if (file == NULL)
        return a->fault->code;
    file->from = path_from(a, name);
    file->path = arena_printf(a->keep, "%s/%s", a->kind->folder, path_base(name));
    if (place_file(a, file) == ERR_NONE &&
        !cJSON_ReplaceItemInObjectCaseSensitive(given, key, cJSON_CreateString(file->path)))
        return fault_no_memory(a->fault, "draft");
    return a->fault->code;
}

static enum status take_files(struct adding *a, cJSON *draft)
{
    cJSON *given = cJSON_GetObjectItemCaseSensitive(draft, "given"), *module;
    cJSON_ArrayForEach(module, cJSON_GetObjectItemCaseSensitive(given, "modules"))
    {
        if (take_file(a, module, "path") != ERR_NONE)
            return a->fault->code;
    }
    return take_file(a, given, "image") == ERR_NONE ? take_file(a, given, "symbols")
                                                    : a->fault->code;
}

/* ---- a dump ------------------------------------------------------------------------------ */

/* What the cases say of their threads. */
static enum status read_threads(struct adding *a, struct suite_dump_thread *out)
{
    cJSON *one;
    uint32_t count = 0;
    cJSON_ArrayForEach(one, a->cases)
    {
        const cJSON *given = cJSON_GetObjectItemCaseSensitive(one, "given");
        const char *line = suite_draft_line(one, a->keep, a->fault);
        struct suite_case read;
        bool is_read = false;
        if (line == NULL ||
            suite_case_read(line, strlen(line), a->keep, &read, &is_read, a->fault) != ERR_NONE)
            return a->fault->code;
        out[count++] =
            (struct suite_dump_thread){.id = (uint32_t)json_get_uint(given, "thread", 0, a->fault),
                                       .walks = read.walks,
                                       .walk_count = read.walk_count,
                                       .whole = read.whole};
    }
    return a->fault->code;
}

/* Names the files as they are in the suite from now on. */
static enum status rename_dump(struct adding *a, const char *dump)
{
    cJSON *one;
    cJSON_ArrayForEach(one, a->cases)
    {
        cJSON *given = cJSON_GetObjectItemCaseSensitive(one, "given");
        bool made =
            cJSON_ReplaceItemInObjectCaseSensitive(given, "dump", cJSON_CreateString(dump)) != 0;
        if (cJSON_IsString(cJSON_GetObjectItemCaseSensitive(given, "symbols")))
            made = made && cJSON_ReplaceItemInObjectCaseSensitive(
                               given, "symbols", cJSON_CreateString(SYMBOLS_FOLDER));
        if (!made)
            return fault_no_memory(a->fault, "draft");
    }
    return ERR_NONE;
}

static enum status place_dump(struct adding *a, const char *from, const struct suite_dump *dump)
{
    struct added_file *file = new_file(a);
    if (file == NULL)
        return a->fault->code;
    file->from = from;
    file->path = arena_printf(a->keep, "%s/%s", a->kind->folder, path_base(from));
    file->data = dump->data;
    file->bytes = dump->bytes;
    if (place_file(a, file) != ERR_NONE || rename_dump(a, file->path) != ERR_NONE)
        return a->fault->code;
    for (uint32_t i = 0; i < dump->file_count && a->fault->code == ERR_NONE; i++) {
        file = new_file(a);
        if (file == NULL)
            return a->fault->code;
        file->from = dump->files[i].from;
        file->path = arena_printf(a->keep, SYMBOLS_FOLDER "/%s", dump->files[i].place);
        (void)place_file(a, file);
    }
    return a->fault->code;
}

/* The dump is the same for all cases. */
static enum status take_dump(struct adding *a, struct suite_addition *out)
{
    const uint32_t count = (uint32_t)cJSON_GetArraySize(a->cases);
    const cJSON *given = cJSON_GetObjectItemCaseSensitive(a->cases->child, "given");
    const char *dump = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(given, "dump"));
    const char *symbols = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(given, "symbols"));
    struct suite_dump_thread *threads = ARENA_ARRAY(a->keep, count, struct suite_dump_thread);
    struct suite_dump made = {0};
    dump = path_from(a, dump);
    symbols = symbols != NULL ? path_from(a, symbols) : NULL;
    if (threads == NULL || dump == NULL)
        return fault_no_memory(a->fault, "draft");
    if (check_size(a, dump) != ERR_NONE) {
        fault_set_path(a->fault, dump);
        return a->fault->code;
    }
    if (read_threads(a, threads) != ERR_NONE) {
        fault_set_path(a->fault, a->draft_path);
        return a->fault->code;
    }
    if (a->scrub(dump, symbols, threads, count, a->keep, &made, a->fault) != ERR_NONE)
        return a->fault->code;
    out->kept_stacks = made.kept_stacks;
    return place_dump(a, dump, &made);
}

/* ---- writing --------------------------------------------------------------------------- */

/* A list that suite.json does not name is what an addition left that was interrupted. */
static enum status write_list(struct adding *a, const char *line)
{
    const char *path = path_join(a->keep, a->folder, a->kind->list);
    const char *folder =
        arena_printf(a->keep, "%s/%.*s", a->folder,
                     (int)(path_base(a->kind->list) - a->kind->list - 1), a->kind->list);
    char *before = NULL;
    size_t bytes = 0;
    if (path == NULL || folder == NULL)
        return fault_no_memory(a->fault, "list");
    if (folder_make(folder, a->fault) != ERR_NONE ||
        (a->listed && path_is_file(path) &&
         file_read(path, LIST_BYTES_MAX, a->keep, &before, &bytes, a->fault) != ERR_NONE))
        return a->fault->code;
    const struct file_part parts[] = {{.data = before, .bytes = bytes},
                                      {.data = line, .bytes = strlen(line)}};
    return file_write_parts(path, bytes > 0 ? parts : parts + 1, bytes > 0 ? 2 : 1, a->fault);
}

static bool add_file_row(cJSON *files, const struct added_file *file, const char *licence)
{
    cJSON *row = cJSON_CreateObject();
    return row != NULL && cJSON_AddItemToArray(files, row) &&
           cJSON_AddStringToObject(row, "path", file->path) != NULL &&
           cJSON_AddStringToObject(row, "sha256", file->hash) != NULL &&
           cJSON_AddStringToObject(row, "licence", licence) != NULL;
}

/* suite.json with the list, the files and the edition. */
static bool extend_index(struct adding *a, const char *edition)
{
    const char *licence =
        cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(a->draft, "licence"));
    cJSON *lists = cJSON_GetObjectItemCaseSensitive(a->index, "lists"), *list;
    cJSON *files = cJSON_GetObjectItemCaseSensitive(a->index, "files");
    cJSON_ArrayForEach(list, lists)
    {
        a->listed = a->listed || strcmp(cJSON_GetStringValue(list), a->kind->list) == 0;
    }
    if (files == NULL)
        files = cJSON_AddArrayToObject(a->index, "files");
    bool made = files != NULL &&
                (a->listed || cJSON_AddItemToArray(lists, cJSON_CreateString(a->kind->list)));
    for (uint32_t i = 0; made && i < a->file_count; i++)
        made = a->files[i].is_there || add_file_row(files, &a->files[i], licence);
    return made && (edition == NULL || cJSON_ReplaceItemInObjectCaseSensitive(
                                           a->index, "edition", cJSON_CreateString(edition)));
}

static enum status write_file(struct adding *a, const struct added_file *file)
{
    const char *to = path_join(a->keep, a->folder, file->path);
    if (to == NULL)
        return fault_no_memory(a->fault, "suite");
    const char *folder = arena_text(a->keep, to, (size_t)(path_base(to) - to) - 1);
    if (folder == NULL)
        return fault_no_memory(a->fault, "suite");
    if (folder_make(folder, a->fault) != ERR_NONE)
        return a->fault->code;
    return file->data != NULL ? file_write(to, file->data, file->bytes, a->fault)
                              : file_copy(file->from, to, a->fault);
}

static enum status write_all(struct adding *a, const char *index_path, const char *lines,
                             const char *edition, struct suite_addition *out)
{
    if (!extend_index(a, edition))
        return fault_no_memory(a->fault, "suite");
    for (uint32_t i = 0; i < a->file_count && a->fault->code == ERR_NONE; i++)
        if (!a->files[i].is_there && write_file(a, &a->files[i]) == ERR_NONE)
            out->copied++;
    /* Whatever interrupts this, the suite can be read and the draft be added again. */
    if (a->fault->code == ERR_NONE && a->listed)
        (void)suite_index_write(a->index, index_path, a->fault);
    if (a->fault->code == ERR_NONE && write_list(a, lines) == ERR_NONE && !a->listed)
        (void)suite_index_write(a->index, index_path, a->fault);
    return a->fault->code;
}

/* The lines of all cases, which can be read; NULL: a fault. */
static const char *lines_of(struct adding *a)
{
    const char *lines = "";
    cJSON *one;
    cJSON_ArrayForEach(one, a->cases)
    {
        struct suite_case read;
        bool is_read = false;
        const char *line = suite_draft_line(one, a->keep, a->fault);
        if (line == NULL)
            return NULL;
        if (suite_case_read(line, strlen(line), a->keep, &read, &is_read, a->fault) != ERR_NONE) {
            fault_set_path(a->fault, a->draft_path);
            return NULL;
        }
        lines = arena_printf(a->keep, "%s%s", lines, line);
        if (lines == NULL) {
            (void)fault_no_memory(a->fault, "draft");
            return NULL;
        }
    }
    return lines;
}

static enum status add(struct adding *a, const char *index_path, const char *edition,
                       struct suite_addition *out)
{
    a->kind = suite_draft_kind(a->draft);
    if (check_members(a) != ERR_NONE)
        return a->fault->code;
    a->cases = suite_draft_cases(a->draft);
    out->missing = suite_draft_missing(a->draft, a->keep, &out->missing_count);
    if (out->missing == NULL || a->cases == NULL)
        return fault_no_memory(a->fault, "draft");
    if (out->missing_count > 0)
        return ERR_NONE;
    out->id = json_get_string(a->draft, "id", a->keep, a->fault);
    out->list = a->kind->list;
    out->cases = (uint32_t)cJSON_GetArraySize(a->cases);
    if (out->id == NULL || check_ids(a) != ERR_NONE)
        return a->fault->code;
    if ((a->kind->is_dump ? take_dump(a, out) : take_files(a, a->cases->child)) != ERR_NONE)
        return a->fault->code;
    const char *lines = lines_of(a);
    return lines != NULL ? write_all(a, index_path, lines, edition, out) : a->fault->code;
}

enum status suite_add(const struct suite_add_request *request, struct arena *keep,
                      struct suite_addition *out, struct fault *fault)
{
    struct adding a = {.folder = request->folder,
                       .draft_path = request->draft,
                       .scrub = request->scrub,
                       .keep = keep,
                       .fault = fault};
    const char *path = path_join(keep, request->folder, "suite.json");
    *out = (struct suite_addition){0};
    if (path == NULL)
        return fault_no_memory(fault, "suite");
    if (read_tree(&a, path, LIST_BYTES_MAX, &a.index) == ERR_NONE &&
        read_tree(&a, request->draft, DRAFT_BYTES_MAX, &a.draft) == ERR_NONE)
        (void)add(&a, path, request->edition, out);
    cJSON_Delete(a.index);
    cJSON_Delete(a.draft);
    cJSON_Delete(a.cases);
    return fault->code;
}
