/* The folders in which the system keeps its own modules and symbols, searched although the user did
 * not name them. Their files are not listed: a module is opened there by name, and used only if its
 * identity matches. See symbol_store_options.system. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "symbol/store_find.h"

static const char *const windows_folders[] = {"System32", "SysWOW64"};

/* Wine's DLLs hold DWARF and an export table. */
static const char *const wine_roots[] = {
    "/usr/lib/x86_64-linux-gnu/wine",
    "/usr/lib/aarch64-linux-gnu/wine",
    "/usr/lib/i386-linux-gnu/wine",
    "/usr/lib/wine",
    "/usr/lib64/wine",
    "/opt/wine-stable/lib64/wine",
    "/opt/wine-stable/lib/wine",
    "/opt/wine-devel/lib64/wine",
    "/opt/wine-devel/lib/wine",
    "/opt/wine-staging/lib64/wine",
    "/opt/wine-staging/lib/wine",
};
static const char *const wine_machines[] = {"x86_64-windows", "i386-windows", "aarch64-windows"};

/* The DLLs that Wine has put into its prefix, those of 32 bits among them, wherever they are from:
 * the prefix of this tool, unless the user named another. */
static const char *const prefix_folders[] = {"drive_c/windows/system32",
                                             "drive_c/windows/syswow64"};

enum {
    WINE_FROM = COUNT_OF(windows_folders),
    PREFIX_FROM = WINE_FROM + COUNT_OF(wine_roots) * COUNT_OF(wine_machines),
    PLACES = PREFIX_FROM + COUNT_OF(prefix_folders)
};

void store_system_open(struct symbol_store *store)
{
    const char *off = getenv("TWINSTACK_SYSTEM_SYMBOLS");
    static const char *const variables[] = {"TWINSTACK_SYMBOLS", "_NT_SYMBOL_PATH"};
    if (off != NULL && strcmp(off, "0") == 0)
        return;
    for (size_t i = 0; i < COUNT_OF(variables); i++) {
        const char *path = getenv(variables[i]);
        struct fault fault = FAULT_INIT; /* another one, since store_add_path() clears it */
        if (path != NULL && store_add_path(store, path, false, &fault) != ERR_NONE)
            store->path_fault = fault;
    }
    store->system_left = PLACES;
}

/* One of PLACES in the order of the search; NULL: it cannot be there. */
static const char *place_of(struct symbol_store *store, uint32_t number)
{
    if (number < WINE_FROM) {
        const char *root = getenv("SystemRoot");
        return root != NULL ? path_join(&store->arena, root, windows_folders[number]) : NULL;
    }
    if (number < PREFIX_FROM) {
        const uint32_t machine = (number - WINE_FROM) % COUNT_OF(wine_machines);
        const char *root = wine_roots[(number - WINE_FROM) / COUNT_OF(wine_machines)];
        return path_join(&store->arena, root, wine_machines[machine]);
    }
    const char *prefix = getenv("WINEPREFIX");
    if (prefix == NULL || prefix[0] == '\0')
        prefix = "build/wine";
    return path_join(&store->arena, prefix, prefix_folders[number - PREFIX_FROM]);
}

/* Looks for the next folder of the system; false: that was the last. Asking for all takes as long
 * as finding a function in an index, and most modules are in the first. */
static bool add_folder(struct symbol_store *store)
{
    const uint32_t count = store->system_count;
    while (store->system_left > 0 && store->system_count == count)
        store_add_folder(store, place_of(store, PLACES - store->system_left--));
    return store->system_count > count;
}

/* FOLDER/NAME, as spelt or in lower case; NULL: no such file. */
static const char *find_file(const char *folder, const char *name, struct arena *scratch)
{
    const char *path = path_join(scratch, folder, name);
    if (path != NULL && path_is_file(path))
        return path;
    char *small = arena_string(scratch, name);
    if (small != NULL)
        text_lower(small);
    path = small != NULL ? path_join(scratch, folder, small) : NULL;
    return path != NULL && path_is_file(path) ? path : NULL;
}

static bool is_image_of(const struct source_id *id, const struct module *module)
{
    return module->code_id[0] != '\0' ? text_equal_nocase(id->code_id, module->code_id)
                                      : source_names_pdb(id, module->debug_id);
}

struct source *store_system_image(struct symbol_store *store, const struct module *module,
                                  struct arena *scratch)
{
    if (module->name[0] == '\0' || strpbrk(module->name, "/\\:") != NULL ||
        (module->code_id[0] == '\0' && module->debug_id[0] == '\0'))
        return NULL;
    for (uint32_t i = 0; i < store->system_count || add_folder(store); i++) {
        struct fault fault = FAULT_INIT;
        struct source *image;
        const char *path = find_file(store->system_folders[i], module->name, scratch);
        if (path != NULL &&
            store_open_source(store, &source_object, path, 0, 0, &image, &fault) == ERR_NONE &&
            is_image_of(&image->id, module))
            return image;
    }
    return NULL;
}
