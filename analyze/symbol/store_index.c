/* The indexes of opened files: where they are, and when they are built; see symbol_index.h.
 *
 * An index costs much more than one lookup in the file itself. So it is built only once there were
 * enough lookups for it to pay off, and for kinds of which the first lookup reads much of the file
 * soon (tests/bench/RESULTS.md has the figures). */
#include <string.h>

#include "base/hash.h"
#include "symbol/store_lookup.h"

/* Of a small file, such as a module of Wine, the index is built at once: in 40 ms at most, and the
 * next start is faster. A larger one pays with this many bytes for each lookup: an index takes 5 ns
 * for a byte of DWARF, a lookup without it 36 us. */
enum { INDEX_LARGE_BYTES = 8192, INDEX_LARGE_LEAST = 256 };

#define INDEX_SMALL_BYTES ((size_t)8 << 20)

static const char *names_word(enum symbol_names names)
{
    if (names == NAMES_SHORT)
        return "short";
    return names == NAMES_FULL ? "full" : "decorated";
}

char *symbol_index_path(const char *pdb_path, const char *debug_id, enum symbol_names names,
                        const char *folder, struct arena *keep)
{
    if (folder != NULL)
        return arena_printf(keep, "%s/%s.%s.%s.twindex", folder, path_base(pdb_path), debug_id,
                            names_word(names));
    return arena_printf(keep, "%s.%s.twindex", pdb_path, names_word(names));
}

uint64_t store_index_pays_soon(size_t file_bytes)
{
    return file_bytes > INDEX_SMALL_BYTES ? INDEX_LARGE_LEAST + file_bytes / INDEX_LARGE_BYTES : 0;
}

/* The key of an index in the cache. Versions of the layout have keys of their own, so that two
 * versions of this program do not replace each other's indexes. A file without an identity has its
 * path instead. */
static const char *cache_key(const struct source *source, struct arena *keep)
{
    const char *id = source->id.code_id[0] != '\0' ? source->id.code_id : source->id.debug_id;
    if (id[0] == '\0')
        id = arena_printf(keep, "%016llx-%u",
                          (unsigned long long)hash_text(HASH_START, source->path),
                          (unsigned)source->slice);
    return id != NULL ? arena_printf(keep, "%s.%s.%s.%d.twindex", path_base(source->path), id,
                                     names_word(source->names), SYMBOL_INDEX_VERSION)
                      : NULL;
}

static struct symbol_index_key key_of(const struct source *source)
{
    const struct source_indexing *indexing = &source->kind->indexing;
    struct symbol_index_key key = symbol_index_key(&source->map, source->names);
    key.is_image = !indexing->beside;
    key.companions = indexing->companions != NULL ? indexing->companions(source) : 0;
    return key;
}

static void open_cached(struct source *source, const struct symbol_index_key *key,
                        struct arena *scratch)
{
    const struct cache *cache = &source->store->cache;
    const char *name = cache_key(source, scratch);
    const char *path = name != NULL ? cache_path(cache, CACHE_INDEX, name, scratch) : NULL;
    struct fault fault = FAULT_INIT;
    if (path != NULL && symbol_index_open_key(path, key, &source->index, &fault) == ERR_NONE)
        cache_used(path, symbol_index_written_ns(source->index));
}

/* Opens the index beside the file, where `symbols index` puts it, or in the cache. */
static void open_index(struct source *source)
{
    const struct symbol_index_key key = key_of(source);
    struct fault fault = FAULT_INIT;
    struct arena scratch;

    source->index_asked = true;
    arena_init(&scratch, 0);
    const char *beside =
        source->kind->indexing.beside
            ? symbol_index_path(source->path, source->id.debug_id, source->names, NULL, &scratch)
            : NULL;
    if (beside != NULL)
        (void)symbol_index_open_key(beside, &key, &source->index, &fault);
    if (source->index == NULL)
        open_cached(source, &key, &scratch);
    arena_free(&scratch);
}

const struct cache *symbol_store_cache(const struct symbol_store *store)
{
    return &store->cache;
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

void symbol_store_expect_more(struct symbol_store *store, double more)
{
    mutex_lock(store->counters);
    store->more = more;
    mutex_unlock(store->counters);
}

double store_more(struct symbol_store *store)
{
    mutex_lock(store->counters);
    const double more = store->more;
    mutex_unlock(store->counters);
    return more;
}

static enum status write_index(struct source *source, const struct symbol_index_key *key,
                               const char *path, struct fault *fault)
{
    const struct source_indexing *indexing = &source->kind->indexing;
    struct code_pieces pieces = {.close = NULL};

    if (indexing->build != NULL)
        return indexing->build(source, key, path, fault);
    if (indexing->pieces(source, &pieces, fault) == ERR_NONE)
        (void)symbol_index_build_pieces(&pieces, key, path, NULL, fault);
    if (pieces.close != NULL)
        pieces.close(pieces.self);
    return fault->code;
}

/* Builds the index in the cache, because a symbol folder may be read-only or shared. */
static void build_index(struct source *source)
{
    const struct symbol_index_key key = key_of(source);
    const struct cache *cache = &source->store->cache;
    const uint64_t started_ns = clock_ns();
    struct fault fault = FAULT_INIT;
    struct arena scratch;

    source->index_built = true;
    arena_init(&scratch, 0);
    const char *name = cache_key(source, &scratch);
    const char *partial = name != NULL ? cache_partial(cache, &scratch) : NULL;
    if (partial != NULL && write_index(source, &key, partial, &fault) == ERR_NONE &&
        cache_publish(cache, partial, CACHE_INDEX, name, &fault) == ERR_NONE) {
        open_cached(source, &key, &scratch);
        count_build(source->store, started_ns);
    }
    arena_free(&scratch);
}

static bool has_indexes(const struct source *source)
{
    const struct source_indexing *indexing = &source->kind->indexing;
    return indexing->pays != NULL && source->store->indexing >= indexing->from;
}

bool store_has_index(struct source *source)
{
    uint32_t first_rva;
    uint64_t end_rva;

    if (!has_indexes(source))
        return false;
    if (!source->index_asked)
        open_index(source);
    if (source->index == NULL)
        return false;
    symbol_index_range(source->index, &first_rva, &end_rva);
    return end_rva > first_rva;
}

const struct symbol_index *store_index_of(struct source *source, uint32_t lookups)
{
    if (!has_indexes(source))
        return NULL;
    const uint64_t least = source->store->indexing == INDEXING_ALWAYS
                               ? 0
                               : source->kind->indexing.pays(source->map.bytes);
    mutex_lock(source->mutex);
    source->lookups += lookups;
    if (source->index == NULL && !source->index_asked)
        open_index(source);
    if (source->index == NULL && !source->index_built && source->lookups >= least)
        build_index(source);
    mutex_unlock(source->mutex);
    return source->index;
}
