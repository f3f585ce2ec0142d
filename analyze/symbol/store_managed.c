/* Managed modules: names from the image's metadata, lines from a portable PDB, which is a file or
 * in the image; see symbol_store.h. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "format/portable_pdb/precompiled.h"
#include "symbol/source_link.h"
#include "symbol/store_find.h"
#include "symbol/store_managed.h"

enum { GUID_DIGITS = 32, SOURCE_LINKS_MAX = 64 };

/* A method with type arguments. */
struct instance {
    struct instance *next;
    const char *arguments, *name;
};

struct store_managed {
    bool has_pdb, has_image;
    struct ppdb pdb;       /* in a source's map, or in the arena */
    struct metadata image; /* in the image's map */
    const struct pe *pe;   /* of the image */
    enum managed_names names;
    struct mutex *mutex; /* over what follows */
    struct arena arena;
    const char **methods, **documents; /* names that were asked for, by row */
    struct instance **instances;       /* by row of the method */
    bool code_asked, has_code;
    struct precompiled code; /* once code_asked */
    struct store_managed *next;
};

/* NULL: it is no image of Windows. */
static const struct pe *pe_of(const struct source *image)
{
    const struct object_file *file = source_object_of(image);
    return file != NULL && file->kind == OBJECT_PE ? &file->as.pe : NULL;
}

static struct store_managed *add_managed(struct symbol_store *store)
{
    struct store_managed *managed = ARENA_NEW(&store->arena, struct store_managed);
    if (managed == NULL || (managed->mutex = mutex_new()) == NULL)
        return NULL;
    arena_init(&managed->arena, 0);
    static const enum managed_names spellings[] = {[NAMES_SHORT] = MANAGED_SHORT,
                                                   [NAMES_FULL] = MANAGED_FULL,
                                                   [NAMES_DECORATED] = MANAGED_RAW};
    managed->names = spellings[store->names];
    managed->next = store->managed;
    store->managed = managed;
    return managed;
}

void store_managed_close_all(struct symbol_store *store)
{
    for (struct store_managed *m = store->managed; m != NULL; m = m->next) {
        mutex_free(m->mutex);
        arena_free(&m->arena);
    }
}

/* Opens the portable PDB at PATH if it has the ID (NULL: any) or, without an image, the GUID of
 * DEBUG_ID ("": any). *OTHER: it is of another build. */
static bool open_file(struct symbol_store *store, struct store_managed *managed, const char *path,
                      const uint8_t *id, const char *debug_id, bool *other)
{
    struct fault fault = FAULT_INIT;
    struct source *source;

    if (store_open_source(store, &source_portable, path, 0, 0, &source, &fault) != ERR_NONE)
        return false;
    managed->pdb = *source_portable_of(source);
    managed->has_pdb = id != NULL
                           ? memcmp(id, managed->pdb.id, PPDB_ID_BYTES) == 0
                           : debug_id[0] == '\0' || source_portable.is_under(&source->id, debug_id);
    *other = *other || !managed->has_pdb;
    return managed->has_pdb;
}

/* Opens the portable PDB in IMAGE if it has the ID that the image states (NULL: none). */
static bool open_embedded(const struct pe *image, struct store_managed *managed, const uint8_t *id,
                          bool *other)
{
    struct fault fault = FAULT_INIT;
    struct byte_view embedded;

    if (managed_embedded_pdb(image, &managed->arena, &embedded, &fault) != ERR_NONE ||
        ppdb_open(embedded.data, embedded.bytes, &managed->pdb, &fault) != ERR_NONE)
        return false;
    managed->has_pdb = id == NULL || memcmp(id, managed->pdb.id, PPDB_ID_BYTES) == 0;
    *other = *other || !managed->has_pdb;
    return managed->has_pdb;
}

static void find_on_servers(struct symbol_store *store, const struct symbol_module *sources,
                            struct store_managed *managed, const uint8_t *id, const char *debug_id,
                            struct arena *scratch, bool *other)
{
    const struct source_want want = {
        .module = &sources->identity,
        .pdb_name = sources->image != NULL ? sources->image->id.pdb_name : NULL,
        .debug_id = debug_id};
    struct source_place places[SOURCE_PLACES_MAX];
    const uint32_t count = source_portable.places(&want, scratch, places);

    for (uint32_t r = 0; r < store->root_count + store->server_count; r++) {
        for (uint32_t i = 0; i < count; i++) {
            const char *path =
                store_find_on_server(store, store_server(store, r), places[i], scratch);
            if (path != NULL && open_file(store, managed, path, id, debug_id, other))
                return;
        }
    }
}

/* Without an identity a portable PDB that fits by its name may be used: not where the MVID is
 * known, which only an image can prove, nor where there are several builds. */
static bool may_fit_by_name(const struct symbol_store *store, struct symbol_module *sources)
{
    const char *first = NULL;
    if (sources->state == IDENTITY_AMBIGUOUS)
        return false;
    for (uint32_t i = 0; i < store->file_count; i++) {
        const struct store_file *file = &store->files[i];
        if (file->kind->layer != LAYER_METHODS || file->bound != NULL ||
            !store_pdb_name_fits(file->path, &sources->identity))
            continue;
        if (sources->identity.mvid[0] != '\0') {
            if (sources->note == NOTE_NONE)
                sources->note = NOTE_MVID_ALONE;
            return false;
        }
        if (first != NULL && strcmp(first, file->id.debug_id) != 0) {
            sources->state = IDENTITY_AMBIGUOUS;
            sources->note = NOTE_SEVERAL_BUILDS;
            return false;
        }
        first = file->id.debug_id;
    }
    return true;
}

/* Looks for the PDB: in the image, among the files that were named, on servers. */
static void find_pdb(struct symbol_store *store, struct symbol_module *sources,
                     struct store_managed *managed, const uint8_t *id, const char *debug_id,
                     struct arena *scratch)
{
    bool other = false;

    if (managed->has_image && open_embedded(pe_of(sources->image), managed, id, &other))
        return;
    store_list_files(store);
    const bool by_name = debug_id[0] == '\0' && may_fit_by_name(store, sources);
    for (uint32_t i = 0; i < store->file_count && !managed->has_pdb; i++) {
        const struct store_file *file = &store->files[i];
        if (file->bound != NULL) {
            if (text_equal_nocase(file->bound, sources->identity.name))
                (void)open_file(store, managed, file->path, NULL, sources->identity.debug_id,
                                &other);
            continue;
        }
        const bool fits = store_pdb_name_fits(file->path, &sources->identity);
        if (file->kind->layer == LAYER_METHODS &&
            (debug_id[0] != '\0' ? fits || strncmp(file->id.debug_id, debug_id, GUID_DIGITS) == 0
                                 : fits && by_name))
            (void)open_file(store, managed, file->path, id, debug_id, &other);
    }
    if (!managed->has_pdb && debug_id[0] != '\0')
        find_on_servers(store, sources, managed, id, debug_id, scratch, &other);
    if (!managed->has_pdb && other) {
        sources->note = NOTE_PDB_OTHER_BUILD;
        sources->without = SYMBOLS_MISMATCH;
    }
}

void store_find_managed(struct symbol_store *store, struct symbol_module *sources,
                        struct arena *scratch)
{
    struct fault fault = FAULT_INIT;
    const struct pe *pe = pe_of(sources->image);
    char debug_id[DEBUG_ID_BYTES];
    uint8_t id[PPDB_ID_BYTES];
    bool portable = pe != NULL && managed_recognize(pe);

    for (uint32_t i = 0; i < store->file_count && !portable; i++)
        portable = store->files[i].kind->layer == LAYER_METHODS;
    if (!portable &&
        (pe != NULL || sources->names != NULL || sources->identity.debug_id[0] == '\0'))
        return;
    struct store_managed *managed = add_managed(store);
    if (managed == NULL)
        return;
    managed->has_image = pe != NULL && managed_metadata(pe, &managed->image, &fault) == ERR_NONE;
    managed->pe = pe;
    const bool stated = managed->has_image && managed_pdb_id(pe, id);
    memcpy(debug_id, sources->identity.debug_id, sizeof debug_id);
    if (stated) /* the module may state the other PDB of a native image */
        module_debug_id(id, 1, debug_id);
    find_pdb(store, sources, managed, stated ? id : NULL, debug_id, scratch);
    if (!managed->has_pdb && !managed->has_image)
        return;
    sources->managed = managed;
    if (managed->has_pdb) {
        sources->note = NOTE_NONE;
        sources->without = SYMBOLS_NONE;
        if (sources->identity.debug_id[0] != '\0') /* not that of an image found by its name */
            sources->state = IDENTITY_CHECKED;
    }
}

void store_find_metadata(struct symbol_store *store, struct symbol_module *sources)
{
    struct fault fault = FAULT_INIT;
    struct metadata metadata;
    const struct pe *pe = pe_of(sources->image);
    if (pe == NULL || !managed_recognize(pe) || managed_metadata(pe, &metadata, &fault) != ERR_NONE)
        return;
    sources->managed = add_managed(store);
    if (sources->managed != NULL) {
        sources->managed->image = metadata;
        sources->managed->pe = pe;
        sources->managed->has_image = true;
    }
}

/* Row ROW of a cache of names with COUNT rows; NULL: no such row, or out of memory. */
static const char **remembered(struct store_managed *managed, const char ***names, uint32_t count,
                               uint32_t row)
{
    if (row == 0 || row > count)
        return NULL;
    if (*names == NULL)
        *names = ARENA_ARRAY(&managed->arena, (size_t)count + 1, const char *);
    return *names != NULL ? &(*names)[row] : NULL;
}

static const char *method_name(struct store_managed *managed, uint32_t token)
{
    const struct metadata_rows *methods = &managed->image.tables[TABLE_METHOD_DEF];
    const char **name = remembered(managed, &managed->methods,
                                   methods->at != NULL ? methods->count : 0, token & 0xFFFFFF);
    if (name != NULL && *name == NULL)
        *name = managed_method_name(&managed->image, token, managed->names, &managed->arena);
    return name != NULL ? *name : NULL;
}

/* The same with type arguments. Each name is made once, as the others are. */
static const char *instance_name(struct store_managed *managed, uint32_t token,
                                 const char *arguments)
{
    const struct metadata_rows *methods = &managed->image.tables[TABLE_METHOD_DEF];
    const uint32_t row = token & 0xFFFFFF, count = methods->at != NULL ? methods->count : 0;
    if (row == 0 || row > count)
        return NULL;
    if (managed->instances == NULL)
        managed->instances = ARENA_ARRAY(&managed->arena, (size_t)count + 1, struct instance *);
    if (managed->instances == NULL)
        return NULL;
    for (const struct instance *at = managed->instances[row]; at != NULL; at = at->next)
        if (strcmp(at->arguments, arguments) == 0)
            return at->name;
    struct instance *made = ARENA_NEW(&managed->arena, struct instance);
    if (made == NULL || (made->arguments = arena_string(&managed->arena, arguments)) == NULL)
        return NULL;
    made->name =
        managed_instance_name(&managed->image, token, managed->names, arguments, &managed->arena);
    made->next = managed->instances[row];
    managed->instances[row] = made;
    return made->name;
}

const char *store_managed_instance(struct store_managed *managed, uint32_t token,
                                   const char *arguments)
{
    const char *name = NULL;
    mutex_lock(managed->mutex);
    const uint32_t kickoff = managed->has_pdb ? ppdb_kickoff(&managed->pdb, token) : 0;
    if (managed->has_image)
        name = instance_name(managed, kickoff != 0 ? kickoff : token, arguments);
    mutex_unlock(managed->mutex);
    return name;
}

static const char *document_name(struct store_managed *managed, uint32_t number)
{
    const char **name = remembered(managed, &managed->documents,
                                   managed->pdb.md.tables[TABLE_DOCUMENT].count, number);
    if (name != NULL && *name == NULL)
        *name = ppdb_document(&managed->pdb, number, &managed->arena);
    return name != NULL ? *name : NULL;
}

/* The number of the document FILE; 0: there is none. */
static uint32_t document_of(struct store_managed *managed, const char *file)
{
    const uint32_t count = managed->pdb.md.tables[TABLE_DOCUMENT].count;
    for (uint32_t number = 1; number <= count; number++) {
        const char *name = document_name(managed, number);
        if (name != NULL && strcmp(name, file) == 0)
            return number;
    }
    return 0;
}

/* SourceLink of a native PDB. */
static const char *native_url(const struct pdb *pdb, const char *file, struct arena *keep)
{
    const char *url = NULL;
    for (uint32_t number = 0; number <= SOURCE_LINKS_MAX && url == NULL; number++) {
        uint32_t bytes = 0;
        const char *json = pdb_source_link(pdb, number, keep, &bytes);
        if (json != NULL)
            url = symbol_source_link(json, bytes, file, keep);
        else if (number > 0)
            break;
    }
    return url;
}

void symbol_source(struct symbol_module *sources, const char *file, struct arena *keep,
                   struct symbol_source *out)
{
    struct store_managed *managed = sources->managed;
    struct fault damaged = FAULT_INIT;
    struct byte_view text;

    *out = (struct symbol_source){0};
    const struct pdb *native = source_pdb_of(sources->names);
    if (native != NULL)
        out->url = native_url(native, file, keep);
    if (managed == NULL || !managed->has_pdb)
        return;
    mutex_lock(managed->mutex);
    const uint32_t number = document_of(managed, file);
    const struct metadata_bytes link = ppdb_source_link(&managed->pdb);
    if (number != 0 && ppdb_source(&managed->pdb, number, keep, &text, &damaged) &&
        (out->text = arena_text(keep, (const char *)text.data, text.bytes)) != NULL)
        out->bytes = text.bytes;
    if (number != 0)
        out->url = symbol_source_link((const char *)link.data, link.bytes, file, keep);
    mutex_unlock(managed->mutex);
}

/* Names the method TOKEN; IL NULL: its line is not known. The caller holds the mutex. */
static void name_place(struct store_managed *managed, uint32_t token, const uint32_t *il,
                       struct symbol_frame *out)
{
    struct ppdb_place place = {0};
    uint32_t method = token;

    if (managed->has_pdb) {
        const uint32_t kickoff = ppdb_kickoff(&managed->pdb, token);
        if (il != NULL)
            (void)ppdb_place(&managed->pdb, token, *il, &place);
        if (kickoff != 0) {
            out->note = ppdb_is_async(&managed->pdb, token) ? NOTE_ASYNC : NOTE_ITERATOR;
            method = kickoff;
        } else if (place.hidden && place.line != 0) {
            out->note = NOTE_HIDDEN;
        }
        out->file = document_name(managed, place.document);
        out->line = out->file != NULL ? place.line : 0;
    }
    if (managed->has_image)
        out->function = method_name(managed, method);
}

uint32_t store_managed_lookup(struct store_managed *managed, uint64_t key, struct symbol_frame *out)
{
    const uint32_t token = (uint32_t)(key >> 32), il = (uint32_t)key;

    *out = (struct symbol_frame){.distance = il, .from = SYMBOLS_PPDB};
    mutex_lock(managed->mutex);
    name_place(managed, token, &il, out);
    mutex_unlock(managed->mutex);
    return out->function != NULL || out->line != 0;
}

uint32_t store_managed_native(struct store_managed *managed, uint32_t rva, struct symbol_frame *out)
{
    struct fault fault = FAULT_INIT;
    struct precompiled_place place;

    *out = (struct symbol_frame){.from = SYMBOLS_PPDB};
    if (!managed->has_image)
        return 0;
    mutex_lock(managed->mutex);
    if (!managed->code_asked) {
        managed->code_asked = true;
        managed->has_code =
            precompiled_open(managed->pe, &managed->arena, &managed->code, &fault) == ERR_NONE;
    }
    if (managed->has_code && precompiled_find(&managed->code, rva, &place)) {
        out->distance = rva - place.begin_rva;
        name_place(managed, place.token, place.il < PRECOMPILED_IL_LAST ? &place.il : NULL, out);
    }
    mutex_unlock(managed->mutex);
    return out->function != NULL;
}
