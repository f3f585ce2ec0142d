/* What the user named: single files, whether a module could be theirs, and what was not used; see
 * symbol_store.h. */
#include <string.h>

#include "base/text.h"
#include "symbol/store_state.h"

const char *symbol_store_named_file(const struct symbol_store *store, uint32_t index)
{
    return index < store->single_count ? store->singles[index] : NULL;
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

/* Whether PATH is ROOT, or in it. */
static bool lies_in(const char *path, const char *root)
{
    size_t bytes = strlen(root);
    while (bytes > 0 && root[bytes - 1] == '/')
        bytes--;
    return strncmp(path, root, bytes) == 0 && (path[bytes] == '\0' || path[bytes] == '/');
}

const char *symbol_store_file_identity(const struct symbol_store *store, const char *path)
{
    for (uint32_t i = 0; i < store->file_count; i++) {
        const struct source_id *id = &store->files[i].id;
        if (strcmp(store->files[i].path, path) == 0 && (id->debug_id[0] || id->code_id[0]))
            return id->debug_id[0] != '\0' ? id->debug_id : id->code_id;
    }
    return NULL;
}

/* What only adds to another file, such as split DWARF, is opened with that file, and leaves no
 * trace. A debug file of an image, such as a dSYM, states of which it is. */
static bool is_companion(const struct symbol_store *store, const struct store_file *file)
{
    const struct object_candidate *object = &file->id.object;
    if (file->kind != &source_object || (object->has_code && object->kind != OBJECT_ARCHIVE))
        return false;
    bool states_image = object->is_code && object->id[0] != '\0';
    for (const struct source *s = store->sources; states_image && s != NULL; s = s->next)
        states_image = strcmp(s->id.object.id, object->id) != 0;
    return !states_image;
}

static bool is_used(const struct symbol_store *store, const char *root)
{
    for (const struct source *source = store->sources; source != NULL; source = source->next)
        if (lies_in(source->path, root))
            return true;
    for (uint32_t i = 0; i < store->file_count; i++)
        if (lies_in(store->files[i].path, root) && is_companion(store, &store->files[i]))
            return true;
    return symbol_path_is_chain(root) && !path_is_folder(root) && !path_is_file(root);
}

/* The file of a binding is open from the start. */
static bool names_a_module(const struct symbol_store *store, const struct source *source)
{
    for (uint32_t i = 0; i < store->module_slots; i++)
        for (const struct symbol_module *m = store->modules[i]; m != NULL; m = m->next)
            if (m->names == source)
                return true;
    return false;
}

const char *symbol_store_unused(struct symbol_store *store, const char *const *roots,
                                uint32_t root_count, struct arena *keep)
{
    const char *text = NULL;
    mutex_lock(store->mutex);
    const bool asked = store->module_count > 0;
    for (uint32_t i = 0; asked && i < root_count; i++)
        if (!is_used(store, roots[i]))
            text = arena_printf(keep, "%s%s%s", text_or_empty(text), text != NULL ? ", " : "",
                                roots[i]);
    for (const struct store_binding *b = store->bindings; asked && b != NULL; b = b->next)
        if (!names_a_module(store, b->source))
            text = arena_printf(keep, "%s%s%s", text_or_empty(text), text != NULL ? ", " : "",
                                b->source->path);
    mutex_unlock(store->mutex);
    return text;
}
