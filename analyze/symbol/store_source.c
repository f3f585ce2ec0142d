/* Opened files of the symbol store, and the lookup of one address in them; see store.h. */
#include <stdlib.h>
#include <string.h>

#include "symbol/store_parts.h"

/* Reads the lists of a PDB, unless its index answers instead: they take a tenth of the time of a
 * start, and an index is only written for a file whose lists could be read. */
static enum status open_lists(struct symbol_store *store, struct store_pdb *pdb,
                              struct fault *fault)
{
    pdb_debug_id(&pdb->pdb, pdb->debug_id);
    pdb->lists_wait = store_open_pdb_index(store, pdb);
    return pdb->lists_wait ? ERR_NONE : pdb_open_lists(&pdb->pdb, fault);
}

struct pdb *store_pdb_lists(struct store_pdb *opened)
{
    struct fault ignored = FAULT_INIT;
    if (opened->lists_wait && pdb_open_lists(&opened->pdb, &ignored) != ERR_NONE)
        opened->pdb.module_count = 0; /* what was read until then stays valid */
    opened->lists_wait = false;
    return &opened->pdb;
}

enum status store_open_pdb(struct symbol_store *store, const char *path, struct store_pdb **out,
                           struct fault *fault)
{
    for (*out = store->pdbs; *out != NULL; *out = (*out)->next)
        if (strcmp((*out)->path, path) == 0)
            return ERR_NONE;
    struct store_pdb *opened = ARENA_NEW(&store->arena, struct store_pdb);
    if (opened == NULL || (opened->path = arena_string(&store->arena, path)) == NULL)
        return fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "symbol store");
    if (symbol_file_map(path, &opened->map, &opened->unpacked, fault) != ERR_NONE)
        return fault->code;
    if (pdb_open_headers(opened->map.data, opened->map.bytes, &opened->pdb, fault) == ERR_NONE)
        (void)open_lists(store, opened, fault);
    if (fault->code == ERR_NONE && (opened->mutex = mutex_new()) == NULL)
        fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "symbol store");
    if (fault->code != ERR_NONE) {
        symbol_index_close(opened->index);
        pdb_close(&opened->pdb);
        symbol_file_unmap(&opened->map, opened->unpacked);
        fault_set_path(fault, path);
        return fault->code;
    }
    opened->next = store->pdbs;
    store->pdbs = opened;
    *out = opened;
    return ERR_NONE;
}

enum status store_open_image(struct symbol_store *store, const char *path, uint32_t slice,
                             struct store_image **out, struct fault *fault)
{
    struct pe_codeview codeview;

    for (*out = store->images; *out != NULL; *out = (*out)->next)
        if (strcmp((*out)->path, path) == 0 && (*out)->slice == slice)
            return ERR_NONE;
    struct store_image *opened = ARENA_NEW(&store->arena, struct store_image);
    if (opened == NULL || (opened->path = arena_string(&store->arena, path)) == NULL)
        return fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "symbol store");
    if (symbol_file_map(path, &opened->map, &opened->unpacked, fault) != ERR_NONE)
        return fault->code;
    struct object_file *file = &opened->file;
    if (object_file_open(opened->map.data, opened->map.bytes, slice, file, fault) != ERR_NONE ||
        (opened->mutex = mutex_new()) == NULL) {
        fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "symbol store");
        fault_set_path(fault, path);
        symbol_file_unmap(&opened->map, opened->unpacked);
        return fault->code;
    }
    opened->slice = slice;
    memcpy(opened->debug_id, file->debug_id, sizeof opened->debug_id);
    if (file->kind == OBJECT_PE) {
        pe_code_id(&file->as.pe, opened->code_id);
        (void)managed_mvid(&file->as.pe, opened->mvid);
    }
    if (file->kind == OBJECT_PE && pe_codeview(&file->as.pe, &codeview))
        opened->pdb_name = arena_string(&store->arena, path_base(codeview.pdb_path));
    opened->next = store->images;
    store->images = opened;
    *out = opened;
    return ERR_NONE;
}

enum status store_open_csv(struct symbol_store *store, const char *path, uint64_t base,
                           struct store_csv **out, struct fault *fault)
{
    struct file_map map;

    for (*out = store->csvs; *out != NULL; *out = (*out)->next)
        if (strcmp((*out)->path, path) == 0 && (*out)->base == base)
            return ERR_NONE;
    struct store_csv *opened = ARENA_NEW(&store->arena, struct store_csv);
    if (opened == NULL || (opened->path = arena_string(&store->arena, path)) == NULL)
        return fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "symbol store");
    if (file_map(path, &map, fault) != ERR_NONE)
        return fault->code;
    (void)csv_read(&map, base, &store->arena, &opened->table, fault);
    file_unmap(&map);
    fault_set_path(fault, path);
    if (fault->code != ERR_NONE)
        return fault->code;
    opened->base = base;
    opened->next = store->csvs;
    store->csvs = opened;
    *out = opened;
    return ERR_NONE;
}

void store_close_sources(struct symbol_store *store)
{
    store_breakpad_close_all(store);
    store_managed_close_all(store);
    for (struct store_pdb *p = store->pdbs; p != NULL; p = p->next) {
        symbol_index_close(p->index);
        pdb_lookup_close(p->lookup);
        pdb_close(&p->pdb);
        symbol_file_unmap(&p->map, p->unpacked);
        mutex_free(p->mutex);
    }
    for (struct store_image *i = store->images; i != NULL; i = i->next) {
        symbol_index_close(i->index);
        symbol_object_close(i->names);
        symbol_file_unmap(&i->map, i->unpacked);
        mutex_free(i->mutex);
    }
}

static uint32_t lookup_csv(const struct store_csv *csv, uint64_t offset, struct symbol_frame *out)
{
    struct csv_frame frames[SYMBOL_FRAMES_MAX];
    const uint32_t count = csv_lookup(&csv->table, offset, frames, SYMBOL_FRAMES_MAX);

    for (uint32_t i = 0; i < count; i++)
        out[i] = (struct symbol_frame){
            .function = frames[i].name,
            .file = frames[i].file,
            .line = frames[i].line,
            .distance = offset - frames[i].rva,
            .inlined = frames[i].depth > 0,
            .from = SYMBOLS_CSV,
        };
    return count;
}

static uint32_t lookup_pdb(struct symbol_store *store, struct store_pdb *pdb, uint64_t offset,
                           struct symbol_frame *out)
{
    struct fault fault = FAULT_INIT;
    uint32_t count = 0;

    mutex_lock(pdb->mutex);
    if (pdb->lookup == NULL)
        (void)pdb_lookup_open(store_pdb_lists(pdb), store->names, &pdb->lookup, &fault);
    if (pdb->lookup != NULL)
        count = offset > UINT32_MAX ? pdb_lookup_method(pdb->lookup, (uint32_t)(offset >> 32),
                                                        (uint32_t)offset, out)
                                    : pdb_lookup(pdb->lookup, (uint32_t)offset, out);
    mutex_unlock(pdb->mutex);
    return count;
}

static uint32_t lines_pdb(struct symbol_store *store, struct store_pdb *pdb, uint64_t offset,
                          uint32_t *out, uint32_t max)
{
    struct fault fault = FAULT_INIT;
    uint32_t count = 0;

    mutex_lock(pdb->mutex);
    if (pdb->lookup == NULL)
        (void)pdb_lookup_open(store_pdb_lists(pdb), store->names, &pdb->lookup, &fault);
    if (pdb->lookup != NULL)
        count = pdb_lookup_lines(pdb->lookup, (uint32_t)offset, out, max);
    mutex_unlock(pdb->mutex);
    return count;
}

static uint32_t lookup_image(struct symbol_store *store, struct store_image *image, uint64_t offset,
                             struct symbol_frame *out)
{
    uint32_t count = 0;

    mutex_lock(image->mutex);
    const struct symbol_index *index = store_image_index(store, image, 1);
    if (index != NULL && symbol_index_covers(index, (uint32_t)offset))
        count = symbol_index_lookup(index, (uint32_t)offset, out);
    else if (store_image_open_names(store, image))
        count = symbol_object_lookup(image->names, (uint32_t)offset, out);
    mutex_unlock(image->mutex);
    return count;
}

uint32_t symbol_lines(struct symbol_module *sources, uint64_t offset, uint32_t *out, uint32_t max)
{
    struct store_image *image = sources->image;
    uint32_t count = 0;

    if (offset > UINT32_MAX || sources->csv != NULL)
        return 0;
    if (sources->pdb != NULL)
        return lines_pdb(sources->store, sources->pdb, offset, out, max);
    if (image == NULL)
        return 0;
    mutex_lock(image->mutex);
    if (store_image_open_names(sources->store, image))
        count = symbol_object_lines(image->names, (uint32_t)offset, out, max);
    mutex_unlock(image->mutex);
    return count;
}

/* True when a PDB knows the place but gives it no name and no line. */
static bool is_unnamed(const struct symbol_frame *frames, uint32_t count)
{
    return count == 0 || (count == 1 && frames[0].function == NULL && frames[0].line == 0);
}

/* Static functions of objects without CodeView, such as mingw's C runtime, are only in the image's
 * own symbol table. */
static uint32_t lookup_unnamed(struct symbol_module *sources, uint64_t offset, uint32_t count,
                               struct symbol_frame *out)
{
    const struct symbol_frame place = count > 0 ? out[0] : (struct symbol_frame){0};
    const uint32_t found = lookup_image(sources->store, sources->image, offset, out);
    if (found == 0 && count > 0)
        out[0] = place;
    if (found > 0 && out[found - 1].compiland == NULL)
        out[found - 1].compiland = place.compiland;
    return found > 0 ? found : count;
}

/* A method by its token: its name from the image's metadata, its line from the PDB, which is
 * portable or, with older compilers, native. Functions of C++/CLI are methods of <Module>; the PDB
 * has their own names. */
static uint32_t lookup_method(struct symbol_module *sources, uint64_t key, struct symbol_frame *out)
{
    struct symbol_frame named;
    const uint32_t count = sources->pdb != NULL && sources->csv == NULL
                               ? lookup_pdb(sources->store, sources->pdb, key, out)
                               : 0;
    if (sources->managed == NULL || store_managed_lookup(sources->managed, key, &named) == 0)
        return count;
    if (count == 0)
        out[0] = named;
    else if (named.function != NULL && strncmp(named.function, "<Module>::", 10) != 0)
        out[0].function = named.function;
    return 1;
}

uint32_t store_view_lookup(const struct source_view *view, uint64_t offset,
                           struct symbol_frame out[SYMBOL_FRAMES_MAX])
{
    struct symbol_module *sources = view->sources;
    uint32_t count = 0;

    if (offset > UINT32_MAX)
        return lookup_method(sources, offset, out);
    if (sources->csv != NULL)
        return lookup_csv(sources->csv, offset, out);
    if (view->index != NULL && symbol_index_covers(view->index, (uint32_t)offset))
        count = symbol_index_lookup(view->index, (uint32_t)offset, out);
    else if (sources->pdb != NULL)
        count = lookup_pdb(sources->store, sources->pdb, offset, out);
    else if (sources->breakpad != NULL)
        count = store_breakpad_lookup(sources->store, sources->breakpad, offset, out);
    if (sources->image != NULL && is_unnamed(out, count))
        count = lookup_unnamed(sources, offset, count, out);
    return count;
}

uint32_t symbol_lookup(struct symbol_module *sources, uint64_t offset,
                       struct symbol_frame out[SYMBOL_FRAMES_MAX])
{
    const struct source_view view = store_view(sources->store, sources, 1);
    return store_view_lookup(&view, offset, out);
}
