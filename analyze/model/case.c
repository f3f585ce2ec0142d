/* Reading, verifying and sealing a case: see case.h.
 *
 * case.json is written in one fixed order and spelling, so sealing the same case twice
 * gives the same bytes.  A case is input like any other: its paths may name files of its
 * own folder, or of the run's folder two levels up (the shared symbol store), and nothing
 * else on the machine. */
#include "model/case.h"

#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "model/names.h"

enum {
    CASE_JSON_MAX_BYTES = 4 << 20,
    SEAL_MAX_BYTES = 256,
    SHA256_DIGITS = 64,
    CASE_LEVELS_UP = 2, /* from cases/SCENARIO.VARIANT to the run's folder */
};

static const char *const role_names[] = {
    [ROLE_RECORD] = "record", [ROLE_DUMP] = "dump", [ROLE_TRUTH] = "truth",
    [ROLE_IMAGE] = "image",   [ROLE_PDB] = "pdb",   [ROLE_STDOUT] = "stdout",
    [ROLE_OTHER] = "other",
};

const char *case_role_name(enum case_role role)
{
    return role_names[role];
}

static enum case_role role_find(const char *name)
{
    const int found = name_index(role_names, ROLE_OTHER, name);
    return found < 0 ? ROLE_OTHER : (enum case_role)found; /* written by a newer program: kept, not
                                                            * used */
}

static const char *const kind_names[CASE_KIND_COUNT] = {
    [CASE_KIND_CRASH] = "crash",
    [CASE_KIND_HANG] = "hang",
    [CASE_KIND_CALM] = "calm",
    [CASE_KIND_STACKS] = "stacks",
};

const char *case_kind_name(enum case_kind kind)
{
    return kind_names[kind];
}

enum case_kind case_kind_parse(const char *text)
{
    const int found = name_index(kind_names, CASE_KIND_COUNT, text);
    return found < 0 ? CASE_KIND_NONE : (enum case_kind)found;
}

static const char *const ending_names[CASE_ENDING_COUNT] = {
    [CASE_ENDING_EXIT] = "exit",
    [CASE_ENDING_TIME_LIMIT] = "time_limit",
};

/* "exit", "time_limit"; NULL for none. */
static const char *case_ending_name(enum case_ending ending)
{
    return ending_names[ending];
}

enum case_ending case_ending_parse(const char *text)
{
    const int found = name_index(ending_names, CASE_ENDING_COUNT, text);
    return found < 0 ? CASE_ENDING_NONE : (enum case_ending)found;
}

/* A relative path, '/' separated, of at most CASE_LEVELS_UP leading "..". */
static bool path_is_inside(const char *path)
{
    int up = 0;
    bool below = false;

    if (path[0] == '\0' || path[0] == '/' || strpbrk(path, "\\:") != NULL)
        return false;
    while (*path != '\0') {
        const size_t length = strcspn(path, "/");
        if (length == 2 && strncmp(path, "..", 2) == 0) {
            if (below || ++up > CASE_LEVELS_UP)
                return false;
        } else if (length == 0) {
            return false;
        } else {
            below = true;
        }
        path += length;
        if (*path == '/' && *++path == '\0')
            return false;
    }
    return below;
}

static bool is_sha256(const char *text)
{
    return text != NULL && strlen(text) == SHA256_DIGITS &&
           strspn(text, "0123456789abcdef") == SHA256_DIGITS;
}

static void read_tools(const cJSON *root, struct arena *keep, struct crash_case *out,
                       struct fault *fault)
{
    const cJSON *list = json_get_array(root, "tools", fault);
    const cJSON *item;

    out->tools = ARENA_ARRAY(keep, (size_t)cJSON_GetArraySize(list) + 1, struct named_version);
    if (out->tools == NULL) {
        fault_no_memory(fault, "tools");
        return;
    }
    cJSON_ArrayForEach(item, list)
    {
        struct named_version *tool = &out->tools[out->tool_count++];
        tool->name = json_get_string(item, "name", keep, fault);
        tool->version = json_get_string(item, "version", keep, fault);
    }
}

static void read_files(const cJSON *root, struct arena *keep, struct crash_case *out,
                       struct fault *fault)
{
    const cJSON *list = json_get_array(root, "files", fault);
    const cJSON *item;

    out->files = ARENA_ARRAY(keep, (size_t)cJSON_GetArraySize(list) + 1, struct case_file);
    if (out->files == NULL) {
        fault_no_memory(fault, "files");
        return;
    }
    cJSON_ArrayForEach(item, list)
    {
        struct case_file *file = &out->files[out->file_count++];
        const char *sha256 = json_get_string(item, "sha256", keep, fault);
        file->role = role_find(json_get_string(item, "role", keep, fault));
        file->path = json_get_string(item, "path", keep, fault);
        file->bytes = json_get_uint(item, "bytes", 0, fault);
        if (fault->code != ERR_NONE)
            return;
        if (file->path == NULL || !path_is_inside(file->path)) {
            fault_set_hint(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "path of a file",
                           "relative, and inside the run's folder");
            return;
        }
        if (!is_sha256(sha256)) {
            fault_set(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "sha256 of a file");
            return;
        }
        memcpy(file->sha256, sha256, SHA256_DIGITS + 1);
    }
}

static const char *need_text(const cJSON *object, const char *key, struct arena *keep,
                             struct fault *fault)
{
    const char *text = json_get_string(object, key, keep, fault);
    if (text == NULL)
        fault_set_lasting(fault, ERR_MALFORMED, FAULT_NO_OFFSET, key, "this member is missing");
    return text != NULL ? text : "";
}

static enum status read_document(const cJSON *root, struct arena *keep, struct crash_case *out,
                                 struct fault *fault)
{
    const uint64_t version = json_get_uint(root, "schema_version", 0, fault);

    if (!cJSON_IsObject(root) || version == 0)
        return fault_set(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "schema_version of the case");
    if (version > CASE_SCHEMA_VERSION)
        return fault_set_reason(fault, ERR_UNSUPPORTED, "schema_version of the case", FAULT_NEWER,
                                "it was sealed by a newer twinstack");
    out->scenario = need_text(root, "scenario", keep, fault);
    out->variant = need_text(root, "variant", keep, fault);
    out->arch = cpu_parse(need_text(root, "arch", keep, fault));
    out->kind = case_kind_parse(need_text(root, "kind", keep, fault));

    const cJSON *part = json_get_object(root, "expect", fault);
    out->expect.code = json_get_hex(part, "code", 0, fault);
    out->expect.exit_code = json_get_hex(part, "exit_code", 0, fault);
    out->expect.hooks = hooks_read(part, fault);
    out->expect.output = json_get_string(part, "output", keep, fault);
    out->expect.subjects =
        json_get_texts(part, "subjects", keep, &out->expect.subject_count, fault);

    part = json_get_object(root, "got", fault);
    out->got.code = json_get_hex(part, "code", 0, fault);
    out->got.exit_code = json_get_hex(part, "exit_code", 0, fault);
    out->got.hooks = hooks_read(part, fault);
    out->got.wall_ms = json_get_uint(part, "wall_ms", 0, fault);
    out->got.ended_by = case_ending_parse(json_get_string(part, "ended_by", keep, fault));

    part = json_get_object(root, "own", fault);
    out->own.images = json_get_texts(part, "images", keep, &out->own.image_count, fault);
    out->own.source_root = json_get_string(part, "source_root", keep, fault);

    part = json_get_object(root, "host", fault);
    out->host.os = json_get_string(part, "os", keep, fault);
    out->host.wine = json_get_string(part, "wine", keep, fault);
    out->host.cpu = json_get_string(part, "cpu", keep, fault);

    part = json_get_object(root, "toolchain", fault);
    out->toolchain.compiler = json_get_string(part, "compiler", keep, fault);
    out->toolchain.flags = json_get_string(part, "flags", keep, fault);
    read_tools(root, keep, out, fault);
    read_files(root, keep, out, fault);
    return fault->code;
}

/* The seal is checked over exactly the bytes that are parsed. */
static enum status check_seal(struct crash_case *c, struct arena *keep, struct fault *fault)
{
    char sha256[SHA256_DIGITS + 1];
    char *seal = NULL;
    size_t seal_bytes = 0;
    const char *path = path_join(keep, c->folder, "seal");

    if (path == NULL)
        return fault_no_memory(fault, "case");
    if (file_read(path, SEAL_MAX_BYTES, keep, &seal, &seal_bytes, fault) != ERR_NONE)
        return fault->code;
    text_sha256(c->json, c->json_bytes, sha256);
    c->seal = arena_string(keep, sha256);
    if (seal_bytes < SHA256_DIGITS || strncmp(seal, sha256, SHA256_DIGITS) != 0 ||
        strspn(seal + SHA256_DIGITS, "\r\n") != seal_bytes - SHA256_DIGITS) {
        fault_set_hint(fault, ERR_MISMATCH, FAULT_NO_OFFSET, "seal of the case",
                       "case.json was changed after it was sealed; collect the case again");
        fault_set_path(fault, path);
    }
    return fault->code;
}

static enum status check_sizes(const struct crash_case *c, struct arena *keep, struct fault *fault)
{
    for (uint32_t i = 0; i < c->file_count && fault->code == ERR_NONE; i++) {
        const char *path = path_join(keep, c->folder, c->files[i].path);
        if (path == NULL)
            return fault_no_memory(fault, "case");
        if (!path_is_file(path))
            fault_set_hint(fault, ERR_ABSENT, FAULT_NO_OFFSET, "file of a sealed case",
                           "case.json lists it; copy the case whole, with its symbols folder");
        else if (path_bytes(path) != c->files[i].bytes)
            fault_set_hint(fault, ERR_MISMATCH, path_bytes(path), "size of a sealed file",
                           "the file was changed after it was sealed");
        fault_set_path(fault, path);
    }
    return fault->code;
}

enum status case_read(const char *folder, struct arena *keep, struct crash_case *out,
                      struct fault *fault)
{
    char *text = NULL;
    cJSON *root = NULL;
    const char *path = path_join(keep, folder, "case.json");

    memset(out, 0, sizeof *out);
    out->folder = arena_string(keep, folder);
    if (path == NULL || out->folder == NULL)
        return fault_no_memory(fault, "case");
    if (file_read(path, CASE_JSON_MAX_BYTES, keep, &text, &out->json_bytes, fault) != ERR_NONE)
        return fault->code;
    out->json = text;
    if (check_seal(out, keep, fault) != ERR_NONE)
        return fault->code;
    if (json_parse(text, out->json_bytes, &root, fault) == ERR_NONE)
        (void)read_document(root, keep, out, fault);
    fault_set_path(fault, path);
    cJSON_Delete(root);
    return fault->code != ERR_NONE ? fault->code : check_sizes(out, keep, fault);
}

const struct file_map *case_map(const struct crash_case *c, const struct case_file *file,
                                struct fault *fault)
{
    struct case_file *own = &c->files[file - c->files];
    struct arena scratch;

    if (own->map.data != NULL)
        return &own->map;
    arena_init(&scratch, 0);
    const uint64_t start_ns = clock_ns();
    const char *path = path_join(&scratch, c->folder, file->path);
    if (path == NULL)
        fault_no_memory(fault, "case");
    else if (file_map(path, &own->map, fault) == ERR_NONE)
        own->map_ns = clock_ns() - start_ns;
    arena_free(&scratch);
    return own->map.data != NULL ? &own->map : NULL;
}

void case_close(const struct crash_case *c)
{
    for (uint32_t i = 0; i < c->file_count; i++)
        file_unmap(&c->files[i].map);
}

char *case_text(const struct crash_case *c, enum case_role role, size_t most, struct arena *keep,
                size_t *bytes, struct fault *fault)
{
    const struct file_map *map = case_map(c, case_file(c, role), fault);
    if (map == NULL)
        return NULL;
    if (map->bytes > most) {
        fault_set(fault, ERR_LIMIT, most, "file larger than expected here");
        return NULL;
    }
    char *text = arena_text(keep, (const char *)map->data, map->bytes);
    *bytes = map->bytes;
    if (text == NULL)
        fault_no_memory(fault, "case");
    return text;
}

/* The memory of what is hashed is given back, so that whatever reads it next costs what it costs
 * without this. */
enum status case_verify(const struct crash_case *c, struct fault *fault)
{
    for (uint32_t i = 0; i < c->file_count; i++) {
        char sha256[SHA256_DIGITS + 1];
        const struct file_map *map = case_map(c, &c->files[i], fault);
        if (map == NULL)
            return fault->code;
        text_sha256(map->data, map->bytes, sha256);
        file_release(map, 0, map->bytes);
        if (strcmp(sha256, c->files[i].sha256) != 0) {
            fault_set_hint(fault, ERR_MISMATCH, FAULT_NO_OFFSET, "SHA-256 of a sealed file",
                           "the file was changed after it was sealed; collect the case again");
            fault_set_path(fault, c->files[i].path);
            return fault->code;
        }
    }
    return ERR_NONE;
}

static void write_texts(struct json *j, const char *key, const char *const *texts, uint32_t count)
{
    json_key_array(j, key);
    for (uint32_t i = 0; i < count; i++)
        json_string(j, texts[i]);
    json_array_end(j);
}

static void write_code(struct json *j, const char *key, uint64_t code)
{
    json_key(j, key);
    json_hex_wide(j, code, 8);
}

static void write_files(struct json *j, const struct crash_case *c)
{
    json_key_array(j, "files");
    for (uint32_t i = 0; i < c->file_count; i++) {
        json_object(j);
        json_key_string(j, "role", case_role_name(c->files[i].role));
        json_key_string(j, "path", c->files[i].path);
        json_key_uint(j, "bytes", c->files[i].bytes);
        json_key_string(j, "sha256", c->files[i].sha256);
        json_object_end(j);
    }
    json_array_end(j);
}

static void write_outcome(struct json *j, const struct crash_case *c)
{
    json_key_object(j, "expect");
    write_code(j, "code", c->expect.code);
    write_code(j, "exit_code", c->expect.exit_code);
    hooks_write(j, c->expect.hooks);
    if (c->expect.subject_count > 0)
        write_texts(j, "subjects", c->expect.subjects, c->expect.subject_count);
    if (c->expect.output != NULL)
        json_key_string(j, "output", c->expect.output);
    json_object_end(j);

    json_key_object(j, "got");
    write_code(j, "code", c->got.code);
    write_code(j, "exit_code", c->got.exit_code);
    hooks_write(j, c->got.hooks);
    json_key_uint(j, "wall_ms", c->got.wall_ms);
    json_key_string(j, "ended_by", case_ending_name(c->got.ended_by));
    json_object_end(j);
}

static void write_case(struct json *j, const struct crash_case *c)
{
    json_object(j);
    json_key_uint(j, "schema_version", CASE_SCHEMA_VERSION);
    json_key_string(j, "scenario", c->scenario);
    json_key_string(j, "variant", c->variant);
    json_key_string(j, "arch", cpu_name(c->arch));
    json_key_string(j, "kind", case_kind_name(c->kind));
    write_outcome(j, c);

    json_key_object(j, "own");
    write_texts(j, "images", c->own.images, c->own.image_count);
    json_key_string(j, "source_root", c->own.source_root);
    json_object_end(j);

    json_key_object(j, "host");
    json_key_string(j, "os", c->host.os);
    json_key_string(j, "wine", c->host.wine);
    json_key_string(j, "cpu", c->host.cpu);
    json_object_end(j);

    json_key_object(j, "toolchain");
    json_key_string(j, "compiler", c->toolchain.compiler);
    json_key_string(j, "flags", c->toolchain.flags);
    json_object_end(j);

    json_key_array(j, "tools");
    for (uint32_t i = 0; i < c->tool_count; i++) {
        json_object(j);
        json_key_string(j, "name", c->tools[i].name);
        json_key_string(j, "version", c->tools[i].version);
        json_object_end(j);
    }
    json_array_end(j);
    write_files(j, c);
    json_object_end(j);
    json_newline(j);
}

/* Sets the size and the hash of FILE, a file of the case in FOLDER. */
static enum status hash_file(const char *folder, struct case_file *file, struct fault *fault)
{
    struct arena scratch;

    arena_init(&scratch, 0);
    const char *path = path_join(&scratch, folder, file->path);
    if (path == NULL)
        fault_no_memory(fault, "case");
    else if (file_sha256(path, file->sha256, fault) == ERR_NONE)
        file->bytes = path_bytes(path);
    arena_free(&scratch);
    return fault->code;
}

/* Writes NAME in FOLDER. */
static enum status write_into(const char *folder, const char *name, const void *data, size_t bytes,
                              struct fault *fault)
{
    struct arena scratch;

    arena_init(&scratch, 0);
    const char *path = path_join(&scratch, folder, name);
    if (path == NULL)
        fault_set_lasting(fault, ERR_MEMORY, FAULT_NO_OFFSET, name, NULL);
    else
        (void)file_write(path, data, bytes, fault);
    arena_free(&scratch);
    return fault->code;
}

enum status case_seal(const char *folder, struct crash_case *c, struct fault *fault)
{
    struct json j;
    size_t bytes = 0;
    char seal[SHA256_DIGITS + 2];

    for (uint32_t i = 0; i < c->file_count; i++) {
        struct case_file *file = &c->files[i];
        if (!path_is_inside(file->path))
            return fault_set(fault, ERR_USAGE, FAULT_NO_OFFSET, "path of a file to seal");
        if (hash_file(folder, file, fault) != ERR_NONE)
            return fault->code;
    }
    json_to_text(&j, true);
    write_case(&j, c);
    char *text = json_take(&j, &bytes);
    if (text == NULL)
        return fault_no_memory(fault, "case.json");
    text_sha256(text, bytes, seal);
    seal[SHA256_DIGITS] = '\n';
    if (write_into(folder, "case.json", text, bytes, fault) == ERR_NONE)
        (void)write_into(folder, "seal", seal, SHA256_DIGITS + 1, fault);
    free(text);
    return fault->code;
}

const struct case_file *case_file(const struct crash_case *c, enum case_role role)
{
    for (uint32_t i = 0; i < c->file_count; i++)
        if (c->files[i].role == role)
            return &c->files[i];
    return NULL;
}

const struct case_file *case_tuned_dump(const struct crash_case *c)
{
    for (uint32_t i = 0; i < c->file_count; i++)
        if (c->files[i].role == ROLE_OTHER && strcmp(c->files[i].path, "dump-tuned.dmp") == 0)
            return &c->files[i];
    return NULL;
}

bool case_declares(const struct crash_case *c, const char *engine)
{
    for (uint32_t i = 0; i < c->expect.subject_count; i++)
        if (strcmp(c->expect.subjects[i], engine) == 0)
            return true;
    return c->expect.subject_count == 0;
}

char *case_path(const struct crash_case *c, enum case_role role, struct arena *keep)
{
    const struct case_file *file = case_file(c, role);
    return file != NULL ? path_join(keep, c->folder, file->path) : NULL;
}
