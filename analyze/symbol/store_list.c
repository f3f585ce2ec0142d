/* The files of plain folders and single files, listed by what is in them; see store.h. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "symbol/store_parts.h"

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

static void list_breakpad(struct symbol_store *store, const char *path, const struct file_map *map)
{
    struct fault fault = FAULT_INIT;
    struct breakpad identity;
    if (breakpad_read_identity(map->data, map->bytes, &identity, &fault) == ERR_NONE) {
        struct store_file *file = add_file(store, path, identity.module);
        if (file != NULL) {
            file->breakpad = true;
            file->image_name = arena_string(&store->arena, identity.image);
            memcpy(file->debug_id, identity.debug_id, sizeof file->debug_id);
        }
    }
    breakpad_close(&identity);
}

void store_list_file(struct symbol_store *store, const char *path, const char *name)
{
    struct fault fault = FAULT_INIT;
    struct file_map map;
    struct pe pe;
    struct pdb pdb;

    if (file_map(path, &map, &fault) != ERR_NONE)
        return;
    if (map.bytes >= 4 && memcmp(map.data, "MSCF", 4) == 0) {
        struct store_file *file = add_file(store, path, name);
        if (file != NULL)
            file->packed = true;
    } else if (breakpad_recognize(map.data, map.bytes)) {
        list_breakpad(store, path, &map);
    } else if (pdb_recognize(map.data, map.bytes)) {
        struct store_file *file = add_file(store, path, name);
        if (file != NULL && pdb_open(map.data, map.bytes, &pdb, &fault) == ERR_NONE) {
            pdb_debug_id(&pdb, file->debug_id);
            pdb_close(&pdb);
        }
    } else if (map.bytes >= 2 && memcmp(map.data, "MZ", 2) == 0 &&
               pe_open(map.data, map.bytes, &pe, &fault) == ERR_NONE) {
        struct store_file *file = add_file(store, path, name);
        if (file != NULL) {
            file->image = true;
            pe_debug_id(&pe, file->debug_id);
            pe_code_id(&pe, file->code_id);
        }
    }
    file_unmap(&map);
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
            if (path_is_file(path))
                store_list_file(store, path, names[i]);
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
    for (uint32_t i = 0; i < store->root_count; i++) {
        if (path_is_file(store->roots[i]))
            store_list_file(store, store->roots[i], path_base(store->roots[i]));
        else
            list_folder(store, store->roots[i], STORE_FOLDER_DEPTH);
    }
}
