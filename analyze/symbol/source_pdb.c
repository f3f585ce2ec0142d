/* Sources: native PDBs, MSFZ among them. */
#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "format/pdb/pdb.h"
#include "format/pdb/types.h"
#include "format/portable_pdb/ppdb.h"
#include "symbol/export.h"
#include "symbol/pdb_lookup.h"
#include "symbol/store_lookup.h"

enum {
    /* Lookups in a PDB after which its index pays off: building takes 1 ns per byte of it, and each
     * lookup without it 1 to 2 us, so this is when building costs as much as the lookups did, and
     * less than half of that the next time. */
    INDEX_BYTES = 2048, /* of the PDB, per lookup */
    INDEX_LEAST = 1024,
    EXPECT_EACH = 64, /* questions, until one looks how many more will come */
};

struct opened_pdb {
    struct pdb pdb;            /* whole only after read_lists() */
    bool lists_wait;           /* of pdb: not read, because of the index */
    const struct pe *image;    /* NULL: not known */
    struct pdb_lookup *lookup; /* NULL until the first question */
    uint64_t questions;
    enum frame_note unnamed; /* NOTE_NONE: not looked into */
};

static bool recognize(const void *data, size_t bytes)
{
    return pdb_recognize(data, bytes) && !ppdb_recognize(data, bytes);
}

static enum status identify(const struct file_map *file, uint32_t slice, struct arena *keep,
                            struct source_id *out, struct fault *fault)
{
    struct pdb pdb;

    (void)slice;
    (void)keep;
    out->word = "pdb";
    if (pdb_open(file->data, file->bytes, &pdb, fault) != ERR_NONE)
        return fault->code;
    pdb_debug_id(&pdb, out->debug_id);
    out->cut_short = (uint64_t)pdb.msf.block_count * pdb.msf.block_bytes > pdb.msf.bytes;
    pdb_close(&pdb);
    return ERR_NONE;
}

/* Its index is read first: the lists take a tenth of the time of a start, and an index is only
 * written for a file whose lists could be read. */
static enum status open_file(struct source *source, struct fault *fault)
{
    struct opened_pdb *own = ARENA_NEW(source->keep, struct opened_pdb);

    source->id.word = "pdb";
    if ((source->opened = own) == NULL)
        return fault_no_memory(fault, "symbol store");
    if (pdb_open_headers(source->map.data, source->map.bytes, &own->pdb, fault) != ERR_NONE)
        return fault->code;
    pdb_debug_id(&own->pdb, source->id.debug_id);
    source->id.arch = own->pdb.machine == PE_MACHINE_ARM ? ARCH_ARM : ARCH_NONE;
    own->lists_wait = source->store != NULL && store_has_index(source);
    return own->lists_wait ? ERR_NONE : pdb_open_lists(&own->pdb, fault);
}

/* The caller holds the mutex. */
static struct pdb *read_lists(struct source *source)
{
    struct opened_pdb *own = source->opened;
    struct fault ignored = FAULT_INIT;
    if (own->lists_wait && pdb_open_lists(&own->pdb, &ignored) != ERR_NONE)
        own->pdb.module_count = 0; /* what was read until then stays valid */
    own->lists_wait = false;
    if (own->image != NULL)
        pdb_take_sections(&own->pdb, own->image);
    return &own->pdb;
}

struct pdb *source_pdb_of(struct source *source)
{
    if (source == NULL || source->kind != &source_pdb)
        return NULL;
    mutex_lock(source->mutex);
    struct pdb *pdb = read_lists(source);
    mutex_unlock(source->mutex);
    return pdb;
}

static void place(struct source *source, const struct source *image)
{
    const struct object_file *file = source_object_of(image);
    struct opened_pdb *own = source->opened;
    if (file == NULL || file->kind != OBJECT_PE ||
        !source_names_pdb(&image->id, source->id.debug_id))
        return;
    mutex_lock(source->mutex);
    own->image = &file->as.pe;
    mutex_unlock(source->mutex);
}

static void close_file(struct source *source)
{
    struct opened_pdb *own = source->opened;
    pdb_lookup_close(own->lookup);
    pdb_close(&own->pdb);
}

/* NULL: out of memory. The caller holds the mutex. */
static struct pdb_lookup *lookup_of(struct source *source)
{
    struct opened_pdb *own = source->opened;
    struct fault fault = FAULT_INIT;
    if (own->lookup == NULL &&
        pdb_lookup_open(read_lists(source), source->names, &own->lookup, &fault) == ERR_NONE)
        pdb_lookup_bound(own->lookup, &source->map, 0);
    return own->lookup;
}

/* The caller holds the mutex. */
static void expect(const struct source *source, struct pdb_lookup *lookup)
{
    struct opened_pdb *own = source->opened;
    if (++own->questions % EXPECT_EACH == 0 && source->store != NULL)
        pdb_lookup_expect(lookup, (uint64_t)((double)own->questions * store_more(source->store)));
}

static uint32_t frames(struct source *source, uint64_t offset, struct symbol_frame *out)
{
    mutex_lock(source->mutex);
    struct pdb_lookup *lookup = lookup_of(source);
    if (lookup != NULL)
        expect(source, lookup);
    const uint32_t count = lookup != NULL ? pdb_lookup(lookup, (uint32_t)offset, out) : 0;
    mutex_unlock(source->mutex);
    return count;
}

static uint32_t method(struct source *source, uint32_t token, uint32_t il, struct symbol_frame *out)
{
    mutex_lock(source->mutex);
    struct pdb_lookup *lookup = lookup_of(source);
    const uint32_t count = lookup != NULL ? pdb_lookup_method(lookup, token, il, out) : 0;
    mutex_unlock(source->mutex);
    return count;
}

static uint32_t lines(struct source *source, uint32_t offset, uint32_t *out, uint32_t max)
{
    mutex_lock(source->mutex);
    struct pdb_lookup *lookup = lookup_of(source);
    const uint32_t count = lookup != NULL ? pdb_lookup_lines(lookup, offset, out, max) : 0;
    mutex_unlock(source->mutex);
    return count;
}

static enum frame_note note(struct source *source)
{
    const struct opened_pdb *own = source->opened;

    if (own->pdb.fastlink)
        return NOTE_PDB_FASTLINK;
    if (!own->pdb.has_dbi)
        return NOTE_PDB_TYPES_ONLY;
    mutex_lock(source->mutex);
    const bool placed = own->lists_wait || own->image != NULL || own->pdb.section_count > 0;
    mutex_unlock(source->mutex);
    return placed ? NOTE_NONE : NOTE_PDB_NO_SECTIONS;
}

/* Inlined member functions are named by both tables. */
static bool has_types(const struct pdb *pdb)
{
    struct pdb_types types, ids;
    struct arena scratch;
    struct pdb_type last;

    arena_init(&scratch, 0);
    const bool whole = pdb_types_open(pdb, PDB_STREAM_TPI, &types) &&
                       pdb_types_open(pdb, PDB_STREAM_IPI, &ids) &&
                       pdb_type(&types, types.end - 1, &scratch, &last) &&
                       pdb_type(&ids, ids.end - 1, &scratch, &last);
    arena_free(&scratch);
    return whole;
}

static enum frame_note unnamed(struct source *source)
{
    struct opened_pdb *own = source->opened;
    mutex_lock(source->mutex);
    if (own->unnamed == NOTE_NONE)
        own->unnamed = has_types(&own->pdb) ? NOTE_CODE_UNNAMED : NOTE_PDB_NO_TYPES;
    const enum frame_note note = own->unnamed;
    mutex_unlock(source->mutex);
    return note;
}

static uint64_t index_pays(size_t file_bytes)
{
    return INDEX_LEAST + file_bytes / INDEX_BYTES;
}

static enum status build_index(struct source *source, const struct symbol_index_key *key,
                               const char *path, struct fault *fault)
{
    (void)key; /* it is the file's alone */
    const struct pdb *pdb = read_lists(source);
    if (pdb->has_dbi && pdb->section_count == 0) /* its image may still come */
        return fault_set(fault, ERR_ABSENT, FAULT_NO_OFFSET, "section headers of a PDB");
    return symbol_index_build(pdb, &source->map, source->names, 0, path, NULL, fault);
}

static enum status describe(struct source *source, struct json *to, struct fault *fault)
{
    const struct pdb *pdb = source_pdb_of(source);
    struct symbol_counts counts;

    if (symbol_count(pdb, &counts, fault) != ERR_NONE)
        return fault->code;
    json_key_uint(to, "modules", counts.modules);
    json_key_uint(to, "procedures", counts.procedures);
    json_key_uint(to, "thunks", counts.thunks);
    json_key_uint(to, "publics", counts.publics);
    json_key_uint(to, "inline_sites", counts.inline_sites);
    json_key_uint(to, "line_tables", counts.line_tables);
    json_key_bool(to, "fastlink", pdb->fastlink);
    json_key_bool(to, "stripped", pdb->stripped);
    return ERR_NONE;
}

static enum status summarize(struct source *source, FILE *to, struct fault *fault)
{
    const struct pdb *pdb = source_pdb_of(source);
    struct symbol_counts counts;

    if (symbol_count(pdb, &counts, fault) != ERR_NONE)
        return fault->code;
    (void)fprintf(to,
                  "%" PRIu32 " procedures, %" PRIu64 " inline sites, %" PRIu32
                  " line tables, %" PRIu32 " publics%s%s\n",
                  counts.procedures, counts.inline_sites, counts.line_tables, counts.publics,
                  pdb->fastlink ? ", FASTLINK" : "", pdb->stripped ? ", stripped" : "");
    return ERR_NONE;
}

const struct source_kind source_pdb = {
    .what = "PDB",
    .layer = LAYER_NAMES,
    .by_image = true,
    .notes = {.damaged = NOTE_PDB_DAMAGED,
              .unsupported = NOTE_PDB_UNSUPPORTED,
              .other_build = NOTE_PDB_OTHER_BUILD,
              .other_key = NOTE_PDB_OTHER_KEY,
              .several = NOTE_SEVERAL_BUILDS,
              .given = NOTE_GIVEN_PDB_OTHER_BUILD},
    .recognize = recognize,
    .identify = identify,
    .fit = source_fit_as_pdb,
    .is_under = source_has_debug_id,
    .places = source_places_of_pdb,
    .store_as = source_store_by_debug_id,
    .open = open_file,
    .close = close_file,
    .place = place,
    .frames = frames,
    .method = method,
    .lines = lines,
    .note = note,
    .unnamed = unnamed,
    .indexing = {.from = INDEXING_AUTO, .beside = true, .pays = index_pays, .build = build_index},
    .describe = describe,
    .summarize = summarize,
};
