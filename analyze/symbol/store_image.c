/* The names of an image without a PDB, and the files of the store that may belong to it; see
 * object.h. */
#include <stdlib.h>

#include "symbol/store_parts.h"

/* The candidates for files that belong to an image. Owned by the caller; NULL: out of memory. */
static struct object_candidate *candidates_of(const struct symbol_store *store)
{
    struct object_candidate *candidates = calloc((size_t)store->file_count + 1, sizeof *candidates);
    for (uint32_t i = 0; candidates != NULL && i < store->file_count; i++)
        candidates[i] = store->files[i].object;
    return candidates;
}

uint64_t store_image_companions(const struct symbol_store *store, const struct store_image *image)
{
    struct object_candidate *candidates = candidates_of(store);
    const uint64_t hash =
        candidates != NULL
            ? symbol_object_companions(&image->file, image->path, candidates, store->file_count)
            : 0;
    free(candidates);
    return hash;
}

bool store_image_open_names(const struct symbol_store *store, struct store_image *image)
{
    struct fault fault = FAULT_INIT;

    if (image->names != NULL)
        return true;
    struct object_candidate *candidates = candidates_of(store);
    if (candidates == NULL)
        return false;
    (void)symbol_object_open(&image->file, image->path, candidates, store->file_count, store->names,
                             &image->names, &fault);
    free(candidates);
    return image->names != NULL;
}
