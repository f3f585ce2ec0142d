/* Opened files of the symbol store, and one address asked of them; see store.h. */
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "format/cab/cab.h"
#include "symbol/store_parts.h"

/* What a PDB may grow to when it comes out of a cabinet. */
#define STORE_UNPACKED_BYTES ((size_t)1 << 30)

/* Where no function table says how far code reaches, an export names at most this many bytes. */
enum { STORE_EXPORT_BYTES = 4096 };

enum status symbol_file_map(const char *path, struct file_map *map, bool *unpacked,
                            struct fault *fault)
{
    uint8_t *data;
    size_t bytes;

    *unpacked = false;
    if (file_map(path, map, fault) != ERR_NONE || map->bytes < 4 ||
        memcmp(map->data, "MSCF", 4) != 0)
        return fault->code;
    const uint64_t modified_ns = map->modified_ns;
    if (cab_unpack(map->data, map->bytes, STORE_UNPACKED_BYTES, &data, &bytes, fault) != ERR_NONE) {
        file_unmap(map);
        fault_set_path(fault, path);
        return fault->code;
    }
    file_unmap(map);
    *map = (struct file_map){.data = data, .bytes = bytes, .modified_ns = modified_ns};
    *unpacked = true;
    return ERR_NONE;
}

void symbol_file_unmap(struct file_map *map, bool unpacked)
{
    if (unpacked) {
        /* owned: cab_unpack() allocated it, and file_map's view of it is read-only */
        union {
            const uint8_t *view;
            void *memory;
        } data = {map->data};
        free(data.memory);
    } else {
        file_unmap(map);
    }
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
    (void)pdb_open(opened->map.data, opened->map.bytes, &opened->pdb, fault);
    if (fault->code == ERR_NONE && (opened->mutex = mutex_new()) == NULL) {
        pdb_close(&opened->pdb);
        fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "symbol store");
    }
    if (fault->code != ERR_NONE) {
        symbol_file_unmap(&opened->map, opened->unpacked);
        fault_set_path(fault, path);
        return fault->code;
    }
    pdb_debug_id(&opened->pdb, opened->debug_id);
    opened->next = store->pdbs;
    store->pdbs = opened;
    *out = opened;
    return ERR_NONE;
}

enum status store_open_image(struct symbol_store *store, const char *path, struct store_image **out,
                             struct fault *fault)
{
    struct pe_codeview codeview;

    for (*out = store->images; *out != NULL; *out = (*out)->next)
        if (strcmp((*out)->path, path) == 0)
            return ERR_NONE;
    struct store_image *opened = ARENA_NEW(&store->arena, struct store_image);
    if (opened == NULL || (opened->path = arena_string(&store->arena, path)) == NULL)
        return fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "symbol store");
    if (symbol_file_map(path, &opened->map, &opened->unpacked, fault) != ERR_NONE)
        return fault->code;
    if (pe_open(opened->map.data, opened->map.bytes, &opened->pe, fault) != ERR_NONE ||
        (opened->mutex = mutex_new()) == NULL) {
        fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "symbol store");
        fault_set_path(fault, path);
        symbol_file_unmap(&opened->map, opened->unpacked);
        return fault->code;
    }
    arena_init(&opened->arena, 0);
    pe_debug_id(&opened->pe, opened->debug_id);
    pe_code_id(&opened->pe, opened->code_id);
    if (pe_codeview(&opened->pe, &codeview))
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
    for (struct store_pdb *p = store->pdbs; p != NULL; p = p->next) {
        symbol_index_close(p->index);
        pdb_lookup_close(p->lookup);
        pdb_close(&p->pdb);
        symbol_file_unmap(&p->map, p->unpacked);
        mutex_free(p->mutex);
    }
    for (struct store_image *i = store->images; i != NULL; i = i->next) {
        pe_dwarf_close(i->dwarf);
        arena_free(&i->arena);
        symbol_file_unmap(&i->map, i->unpacked);
        mutex_free(i->mutex);
    }
}

static const char *names_word(enum symbol_names names)
{
    return names == NAMES_SHORT ? "short" : names == NAMES_FULL ? "full" : "decorated";
}

char *symbol_index_path(const char *pdb_path, const char *debug_id, enum symbol_names names,
                        const char *folder, struct arena *keep)
{
    if (folder != NULL)
        return arena_printf(keep, "%s/%s.%s.%s.twindex", folder, path_base(pdb_path), debug_id,
                            names_word(names));
    return arena_printf(keep, "%s.%s.twindex", pdb_path, names_word(names));
}

/* The user's cache of indexes, for PDBs in folders that cannot be written; NULL: none. */
static const char *cache_folder(struct arena *keep)
{
    const char *cache = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    const char *local = getenv("LOCALAPPDATA");
    if (cache != NULL && cache[0] != '\0')
        return arena_printf(keep, "%s/twinstack", cache);
    if (local != NULL && local[0] != '\0')
        return arena_printf(keep, "%s/twinstack", local);
    return home != NULL && home[0] != '\0' ? arena_printf(keep, "%s/.cache/twinstack", home) : NULL;
}

/* Opens the index: beside the PDB, where `symbols index` puts it, or in the cache.  BUILD: makes
 * it first, in the cache, because a folder of symbols may be a sealed case or somebody's share.
 * The caller holds the PDB's mutex. */
static void open_index(const struct symbol_store *store, struct store_pdb *pdb, bool build)
{
    struct arena scratch;
    struct fault fault = FAULT_INIT;

    arena_init(&scratch, 0);
    const char *folder = store->index_folder != NULL ? store->index_folder : cache_folder(&scratch);
    const char *beside = symbol_index_path(pdb->path, pdb->debug_id, store->names, NULL, &scratch);
    const char *cached =
        folder != NULL ? symbol_index_path(pdb->path, pdb->debug_id, store->names, folder, &scratch)
                       : NULL;
    if (build && cached != NULL && folder_make(folder, &fault) == ERR_NONE)
        (void)symbol_index_build(&pdb->pdb, &pdb->map, store->names, 0, cached, NULL, &fault);
    if (beside != NULL && !build)
        (void)symbol_index_open(beside, &pdb->map, store->names, &pdb->index, &fault);
    fault_clear(&fault);
    if (pdb->index == NULL && cached != NULL)
        (void)symbol_index_open(cached, &pdb->map, store->names, &pdb->index, &fault);
    arena_free(&scratch);
}

struct source_view store_view(struct symbol_store *store, struct symbol_module *sources,
                              uint32_t lookups)
{
    struct source_view view = {sources, NULL};
    struct store_pdb *pdb = sources->pdb;

    if (pdb == NULL || !store->use_index)
        return view;
    mutex_lock(pdb->mutex);
    pdb->lookup_count += lookups;
    if (pdb->index == NULL && !pdb->index_tried) {
        pdb->index_tried = true;
        open_index(store, pdb, false);
    }
    if (pdb->index == NULL && !pdb->index_built && pdb->lookup_count >= STORE_INDEX_AFTER) {
        pdb->index_built = true;
        open_index(store, pdb, true);
    }
    view.index = pdb->index;
    mutex_unlock(pdb->mutex);
    return view;
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
        (void)pdb_lookup_open(&pdb->pdb, store->names, &pdb->lookup, &fault);
    if (pdb->lookup != NULL)
        count = pdb_lookup(pdb->lookup, (uint32_t)offset, out);
    mutex_unlock(pdb->mutex);
    return count;
}

/* Writes readable names into KEEP where they differ; the table is borrowed from the image. */
static void read_names(struct pe_symbol *symbols, uint32_t count, enum symbol_names names, bool x86,
                       struct arena *keep)
{
    char text[UNDECORATED_BYTES];
    for (uint32_t i = 0; i < count; i++) {
        const size_t bytes = undecorate(symbols[i].name, names, x86, text, sizeof text);
        const char *copy = bytes > 0 ? arena_text(keep, text, bytes) : NULL;
        if (copy != NULL)
            symbols[i].name = copy;
    }
}

/* Reads what an image has in place of a PDB.  Each part that cannot be read is as if absent. */
static void read_image(struct store_image *image, enum symbol_names names)
{
    const bool x86 = image->pe.machine == PE_MACHINE_X86;
    struct fault faults[3] = {FAULT_INIT, FAULT_INIT, FAULT_INIT};

    image->names_read = true;
    (void)pe_dwarf_open(&image->pe, &image->dwarf, &faults[0]);
    if (pe_coff_functions(&image->pe, &image->arena, &image->functions, &image->function_count,
                          &faults[1]) != ERR_NONE)
        image->function_count = 0;
    if (pe_exports(&image->pe, &image->arena, &image->exports, &image->export_count, &faults[2]) !=
        ERR_NONE)
        image->export_count = 0;
    read_names(image->functions, image->function_count, names, x86, &image->arena);
    read_names(image->exports, image->export_count, names, x86, &image->arena);
}

/* Start of the function that the table of x64 and arm64 images holds for RVA; 0: none.
 * A row is 12 bytes {begin, end, unwind} on x64 and 8 {begin, unwind} on arm64, sorted. */
static uint32_t function_start(const struct pe *pe, uint32_t rva)
{
    const struct pe_directory *table = &pe->directories[PE_DIR_EXCEPTION];
    const uint32_t row = pe->machine == PE_MACHINE_X64 ? 12 : 0;
    uint32_t low = 0, high = row != 0 ? table->bytes / row : 0;
    const uint8_t *at = high > 0 ? pe_at(pe, table->rva, high * row) : NULL;

    if (at == NULL)
        return 0;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (load_u32(at + (size_t)middle * row) <= rva)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || load_u32(at + (size_t)(low - 1) * row + 4) <= rva)
        return 0;
    return load_u32(at + (size_t)(low - 1) * row);
}

/* The last symbol at or before RVA, if it can be the name of what stands there: an export says
 * where it starts and not how far it reaches. */
static const struct pe_symbol *nearest(const struct store_image *image,
                                       const struct pe_symbol *symbols, uint32_t count,
                                       uint32_t rva)
{
    struct pe_section of_rva, of_symbol;
    uint32_t low = 0, high = count;

    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (symbols[middle].rva <= rva)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return NULL;
    while (low > 1 && symbols[low - 2].rva == symbols[low - 1].rva)
        low--;
    const struct pe_symbol *symbol = &symbols[low - 1];
    if (!pe_section_of_rva(&image->pe, rva, &of_rva) ||
        !pe_section_of_rva(&image->pe, symbol->rva, &of_symbol) || of_rva.rva != of_symbol.rva ||
        (of_rva.flags & PE_SECTION_EXECUTE) == 0)
        return NULL;
    const uint32_t start = function_start(&image->pe, rva);
    if (start != 0)
        return symbol->rva >= start ? symbol : NULL;
    return rva - symbol->rva < STORE_EXPORT_BYTES ? symbol : NULL;
}

static uint32_t lookup_dwarf(struct store_image *image, uint32_t rva, enum symbol_names names,
                             struct symbol_frame *out)
{
    struct pe_dwarf_frame frames[SYMBOL_FRAMES_MAX];
    const uint32_t count =
        image->dwarf != NULL ? pe_dwarf_lookup(image->dwarf, rva, frames, SYMBOL_FRAMES_MAX) : 0;
    char text[UNDECORATED_BYTES];

    for (uint32_t i = 0; i < count; i++) {
        const char *name = frames[i].function;
        const size_t bytes = name != NULL ? undecorate(name, names, false, text, sizeof text) : 0;
        const char *copy = bytes > 0 ? arena_text(&image->arena, text, bytes) : NULL;
        out[i] = (struct symbol_frame){
            .function = copy != NULL ? copy : name,
            .file = frames[i].file,
            .line = frames[i].line,
            .distance = rva - frames[i].start_rva,
            .inlined = i + 1 < count,
            .from = SYMBOLS_DWARF,
        };
    }
    return count;
}

/* No lock is free of waiting here, but images without a PDB are not where speed is asked for. */
static uint32_t lookup_image(struct symbol_store *store, struct store_image *image, uint64_t offset,
                             struct symbol_frame *out)
{
    const uint32_t rva = (uint32_t)offset;
    const struct pe_symbol *symbol = NULL;

    mutex_lock(image->mutex);
    if (!image->names_read)
        read_image(image, store->names);
    uint32_t count = lookup_dwarf(image, rva, store->names, out);
    if (count == 0) {
        enum symbols_from from = SYMBOLS_COFF;
        symbol = nearest(image, image->functions, image->function_count, rva);
        if (symbol == NULL) {
            from = SYMBOLS_EXPORT;
            symbol = nearest(image, image->exports, image->export_count, rva);
        }
        if (symbol != NULL)
            out[count++] = (struct symbol_frame){
                .function = symbol->name, .distance = rva - symbol->rva, .from = from};
    }
    mutex_unlock(image->mutex);
    return count;
}

uint32_t symbol_lines(struct symbol_module *sources, uint64_t offset, uint32_t *out, uint32_t max)
{
    struct store_image *image = sources->image;
    uint32_t count = 0;

    if (image == NULL || sources->pdb != NULL || sources->csv != NULL || offset > UINT32_MAX)
        return 0;
    mutex_lock(image->mutex);
    if (!image->names_read)
        read_image(image, sources->store->names);
    if (image->dwarf != NULL)
        count = pe_dwarf_lines(image->dwarf, (uint32_t)offset, out, max);
    mutex_unlock(image->mutex);
    return count;
}

uint32_t store_view_lookup(const struct source_view *view, uint64_t offset,
                           struct symbol_frame out[SYMBOL_FRAMES_MAX])
{
    struct symbol_module *sources = view->sources;
    uint32_t count = 0;

    if (offset > UINT32_MAX)
        return 0;
    if (sources->csv != NULL)
        return lookup_csv(sources->csv, offset, out);
    if (view->index != NULL)
        count = symbol_index_lookup(view->index, (uint32_t)offset, out);
    else if (sources->pdb != NULL)
        count = lookup_pdb(sources->store, sources->pdb, offset, out);
    if (count == 0 && sources->breakpad != NULL)
        count = store_breakpad_lookup(sources->breakpad, offset, out);
    if (count == 0 && sources->image != NULL)
        count = lookup_image(sources->store, sources->image, offset, out);
    return count;
}

uint32_t symbol_lookup(struct symbol_module *sources, uint64_t offset,
                       struct symbol_frame out[SYMBOL_FRAMES_MAX])
{
    const struct source_view view = store_view(sources->store, sources, 1);
    return store_view_lookup(&view, offset, out);
}
