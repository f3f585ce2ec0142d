/* The indexes of a symbol store: where they are, when they are built, and which one answers for a
 * module; see symbol_index.h.
 *
 * An index costs much more than one lookup in the file itself. So the index of a PDB is built only
 * once there were many lookups in it; that of an image with other symbols or of a .sym file
 * sooner, because its first lookup has to read much of the file anyway (tests/bench/RESULTS.md has
 * the figures). */
#include <string.h>

#include "base/hash.h"
#include "symbol/store_parts.h"

enum {
    /* Lookups in a PDB after which its index pays off: building takes 1 ns per byte of it, and each
     * lookup without it 1 to 2 us, so this is when building costs as much as the lookups did, and
     * less than half of that the next time. */
    PDB_INDEX_BYTES = 2048, /* of the PDB, per lookup */
    PDB_INDEX_LEAST = 1024,
    IMAGE_INDEX_AFTER = 256, /* the same for an image that is large: */
};

#define SMALL_IMAGE_BYTES ((size_t)16 << 20)

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

/* The key of an index in the cache. Versions of the layout have keys of their own, so that two
 * versions of this program do not replace each other's indexes. */
static const char *key_of(const struct symbol_store *store, const char *path, const char *id,
                          struct arena *keep)
{
    return arena_printf(keep, "%s.%s.%s.%d.twindex", path_base(path), id, names_word(store->names),
                        SYMBOL_INDEX_VERSION);
}

/* The same of an image; one without an identity has its path instead. */
static const char *image_key_of(const struct symbol_store *store, const struct store_image *image,
                                struct arena *keep)
{
    const char *id = image->code_id[0] != '\0' ? image->code_id : image->debug_id;
    if (id[0] != '\0')
        return key_of(store, image->path, id, keep);
    const uint64_t hash = hash_text(HASH_START, image->path);
    id = arena_printf(keep, "%016llx-%u", (unsigned long long)hash, (unsigned)image->slice);
    return id != NULL ? key_of(store, image->path, id, keep) : NULL;
}

static struct symbol_index *open_cached(const struct symbol_store *store, const char *key,
                                        const struct symbol_index_key *for_what,
                                        struct arena *scratch)
{
    struct fault fault = FAULT_INIT;
    struct symbol_index *index = NULL;
    const char *path = key != NULL ? cache_path(&store->cache, CACHE_INDEX, key, scratch) : NULL;
    if (path != NULL && symbol_index_open_key(path, for_what, &index, &fault) == ERR_NONE)
        cache_used(path, symbol_index_written_ns(index));
    return index;
}

/* Counts what was built since the store was opened. */
static void count_build(struct symbol_store *store, uint64_t started_ns)
{
    mutex_lock(store->counters);
    store->built.indexes++;
    store->built.ns += clock_ns() - started_ns;
    mutex_unlock(store->counters);
}

void symbol_store_built(struct symbol_store *store, struct symbol_store_built *out)
{
    mutex_lock(store->counters);
    *out = store->built;
    mutex_unlock(store->counters);
}

/* Opens the index beside the PDB, where `symbols index` puts it, or in the cache. */
static void open_pdb_index(const struct symbol_store *store, struct store_pdb *pdb)
{
    const struct symbol_index_key key = symbol_index_key(&pdb->map, store->names);
    struct fault fault = FAULT_INIT;
    struct arena scratch;

    arena_init(&scratch, 0);
    const char *beside = symbol_index_path(pdb->path, pdb->debug_id, store->names, NULL, &scratch);
    if (beside != NULL)
        (void)symbol_index_open_key(beside, &key, &pdb->index, &fault);
    if (pdb->index == NULL)
        pdb->index =
            open_cached(store, key_of(store, pdb->path, pdb->debug_id, &scratch), &key, &scratch);
    arena_free(&scratch);
}

bool store_open_pdb_index(const struct symbol_store *store, struct store_pdb *pdb)
{
    uint32_t first_rva;
    uint64_t end_rva;

    if (store->indexing < INDEXING_AUTO)
        return false;
    if (!pdb->index_tried) {
        pdb->index_tried = true;
        open_pdb_index(store, pdb);
    }
    if (pdb->index == NULL)
        return false;
    symbol_index_range(pdb->index, &first_rva, &end_rva);
    return end_rva > first_rva;
}

/* Builds the index in the cache, because a symbol folder may be read-only or shared. */
static void build_pdb_index(struct symbol_store *store, struct store_pdb *pdb)
{
    const struct symbol_index_key for_what = symbol_index_key(&pdb->map, store->names);
    const uint64_t started_ns = clock_ns();
    struct fault fault = FAULT_INIT;
    struct arena scratch;

    arena_init(&scratch, 0);
    const char *key = key_of(store, pdb->path, pdb->debug_id, &scratch);
    const char *partial = key != NULL ? cache_partial(&store->cache, &scratch) : NULL;
    if (partial != NULL &&
        symbol_index_build(&pdb->pdb, &pdb->map, store->names, 0, partial, NULL, &fault) ==
            ERR_NONE &&
        cache_publish(&store->cache, partial, CACHE_INDEX, key, &fault) == ERR_NONE) {
        pdb->index = open_cached(store, key, &for_what, &scratch);
        count_build(store, started_ns);
    }
    arena_free(&scratch);
}

static struct symbol_index_key key_of_image(const struct symbol_store *store,
                                            const struct store_image *image)
{
    struct symbol_index_key key = symbol_index_key(&image->map, store->names);
    key.is_image = true;
    key.companions = store_image_companions(store, image);
    return key;
}

static void open_image_index(const struct symbol_store *store, struct store_image *image)
{
    const struct symbol_index_key for_what = key_of_image(store, image);
    struct arena scratch;

    arena_init(&scratch, 0);
    image->index = open_cached(store, image_key_of(store, image, &scratch), &for_what, &scratch);
    arena_free(&scratch);
}

static void build_image_index(struct symbol_store *store, struct store_image *image)
{
    const struct symbol_index_key for_what = key_of_image(store, image);
    const uint64_t started_ns = clock_ns();
    struct fault fault = FAULT_INIT;
    struct arena scratch;

    arena_init(&scratch, 0);
    const char *key = image_key_of(store, image, &scratch);
    const char *partial = key != NULL ? cache_partial(&store->cache, &scratch) : NULL;
    if (partial != NULL && store_image_open_names(store, image) &&
        symbol_index_build_object(image->names, &for_what, partial, NULL, &fault) == ERR_NONE &&
        cache_publish(&store->cache, partial, CACHE_INDEX, key, &fault) == ERR_NONE) {
        image->index = open_cached(store, key, &for_what, &scratch);
        count_build(store, started_ns);
    }
    arena_free(&scratch);
}

const struct symbol_index *store_image_index(struct symbol_store *store, struct store_image *image,
                                             uint32_t lookups)
{
    if (store->indexing == INDEXING_NONE)
        return NULL;
    const uint64_t least =
        store->indexing != INDEXING_ALWAYS && image->map.bytes > SMALL_IMAGE_BYTES
            ? IMAGE_INDEX_AFTER
            : 0;
    image->lookup_count += lookups;
    if (image->index == NULL && !image->index_tried) {
        image->index_tried = true;
        open_image_index(store, image);
    }
    if (image->index == NULL && !image->index_built && image->lookup_count >= least) {
        image->index_built = true;
        build_image_index(store, image);
    }
    return image->index;
}

static const struct symbol_index *pdb_index(struct symbol_store *store, struct store_pdb *pdb,
                                            uint32_t lookups)
{
    const uint64_t pays = PDB_INDEX_LEAST + pdb->map.bytes / PDB_INDEX_BYTES;
    const uint64_t least = store->indexing == INDEXING_ALWAYS ? 0 : pays;

    if (store->indexing < INDEXING_AUTO)
        return NULL;
    pdb->lookup_count += lookups;
    if (pdb->index == NULL && !pdb->index_built && pdb->lookup_count >= least) {
        pdb->index_built = true;
        build_pdb_index(store, pdb);
    }
    return pdb->index;
}

static void build_breakpad_index(struct symbol_store *store, struct store_breakpad *opened,
                                 const char *key, const struct symbol_index_key *for_what,
                                 struct arena *scratch)
{
    const uint64_t started_ns = clock_ns();
    struct fault fault = FAULT_INIT;
    const char *partial = cache_partial(&store->cache, scratch);
    const struct breakpad *whole = store_breakpad_whole(store, opened);

    if (partial != NULL && whole != NULL &&
        symbol_index_build_breakpad(whole, for_what, partial, NULL, &fault) == ERR_NONE &&
        cache_publish(&store->cache, partial, CACHE_INDEX, key, &fault) == ERR_NONE) {
        opened->index = open_cached(store, key, for_what, scratch);
        count_build(store, started_ns);
    }
}

/* A lookup without an index has to read the whole file first, so an index soon pays off. */
static const struct symbol_index *breakpad_index(struct symbol_store *store,
                                                 struct store_breakpad *opened, uint32_t lookups)
{
    struct symbol_index_key for_what = symbol_index_key(&opened->map, store->names);
    const uint64_t least =
        store->indexing != INDEXING_ALWAYS && opened->map.bytes > SMALL_IMAGE_BYTES
            ? IMAGE_INDEX_AFTER
            : 0;
    struct arena scratch;

    if (store->indexing == INDEXING_NONE)
        return NULL;
    opened->lookup_count += lookups;
    if (opened->index != NULL || opened->index_built)
        return opened->index;
    arena_init(&scratch, 0);
    const char *key = key_of(store, opened->path, opened->file.debug_id, &scratch);
    for_what.is_image = true;
    if (!opened->index_tried) {
        opened->index_tried = true;
        opened->index = open_cached(store, key, &for_what, &scratch);
    }
    if (opened->index == NULL && opened->lookup_count >= least && key != NULL) {
        opened->index_built = true;
        build_breakpad_index(store, opened, key, &for_what, &scratch);
    }
    arena_free(&scratch);
    return opened->index;
}

struct source_view store_view(struct symbol_store *store, struct symbol_module *sources,
                              uint32_t lookups)
{
    struct source_view view = {sources, NULL};

    if (sources->pdb != NULL) {
        mutex_lock(sources->pdb->mutex);
        view.index = pdb_index(store, sources->pdb, lookups);
        mutex_unlock(sources->pdb->mutex);
    } else if (sources->breakpad != NULL && sources->csv == NULL) {
        mutex_lock(sources->breakpad->mutex);
        view.index = breakpad_index(store, sources->breakpad, lookups);
        mutex_unlock(sources->breakpad->mutex);
    } else if (sources->image != NULL && sources->csv == NULL) {
        mutex_lock(sources->image->mutex);
        view.index = store_image_index(store, sources->image, lookups);
        mutex_unlock(sources->image->mutex);
    }
    return view;
}
