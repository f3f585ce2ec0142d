/* Folders with the layout of a symbol server; see symbol_store.h. */
#include <string.h>

#include "base/array.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/text.h"
#include "symbol/store_find.h"

const char *const store_packings[] = {".gz", ".zst", ".xz", NULL};

typedef bool is_kind_fn(const char *path);

/* The names in a folder. */
struct store_names {
    const char *folder, **names;
    size_t count;
    struct store_names *next;
};

/* FOLDER/NAME, or the entry of FOLDER, whose NAMES these are, that differs from NAME only in case;
 * NULL: none, or it is not IS_KIND. */
static char *find_among(const struct store_names *in, const char *name, is_kind_fn *is_kind,
                        struct arena *scratch)
{
    for (size_t i = 0; i < in->count; i++) {
        if (!text_equal_nocase(in->names[i], name))
            continue;
        const char *exact = path_join(scratch, in->folder, name);
        char *path = path_join(scratch, in->folder, in->names[i]);
        return exact != NULL && !path_is_file(exact) && path != NULL && is_kind(path) ? path : NULL;
    }
    return NULL;
}

static char *find_exact(const char *folder, const char *name, is_kind_fn *is_kind,
                        struct arena *scratch)
{
    char *path = path_join(scratch, folder, name);
    return path != NULL && is_kind(path) ? path : NULL;
}

/* FOLDER/NAME, else the entry that differs from NAME only in case; NULL: none that IS_KIND. */
static char *find_entry(const char *folder, const char *name, is_kind_fn *is_kind,
                        struct arena *scratch)
{
    struct fault fault = FAULT_INIT;
    struct store_names in = {.folder = folder};
    char *path = find_exact(folder, name, is_kind, scratch);
    if (path != NULL || folder_list(folder, scratch, &in.names, &in.count, &fault) != ERR_NONE)
        return path;
    return find_among(&in, name, is_kind, scratch);
}

/* The names in ROOT, which each module that has no files would list twice; NULL: no memory. */
static const struct store_names *names_in(struct symbol_store *store, const char *root)
{
    struct fault fault = FAULT_INIT;
    struct store_names *in = store->names_in;
    while (in != NULL && strcmp(in->folder, root) != 0)
        in = in->next;
    if (in != NULL || (in = ARENA_NEW(&store->arena, struct store_names)) == NULL)
        return in;
    in->folder = arena_string(&store->arena, root);
    if (in->folder == NULL)
        return NULL;
    if (folder_list(root, &store->arena, &in->names, &in->count, &fault) != ERR_NONE)
        in->count = 0;
    in->next = store->names_in;
    store->names_in = in;
    return in;
}

static char *find_in_root(struct symbol_store *store, const char *root, const char *name,
                          struct arena *scratch)
{
    char *path = find_exact(root, name, path_is_folder, scratch);
    const struct store_names *in = path == NULL ? names_in(store, root) : NULL;
    return in != NULL ? find_among(in, name, path_is_folder, scratch) : path;
}

char *store_find_builds(struct symbol_store *store, const char *root, const char *name,
                        struct arena *scratch)
{
    const char letters[3] = {name[0], name[0] != '\0' ? name[1] : '\0', '\0'};
    if (letters[1] == '\0')
        return NULL;
    char *folder = find_in_root(store, root, name, scratch);
    if (folder != NULL)
        return folder;
    folder = find_in_root(store, root, letters, scratch);
    return folder != NULL ? find_entry(folder, name, path_is_folder, scratch) : NULL;
}

/* The reason that a file.ptr gives for a missing file. */
static void report_message(struct symbol_store *store, const char *path, const char *text)
{
    const struct fetch_event event = {.kind = FETCH_EVENT_FAULT, .name = path, .text = text};
    store->pointer_message = true;
    if (store->fetch_options.event != NULL)
        store->fetch_options.event(store->fetch_options.context, &event);
}

/* What FOLDER/file.ptr leads to: "PATH:" and a path, also a relative one. "MSG:" and the reason why
 * the file is not there is reported. NULL: nothing. */
static char *follow_pointer(struct symbol_store *store, const char *folder, struct arena *scratch)
{
    struct fault fault = FAULT_INIT;
    const char *path = path_join(scratch, folder, "file.ptr");
    char *text;
    size_t bytes;

    if (path == NULL || !path_is_file(path) ||
        file_read(path, LIMIT_POINTER_BYTES, scratch, &text, &bytes, &fault) != ERR_NONE)
        return NULL;
    text[strcspn(text, "\r\n")] = '\0';
    if (strncmp(text, "MSG:", 4) == 0)
        report_message(store, path, text + 4);
    if (strncmp(text, "PATH:", 5) != 0 || text[5] == '\0')
        return NULL;
    const bool absolute = text[5] == '/' || text[5] == '\\' || text[6] == ':';
    char *target = absolute ? text + 5 : path_join(scratch, folder, text + 5);
    return target != NULL && path_is_file(target) ? target : NULL;
}

void store_report_packed(struct symbol_store *store, const char *path)
{
    if (!store->packed_seen)
        log_warn("%s: symbol files that bzip2 packed are not read: unpack them first", path);
    store->packed_seen = true;
}

/* FOLDER/NAME.gz, or as another program packs it; NULL: there is none that is read. */
static char *find_packed(struct symbol_store *store, const char *folder, const char *name,
                         struct arena *scratch)
{
    char *path = NULL;
    for (size_t i = 0; path == NULL && store_packings[i] != NULL; i++) {
        const char *packed = arena_printf(scratch, "%s%s", name, store_packings[i]);
        path = packed != NULL ? find_exact(folder, packed, path_is_file, scratch) : NULL;
    }
    const char *other = arena_printf(scratch, "%s" STORE_PACKING_UNREAD, name);
    other = other != NULL ? find_exact(folder, other, path_is_file, scratch) : NULL;
    if (path == NULL && other != NULL)
        store_report_packed(store, other);
    return path;
}

char *store_find_on_server(struct symbol_store *store, const char *root, struct source_place place,
                           struct arena *scratch)
{
    char *folder = store_find_builds(store, root, place.name, scratch);
    char *build = folder != NULL ? find_entry(folder, place.key, path_is_folder, scratch) : NULL;
    char *file = build != NULL ? find_entry(build, place.as, path_is_file, scratch) : NULL;
    if (build == NULL || file != NULL)
        return file;
    file = find_packed(store, build, place.as, scratch);
    if (file != NULL)
        return file;
    char *packed = arena_string(scratch, place.name);
    if (packed == NULL || strcmp(place.as, place.name) != 0)
        return NULL;
    packed[strlen(packed) - 1] = '_';
    file = find_entry(build, packed, path_is_file, scratch);
    return file != NULL ? file : follow_pointer(store, build, scratch);
}

struct store_file *store_add_file(struct symbol_store *store, const char *path,
                                  const struct source_kind *kind)
{
    if (store->file_count == store->files_most) {
        store->files_cut = true;
        return NULL;
    }
    if (!ARRAY_ROOM(store->files, store->file_room, (uint64_t)store->file_count + 1))
        return NULL;
    struct store_file *file = &store->files[store->file_count];
    *file = (struct store_file){.kind = kind, .path = path};
    file->id.name = path_base(file->path);
    store->file_count++;
    return file;
}
