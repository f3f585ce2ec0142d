/* Lists the files of plain folders, and single files, by their contents; see store.h. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "symbol/store_parts.h"

enum { SYSTEM_FOLDERS_MAX = 64 };

static bool ends_with(const char *name, const char *end)
{
    const size_t a = strlen(name), b = strlen(end);
    return a >= b && text_equal_nocase(name + a - b, end);
}

/* "name.dll/..." is an entry of a symbol server and not a folder to look into. */
static bool is_server_entry(const char *name)
{
    static const char *const ends[] = {".pdb", ".dll", ".exe", ".sys", ".node", ".ocx", ".cpl"};
    for (size_t i = 0; i < COUNT_OF(ends); i++)
        if (ends_with(name, ends[i]))
            return true;
    return false;
}

static struct store_file *add_file(struct symbol_store *store, const char *path, const char *name)
{
    if (store->file_count == STORE_FILES_MAX)
        return NULL;
    struct store_file *wider = array_reserve(store->files, &store->file_room,
                                             (uint64_t)store->file_count + 1, sizeof *wider);
    if (wider == NULL)
        return NULL;
    store->files = wider;
    struct store_file *file = &store->files[store->file_count];
    memset(file, 0, sizeof *file);
    file->path = arena_string(&store->arena, path);
    file->name = arena_string(&store->arena, name);
    if (file->path == NULL || file->name == NULL)
        return NULL;
    store->file_count++;
    return file;
}

static enum status list_breakpad(struct symbol_store *store, const char *path, bool root,
                                 const struct file_map *map, struct fault *fault)
{
    struct breakpad identity;
    if (breakpad_read_identity(map->data, map->bytes, &identity, fault) == ERR_NONE) {
        struct store_file *file = add_file(store, path, identity.module);
        if (file != NULL) {
            file->breakpad = true;
            file->root = root;
            file->image_name = arena_string(&store->arena, identity.image);
            memcpy(file->debug_id, identity.debug_id, sizeof file->debug_id);
        }
    }
    breakpad_close(&identity);
    return fault->code;
}

/* Adds a PDB with its identity, or a cabinet, whose identity is unknown until it is unpacked. */
static enum status list_pdb(struct symbol_store *store, const char *path, bool root, bool packed,
                            const struct file_map *map, struct fault *fault)
{
    struct store_file *file = add_file(store, path, path_base(path));
    struct pdb pdb;

    if (file == NULL)
        return fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "symbol store");
    file->root = root;
    file->packed = packed;
    if (!packed && ppdb_recognize(map->data, map->bytes)) {
        struct ppdb portable;
        file->portable = true;
        if (ppdb_open(map->data, map->bytes, &portable, fault) == ERR_NONE)
            ppdb_debug_id(&portable, file->debug_id);
        return fault->code;
    }
    file->pdb = !packed;
    if (!packed && pdb_open(map->data, map->bytes, &pdb, fault) == ERR_NONE) {
        pdb_debug_id(&pdb, file->debug_id);
        pdb_close(&pdb);
    }
    return fault->code;
}

/* Adds an object file; each slice of a fat file is a separate entry. */
static enum status list_object(struct symbol_store *store, const char *path, bool root,
                               const struct file_map *map, struct fault *fault)
{
    struct object_candidate object = {0};
    struct pe pe;

    for (uint32_t slice = 0; object_candidate_read(map->data, map->bytes, slice, &object, fault);
         slice++) {
        struct store_file *file = add_file(store, path, path_base(path));
        struct fault ignored = FAULT_INIT;
        if (file == NULL)
            return fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "symbol store");
        object.path = file->path;
        object.name = file->name;
        file->object = object;
        file->root = root;
        if (root && object.kind == OBJECT_ELF && object.has_code && !object.is_code &&
            !object.has_split)
            return fault_set_hint(fault, ERR_UNSUPPORTED, 0, "ELF object file",
                                  "it is not linked, so its offsets mean nothing: name the program "
                                  "or library that it is in");
        file->image = object.is_code;
        memcpy(file->debug_id, object.debug_id, sizeof file->debug_id);
        if (object.kind == OBJECT_PE && pe_open(map->data, map->bytes, &pe, &ignored) == ERR_NONE) {
            pe_code_id(&pe, file->code_id);
            (void)managed_mvid(&pe, file->mvid);
        }
        if (object_recognize(map->data, map->bytes) != OBJECT_MACHO)
            break;
    }
    if (fault->code == ERR_ABSENT) /* no more slices */
        fault_clear(fault);
    return fault->code;
}

enum status store_list_file(struct symbol_store *store, const char *path, bool root,
                            struct fault *fault)
{
    struct file_map map;

    if (file_map(path, &map, fault) != ERR_NONE)
        return fault->code;
    const bool packed = map.bytes >= 4 && memcmp(map.data, "MSCF", 4) == 0;
    if (breakpad_recognize(map.data, map.bytes))
        (void)list_breakpad(store, path, root, &map, fault);
    else if (packed || pdb_recognize(map.data, map.bytes))
        (void)list_pdb(store, path, root, packed, &map, fault);
    else if (object_recognize(map.data, map.bytes) != OBJECT_NONE)
        (void)list_object(store, path, root, &map, fault);
    else
        fault_set_lasting(fault, ERR_UNSUPPORTED, 0, "symbol file",
                          symbol_file_expected(map.data, map.bytes));
    file_unmap(&map);
    fault_set_path(fault, path);
    return fault->code;
}

static void list_folder(struct symbol_store *store, const char *folder, int depth)
{
    struct fault fault = FAULT_INIT;
    struct arena scratch;
    const char **names;
    size_t count;

    arena_init(&scratch, 0);
    if (folder_list(folder, &scratch, &names, &count, &fault) == ERR_NONE) {
        for (size_t i = 0; i < count && store->file_count < STORE_FILES_MAX; i++) {
            const char *path = path_join(&scratch, folder, names[i]);
            if (path == NULL)
                break;
            struct fault ignored = FAULT_INIT;
            if (path_is_file(path))
                (void)store_list_file(store, path, false, &ignored);
            else if (depth > 0 && !is_server_entry(names[i]) && path_is_folder(path))
                list_folder(store, path, depth - 1);
        }
    }
    arena_free(&scratch);
}

void store_list_files(struct symbol_store *store)
{
    if (store->files_listed)
        return;
    store->files_listed = true;
    for (uint32_t i = 0; i < store->root_count; i++) /* single files were listed on opening */
        if (!path_is_file(store->roots[i]))
            list_folder(store, store->roots[i], STORE_FOLDER_DEPTH);
}

enum status store_add_root(struct symbol_store *store, const char *root, struct fault *fault)
{
    if (!path_is_folder(root) && !path_is_file(root)) {
        fault_set_hint(fault, ERR_ABSENT, FAULT_NO_OFFSET, "symbol folder or file",
                       "no such file or folder");
        fault_set_path(fault, root);
        return fault->code;
    }
    const char **wider = arena_reserve(&store->arena, (void *)store->roots, &store->root_room,
                                       (uint64_t)store->root_count + 1, sizeof *wider);
    const char *copy = arena_string(&store->arena, root);
    if (wider == NULL || copy == NULL)
        return fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "symbol store");
    store->roots = wider;
    store->roots[store->root_count++] = copy;
    return path_is_file(root) ? store_list_file(store, root, true, fault) : ERR_NONE;
}

void store_add_folder(struct symbol_store *store, const char *path)
{
    if (path == NULL || store->system_count == SYSTEM_FOLDERS_MAX || !path_is_folder(path))
        return;
    if (store->system_folders == NULL)
        store->system_folders = ARENA_ARRAY(&store->arena, SYSTEM_FOLDERS_MAX, const char *);
    const char *copy = arena_string(&store->arena, path);
    if (store->system_folders != NULL && copy != NULL)
        store->system_folders[store->system_count++] = copy;
}

/* Servers come first in the list: they are added before the folders of the system. */
void store_add_server(struct symbol_store *store, const char *folder)
{
    const uint32_t count = store->system_count;
    for (uint32_t i = 0; i < store->server_count; i++)
        if (strcmp(store->system_folders[i], folder) == 0)
            return;
    store_add_folder(store, folder);
    store->server_count += store->system_count - count;
}

enum status store_list_portable(struct symbol_store *store, const char *name, const char *path,
                                struct fault *fault)
{
    if (store_list_file(store, path, true, fault) != ERR_NONE || name == NULL)
        return fault->code;
    store->files[store->file_count - 1].bound = arena_string(&store->arena, name);
    return ERR_NONE;
}
