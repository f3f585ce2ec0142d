/* Sources: portable PDBs, which name no code but the lines of methods; see store_managed.c. */
#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "symbol/store_find.h"

enum { GUID_DIGITS = 32 };

static enum status read_id(const void *data, size_t bytes, struct ppdb *pdb, struct source_id *out,
                           struct fault *fault)
{
    out->word = "ppdb";
    if (ppdb_open(data, bytes, pdb, fault) == ERR_NONE)
        ppdb_debug_id(pdb, out->debug_id);
    return fault->code;
}

static enum status identify(const struct file_map *file, uint32_t slice, struct arena *keep,
                            struct source_id *out, struct fault *fault)
{
    struct ppdb pdb;

    (void)slice;
    (void)keep;
    return read_id(file->data, file->bytes, &pdb, out, fault);
}

/* The age is written in several ways, and means nothing. */
static bool is_under(const struct source_id *id, const char *key)
{
    return strncmp(id->debug_id, key, GUID_DIGITS) == 0;
}

static enum source_fit fit(const struct source_id *id, const struct source_want *want)
{
    if (want->debug_id[0] != '\0' && is_under(id, want->debug_id))
        return FIT_IDENTITY;
    return store_pdb_name_fits(id->name, want->module) ? FIT_NAME : FIT_NONE;
}

/* As the Simple Symbol Query Protocol writes the age. */
static const char *protocol_key(const char *debug_id, struct arena *keep)
{
    return arena_printf(keep, "%.*sFFFFFFFF", GUID_DIGITS, debug_id);
}

static uint32_t places(const struct source_want *want, struct arena *keep,
                       struct source_place out[SOURCE_PLACES_MAX])
{
    const char *names[STORE_PDB_NAMES_MAX];
    const char *const key = protocol_key(want->debug_id, keep);
    uint32_t count = 0;

    store_pdb_names(want->module, want->pdb_name, keep, names);
    for (uint32_t i = 0; names[i] != NULL; i++) {
        out[count++] = (struct source_place){names[i], want->debug_id, names[i]};
        if (key != NULL)
            out[count++] = (struct source_place){names[i], key, names[i]};
    }
    return count;
}

static void store_as(const struct source_id *id, struct arena *keep, struct source_place *out)
{
    *out = (struct source_place){id->name, protocol_key(id->debug_id, keep), id->name};
}

static enum status open_file(struct source *source, struct fault *fault)
{
    struct ppdb *pdb = ARENA_NEW(source->keep, struct ppdb);

    if ((source->opened = pdb) == NULL)
        return fault_no_memory(fault, "symbol store");
    return read_id(source->map.data, source->map.bytes, pdb, &source->id, fault);
}

const struct ppdb *source_portable_of(const struct source *source)
{
    return source != NULL && source->kind == &source_portable ? source->opened : NULL;
}

/* Its sources: which of them are in it, and where SourceLink says they are. */
static enum status describe(struct source *source, struct json *to, struct fault *fault)
{
    const struct ppdb *pdb = source->opened;
    const struct metadata_bytes link = ppdb_source_link(pdb);
    struct arena scratch;

    arena_init(&scratch, 0);
    json_key_uint(to, "methods", pdb->md.tables[TABLE_METHOD_DEBUG_INFORMATION].count);
    json_key_string(to, "source_link",
                    link.bytes > 0 ? arena_text(&scratch, (const char *)link.data, link.bytes)
                                   : NULL);
    json_key_array(to, "documents");
    for (uint32_t i = 1; i <= pdb->md.tables[TABLE_DOCUMENT].count; i++) {
        struct fault ignored = FAULT_INIT;
        struct byte_view text = {0};
        const bool embedded = ppdb_source(pdb, i, &scratch, &text, &ignored);
        json_object(to);
        json_key_string(to, "name", ppdb_document(pdb, i, &scratch));
        json_key_uint_if(to, "embedded_bytes", text.bytes, embedded);
        json_object_end(to);
        arena_reset(&scratch);
    }
    json_array_end(to);
    arena_free(&scratch);
    return fault->code;
}

static enum status summarize(struct source *source, FILE *to, struct fault *fault)
{
    const struct ppdb *pdb = source->opened;
    const struct metadata_rows *tables = pdb->md.tables;
    (void)fprintf(to, "portable PDB, %" PRIu32 " methods, %" PRIu32 " documents\n",
                  tables[TABLE_METHOD_DEBUG_INFORMATION].count, tables[TABLE_DOCUMENT].count);
    return fault->code;
}

const struct source_kind source_portable = {
    .what = "portable PDB",
    .layer = LAYER_METHODS,
    .notes = {.other_build = NOTE_PDB_OTHER_BUILD},
    .recognize = ppdb_recognize,
    .identify = identify,
    .fit = fit,
    .is_under = is_under,
    .places = places,
    .store_as = store_as,
    .open = open_file,
    .describe = describe,
    .summarize = summarize,
};
