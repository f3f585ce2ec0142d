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

void symbol_image_of(const struct symbol_module *sources, struct symbol_image *out)
{
    const struct store_image *image = sources->image;
    *out = (struct symbol_image){.code_id = "", .debug_id = ""};

    if (sources->pdb != NULL)
        out->debug_id = sources->pdb->debug_id;
    else if (sources->breakpad != NULL)
        out->debug_id = sources->breakpad->file.debug_id;
    if (image == NULL)
        return;
    out->code_id = image->code_id;
    if (out->debug_id[0] == '\0')
        out->debug_id = image->debug_id;
    out->has_base = true;
    if (image->file.kind == OBJECT_PE)
        out->preferred_base_va = image->file.as.pe.preferred_base_va;
    else if (image->file.kind == OBJECT_ELF)
        out->preferred_base_va = image->file.as.elf.base_va;
    else if (image->file.kind == OBJECT_MACHO)
        out->preferred_base_va = image->file.as.macho.base_va;
    else
        out->has_base = false;
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
