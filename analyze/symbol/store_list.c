/* Lists the files of plain folders, and single files, by their contents; see symbol_store.h. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/log.h"
#include "base/text.h"
#include "format/cab/unpack_file.h"
#include "symbol/store_find.h"
#include "symbol/store_listing.h"

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

/* True for "app.pdb" and, with END ".gz", for "app.pdb.gz". */
static bool has_symbol_name(const char *name, const char *end)
{
    static const char *const ends[] = {".pdb", ".sym", ".debug", ".dbg", ".dwo",
                                       ".dwp", ".exe", ".dll",   ".sys", ".so"};
    char stem[256];
    const size_t bytes = strlen(name), end_bytes = strlen(end);
    if (!ends_with(name, end) || bytes >= sizeof stem)
        return false;
    memcpy(stem, name, bytes - end_bytes);
    stem[bytes - end_bytes] = '\0';
    for (size_t i = 0; i < COUNT_OF(ends); i++)
        if (ends_with(stem, ends[i]))
            return true;
    return false;
}

/* Whether a packed file is unpacked to learn what it is. Of others only the name is asked: a folder
 * may also have archives of many gigabytes. */
static bool is_worth_unpacking(const char *name)
{
    bool worth = has_symbol_name(name, "");
    for (size_t i = 0; !worth && store_packings[i] != NULL; i++)
        worth = has_symbol_name(name, store_packings[i]);
    return worth;
}

/* Adds a file of a known kind; each slice of a fat file is a separate entry. A damaged one is added
 * without an identity, so that a module of its name learns about it. */
static enum status list_slices(struct symbol_store *store, const char *path,
                               const struct source_kind *kind, const struct file_map *map,
                               bool named, struct fault *fault)
{
    const char *copy = arena_string(&store->arena, path);
    for (uint32_t slice = 0; fault->code == ERR_NONE && (slice == 0 || kind->has_slices); slice++) {
        struct store_file *file = copy != NULL ? store_add_file(store, copy, kind) : NULL;
        if (file == NULL)
            return fault_no_memory(fault, "symbol store");
        file->id.name = source_name(copy, &store->arena);
        if (kind->identify(map, slice, &store->arena, &file->id, fault) == ERR_ABSENT) {
            store->file_count--; /* no more slices */
            fault_clear(fault);
            break;
        }
        file->id.object.path = file->path;
        file->id.object.name = file->id.name;
        if (named && file->id.useless != NULL)
            fault_set_lasting(fault, ERR_UNSUPPORTED, 0, kind->what, file->id.useless);
    }
    return fault->code;
}

enum status store_list_file(struct symbol_store *store, const char *path, bool named,
                            struct fault *fault)
{
    struct file_map map;
    bool unpacked = false;

    if (file_map(path, &map, fault) != ERR_NONE)
        return fault->code;
    if (packed_recognize(map.data, map.bytes) && (named || is_worth_unpacking(path_base(path)))) {
        file_unmap(&map);
        if (source_map(path, &map, &unpacked, fault) != ERR_NONE)
            return fault->code;
    }
    const struct source_kind *kind = source_recognize(map.data, map.bytes);
    if (kind != NULL)
        (void)list_slices(store, path, kind, &map, named, fault);
    else
        (void)source_refuse(map.data, map.bytes, fault);
    source_unmap(&map, unpacked);
    fault_set_path(fault, path);
    return fault->code;
}

/* STAMP: of the file before it is read. */
static void list_in(struct symbol_store *store, struct listing *listing, const char *path,
                    const struct file_stamp *stamp)
{
    struct fault ignored = FAULT_INIT;
    const uint32_t first = store->file_count;
    if (listing != NULL && listing_take(listing, path, stamp))
        return;
    const enum status status = store_list_file(store, path, false, &ignored);
    /* What could not be read today may be readable tomorrow, without another time. */
    if (listing != NULL && status != ERR_IO && status != ERR_MEMORY && status != ERR_ABSENT)
        listing_add(listing, path, stamp, first);
}

static void list_folder(struct symbol_store *store, struct listing *listing, const char *folder,
                        int depth);

/* A folder may hold a link to itself. */
static void go_down(struct symbol_store *store, struct listing *listing, const char *path,
                    int depth)
{
    if (depth > 0) {
        list_folder(store, listing, path, depth - 1);
        return;
    }
    if (!store->depth_cut)
        log_warn("%s: a folder %d levels below a symbol folder is not searched; name it itself",
                 path, STORE_FOLDER_DEPTH + 1);
    store->depth_cut = true;
}

static void list_folder(struct symbol_store *store, struct listing *listing, const char *folder,
                        int depth)
{
    struct fault fault = FAULT_INIT;
    struct arena scratch;
    const char **names;
    size_t count;

    arena_init(&scratch, 0);
    if (folder_list(folder, &scratch, &names, &count, &fault) == ERR_NONE) {
        for (size_t i = 0; i < count && !store->files_cut; i++) {
            const char *path = path_join(&scratch, folder, names[i]);
            struct file_stamp stamp;
            if (path == NULL)
                break;
            if (has_symbol_name(names[i], STORE_PACKING_UNREAD))
                store_report_packed(store, path);
            if (path_stamp(path, &stamp))
                list_in(store, listing, path, &stamp);
            else if (!is_server_entry(names[i]) && path_is_folder(path))
                go_down(store, listing, path, depth);
        }
    }
    arena_free(&scratch);
}

void store_list_files(struct symbol_store *store)
{
    if (store->files_listed)
        return;
    store->files_listed = true;
    for (uint32_t i = 0; i < store->root_count; i++) { /* single files were listed on opening */
        struct listing *listing = listing_open(store, store->roots[i]);
        list_folder(store, listing, store->roots[i], STORE_FOLDER_DEPTH);
        listing_end(listing);
        if (store->files_cut) {
            log_warn("%s: only the first %u symbol files are known; the others are not searched",
                     store->roots[i], store->files_most);
            return;
        }
    }
}

enum status store_add_root(struct symbol_store *store, const char *root, struct fault *fault)
{
    const bool single = path_is_file(root);
    if (!single && !path_is_folder(root)) {
        fault_set_hint(fault, ERR_ABSENT, FAULT_NO_OFFSET, "symbol folder or file",
                       "no such file or folder");
        fault_set_path(fault, root);
        return fault->code;
    }
    const char *copy = arena_string(&store->arena, root);
    const char ***list = single ? &store->singles : &store->roots;
    uint32_t *count = single ? &store->single_count : &store->root_count;
    uint32_t *room = single ? &store->single_room : &store->root_room;
    if (!ARENA_ROOM(&store->arena, *list, *room, (uint64_t)*count + 1) || copy == NULL)
        return fault_no_memory(fault, "symbol store");
    (*list)[(*count)++] = copy;
    return single ? store_list_file(store, root, true, fault) : ERR_NONE;
}

void store_add_folder(struct symbol_store *store, const char *path)
{
    if (path == NULL || !path_is_folder(path))
        return;
    const char *copy = arena_string(&store->arena, path);
    if (!ARENA_ROOM(&store->arena, store->system_folders, store->system_room,
                    (uint64_t)store->system_count + 1) ||
        copy == NULL)
        return;
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
