/* Finds the image of a managed module by its MVID: in symbol-server folders, which are not laid out
 * by MVID, among all builds of its name, in plain folders and single files by the MVID inside. */
#include <string.h>

#include "base/text.h"
#include "symbol/store_parts.h"

/* What the search for an MVID has met. */
struct mvid_search {
    const struct module *module;
    struct store_image *image;
    bool other, several;
};

static void meet_image(struct symbol_store *store, const char *path, struct mvid_search *search)
{
    struct fault fault = FAULT_INIT;
    struct store_image *image;

    if (store_open_image(store, path, 0, &image, &fault) != ERR_NONE)
        return;
    if (strcmp(image->mvid, search->module->mvid) != 0)
        search->other = true;
    else if (search->image == NULL)
        search->image = image;
    else if (strcmp(search->image->debug_id, image->debug_id) != 0)
        search->several = true; /* a program that rewrites assemblies may keep the MVID */
}

struct store_image *store_image_of_mvid(struct symbol_store *store, const struct module *module,
                                        struct arena *scratch, bool *other, bool *several)
{
    struct mvid_search search = {.module = module};

    for (uint32_t r = 0; module->mvid[0] != '\0' && r < store->root_count + store->server_count;
         r++) {
        struct fault fault = FAULT_INIT;
        const char *root = store_server(store, r);
        const char *folder = store_find_builds(root, module->name, scratch);
        const char **builds;
        size_t count = 0;
        if (folder == NULL || folder_list(folder, scratch, &builds, &count, &fault) != ERR_NONE)
            continue;
        for (size_t i = 0; i < count; i++) {
            const char *path = store_find_on_server(store, root, module->name, builds[i], scratch);
            if (path != NULL)
                meet_image(store, path, &search);
        }
    }
    store_list_files(store);
    for (uint32_t i = 0; module->mvid[0] != '\0' && i < store->file_count; i++) {
        const struct store_file *file = &store->files[i];
        if (file->image && strcmp(file->mvid, module->mvid) == 0)
            meet_image(store, file->path, &search);
        else if (file->image && text_equal_nocase(file->name, module->name))
            search.other = true;
    }
    *other = search.other;
    *several = search.several;
    return search.several ? NULL : search.image;
}
