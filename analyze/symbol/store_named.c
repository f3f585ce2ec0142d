/* The single files among the roots, and whether a module could be theirs; see store.h. */
#include <string.h>

#include "symbol/store_parts.h"

const char *symbol_store_named_file(const struct symbol_store *store, uint32_t index)
{
    for (uint32_t i = 0; i < store->root_count; i++)
        if (path_is_file(store->roots[i]) && index-- == 0)
            return store->roots[i];
    return NULL;
}

bool symbol_store_file_fits(const struct symbol_store *store, const char *path,
                            const struct module *module)
{
    const struct source_want want = {
        .module = module, .pdb_name = module->pdb_name, .debug_id = module->debug_id};
    const bool stated = module->debug_id[0] != '\0' || module->code_id[0] != '\0';
    for (uint32_t i = 0; i < store->file_count; i++) {
        const struct store_file *file = &store->files[i];
        if (strcmp(file->path, path) != 0)
            continue;
        if (file->kind->fit == NULL) /* in a cabinet */
            return true;
        const enum source_fit fit = file->kind->fit(&file->id, &want);
        if (fit == FIT_IDENTITY || (fit == FIT_NAME && !stated))
            return true;
    }
    return false;
}
