/* The folders in which the system keeps its own modules and symbols, searched although the user did
 * not name them. Their files are not listed: a module is opened there by name, and used only if its
 * identity matches. See symbol_store_options.system. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "symbol/store_parts.h"

enum { SYSTEM_FOLDERS_MAX = 64, NAME_MAX_BYTES = 256 };

static void add_folder(struct symbol_store *store, const char *path)
{
    if (path == NULL || store->system_count == SYSTEM_FOLDERS_MAX || !path_is_folder(path))
        return;
    if (store->system_folders == NULL)
        store->system_folders = ARENA_ARRAY(&store->arena, SYSTEM_FOLDERS_MAX, const char *);
    const char *copy = arena_string(&store->arena, path);
    if (store->system_folders != NULL && copy != NULL)
        store->system_folders[store->system_count++] = copy;
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
        for (size_t k = 0; k < COUNT_OF(machines); k++)
            add_folder(store, path_join(&store->arena, roots[i], machines[k]));
}

/* One element of _NT_SYMBOL_PATH: a folder, or "srv*FOLDER*...", "symsrv*DLL*FOLDER*...",
 * "cache*FOLDER". URLs are ignored here. */
static void add_element(struct symbol_store *store, char *element)
{
    for (char *next; element != NULL; element = next) {
        next = strchr(element, '*');
        if (next != NULL)
            *next++ = '\0';
        if (element[0] != '\0' && strstr(element, "://") == NULL)
            add_folder(store, element); /* "srv" and a DLL's name are not folders */
    }
}

static void add_symbol_path(struct symbol_store *store, const char *path)
{
    char *copy = arena_string(&store->arena, path);
    for (char *next; copy != NULL; copy = next) {
        next = strchr(copy, ';');
        if (next != NULL)
            *next++ = '\0';
        add_element(store, copy);
    }
}

void store_system_open(struct symbol_store *store)
{
    static const char *const windows[] = {"System32", "SysWOW64"};
    const char *off = getenv("TWINSTACK_SYSTEM_SYMBOLS");
    const char *root = getenv("SystemRoot");

    if (off != NULL && strcmp(off, "0") == 0)
        return;
    add_symbol_path(store, getenv("_NT_SYMBOL_PATH"));
    store->server_count = store->system_count;
    for (size_t i = 0; root != NULL && i < COUNT_OF(windows); i++)
        add_folder(store, path_join(&store->arena, root, windows[i]));
    add_wine(store);
}

/* FOLDER/NAME, as spelt or in lower case; NULL: no such file. */
static const char *find_file(const char *folder, const char *name, struct arena *scratch)
{
    char small[NAME_MAX_BYTES];
    const size_t bytes = strlen(name);
    const char *path = path_join(scratch, folder, name);

    if (path != NULL && path_is_file(path))
        return path;
    if (bytes >= sizeof small)
        return NULL;
    for (size_t i = 0; i <= bytes; i++)
        small[i] = (char)(name[i] >= 'A' && name[i] <= 'Z' ? name[i] + ('a' - 'A') : name[i]);
    path = path_join(scratch, folder, small);
    return path != NULL && path_is_file(path) ? path : NULL;
}

static bool is_image_of(const struct store_image *image, const struct module *module)
{
    return module->code_id[0] != '\0' ? text_equal_nocase(image->code_id, module->code_id)
                                      : strcmp(image->debug_id, module->debug_id) == 0;
}

struct store_image *store_system_image(struct symbol_store *store, const struct module *module,
                                       struct arena *scratch)
{
    if (module->name[0] == '\0' || strpbrk(module->name, "/\\:") != NULL ||
        (module->code_id[0] == '\0' && module->debug_id[0] == '\0'))
        return NULL;
    for (uint32_t i = 0; i < store->system_count; i++) {
        struct fault fault = FAULT_INIT;
        struct store_image *image;
        const char *path = find_file(store->system_folders[i], module->name, scratch);
        if (path != NULL && store_open_image(store, path, 0, &image, &fault) == ERR_NONE &&
            is_image_of(image, module))
            return image;
    }
    return NULL;
}
