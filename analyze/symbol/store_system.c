/* The folders in which the system keeps its own modules and symbols, searched although the user did
 * not name them. Their files are not listed: a module is opened there by name, and used only if its
 * identity matches. See symbol_store_options.system. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "symbol/store_find.h"

/* The DLLs that Wine has put into its prefix, those of 32 bits among them, wherever they are from:
 * the prefix of this tool, unless the user named another. */
static void add_prefix(struct symbol_store *store)
{
    static const char *const folders[] = {"drive_c/windows/system32", "drive_c/windows/syswow64"};
    const char *prefix = getenv("WINEPREFIX");
    if (prefix == NULL || prefix[0] == '\0')
        prefix = "build/wine";
    for (size_t i = 0; i < COUNT_OF(folders); i++)
        store_add_folder(store, path_join(&store->arena, prefix, folders[i]));
}

/* Wine's DLLs hold DWARF and an export table. */
static void add_wine(struct symbol_store *store)
{
    static const char *const roots[] = {
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
    static const char *const machines[] = {"x86_64-windows", "i386-windows", "aarch64-windows"};
    for (size_t i = 0; i < COUNT_OF(roots); i++)
        if (path_is_folder(roots[i]))
            for (size_t k = 0; k < COUNT_OF(machines); k++)
                store_add_folder(store, path_join(&store->arena, roots[i], machines[k]));
}

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
    store->system_waits = true;
}

/* Asking for 35 folders takes as long as finding a function in an index, and most stores never need
 * them. */
static void add_folders(struct symbol_store *store)
{
    static const char *const windows[] = {"System32", "SysWOW64"};
    const char *root = getenv("SystemRoot");
    store->system_waits = false;
    for (size_t i = 0; root != NULL && i < COUNT_OF(windows); i++)
        store_add_folder(store, path_join(&store->arena, root, windows[i]));
    add_wine(store);
    add_prefix(store);
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
    if (store->system_waits)
        add_folders(store);
    for (uint32_t i = 0; i < store->system_count; i++) {
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
