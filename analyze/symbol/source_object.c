/* Sources: PE, ELF and Mach-O files: images, and files with their debug information. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bytes.h"
#include "base/json.h"
#include "base/text.h"
#include "symbol/store_lookup.h"

struct opened_object {
    struct object_file file;
    struct symbol_object *names; /* NULL until the first question that the index cannot answer */
};

/* Programs of DOS start like PE files. */
static bool recognize(const void *data, size_t bytes)
{
    enum { NEW_HEADER = 0x3c };
    const uint8_t *at = data;
    const enum object_kind kind = object_recognize(data, bytes);

    if (kind != OBJECT_PE || bytes < NEW_HEADER + 4)
        return kind != OBJECT_NONE;
    const uint32_t foff = load_u32(at + NEW_HEADER);
    return foff > bytes || bytes - foff < 4 || memcmp(at + foff, "PE\0", 4) == 0;
}

/* Sections whose bytes end after the file. */
static bool is_cut_short(const struct pe *pe, size_t bytes)
{
    struct pe_section section;
    bool cut = false;

    for (uint32_t i = 0; pe_section(pe, i, &section); i++)
        cut = cut || (uint64_t)section.foff + section.raw_bytes > bytes;
    return cut;
}

static void read_id(const struct object_file *file, uint32_t slice, struct source_id *out)
{
    static const char *const words[] = {[OBJECT_PE] = "image",
                                        [OBJECT_ELF] = "elf",
                                        [OBJECT_MACHO] = "macho",
                                        [OBJECT_ARCHIVE] = NULL};
    struct object_candidate *object = &out->object;

    object_candidate_of(file, slice, object);
    out->word = words[object->kind];
    out->arch = object->arch;
    out->is_debug = !object->has_code;
    memcpy(out->debug_id, object->debug_id, sizeof out->debug_id);
    if (object->kind == OBJECT_PE) {
        pe_code_id(&file->as.pe, out->code_id);
        pe_first_debug_id(&file->as.pe, out->first_debug_id);
        if (strcmp(out->first_debug_id, out->debug_id) == 0)
            out->first_debug_id[0] = '\0';
        (void)managed_mvid(&file->as.pe, out->mvid);
        out->cut_short = is_cut_short(&file->as.pe, file->bytes.bytes);
    }
    if (object->kind == OBJECT_ELF && object->has_code && !object->is_code && !object->has_split)
        out->useless = "it is not linked, so its offsets mean nothing: name the program or library "
                       "that it is in";
}

static enum status identify(const struct file_map *map, uint32_t slice, struct arena *keep,
                            struct source_id *out, struct fault *fault)
{
    struct object_file file;

    (void)keep;
    if (slice > 0 && object_recognize(map->data, map->bytes) != OBJECT_MACHO)
        return fault_set(fault, ERR_ABSENT, FAULT_NO_OFFSET, "slice of a file");
    if (object_file_open(map->data, map->bytes, slice, &file, fault) == ERR_NONE)
        read_id(&file, slice, out);
    return fault->code;
}

static bool is_other_mvid(const struct source_id *id, const struct module *module)
{
    return module->mvid[0] != '\0' && id->mvid[0] != '\0' && strcmp(id->mvid, module->mvid) != 0;
}

bool source_names_pdb(const struct source_id *id, const char *debug_id)
{
    return debug_id[0] != '\0' &&
           (strcmp(id->debug_id, debug_id) == 0 || strcmp(id->first_debug_id, debug_id) == 0);
}

/* Files of other systems have no code_id in Windows' sense. */
static bool has_identity(const struct source_id *id, const struct module *module)
{
    if (is_other_mvid(id, module))
        return false;
    if (module->code_id[0] == '\0' && module->debug_id[0] == '\0')
        return module->mvid[0] != '\0' && strcmp(id->mvid, module->mvid) == 0;
    if (module->code_id[0] == '\0' || id->code_id[0] == '\0')
        return source_names_pdb(id, module->debug_id);
    const bool clash = module->debug_id[0] != '\0' && id->debug_id[0] != '\0' &&
                       !source_names_pdb(id, module->debug_id);
    return text_equal_nocase(id->code_id, module->code_id) && !clash;
}

/* A module without an identity may also get the debug file of its image: "app.exe.debug". */
static bool has_name(const struct source_id *id, const struct module *module)
{
    static const char *const ends[] = {".debug", ".dbg"};
    const bool stated = module->code_id[0] != '\0' || module->debug_id[0] != '\0';
    bool same = text_equal_nocase(id->name, module->name);
    char text[256];

    for (size_t i = 0; !same && id->is_debug && !stated && i < COUNT_OF(ends); i++) {
        const int bytes = snprintf(text, sizeof text, "%s%s", module->name, ends[i]);
        same = bytes > 0 && (size_t)bytes < sizeof text && text_equal_nocase(id->name, text);
    }
    return same;
}

static enum source_fit fit(const struct source_id *id, const struct source_want *want)
{
    if (id->object.kind != OBJECT_NONE && !id->object.is_code)
        return FIT_NONE;
    if (has_identity(id, want->module))
        return FIT_IDENTITY;
    return has_name(id, want->module) ? FIT_NAME : FIT_NONE;
}

static bool is_under(const struct source_id *id, const char *key)
{
    return text_equal_nocase(id->code_id[0] != '\0' ? id->code_id : id->object.id, key);
}

static uint32_t places(const struct source_want *want, struct arena *keep,
                       struct source_place out[SOURCE_PLACES_MAX])
{
    const struct module *module = want->module;
    (void)keep;
    out[0] = (struct source_place){module->name, module->code_id, module->name};
    return 1;
}

/* Keys of SSQP (Simple Symbol Query Protocol): name/elf-buildid-ID/name and
 * name/mach-uuid-ID/name, and for files of symbols alone a fixed name.
 * Source: https://github.com/dotnet/symstore/blob/main/docs/specs/SSQP_Key_Conventions.md */
static void store_as(const struct source_id *id, struct arena *keep, struct source_place *out)
{
    const bool macho = id->object.kind == OBJECT_MACHO, code = id->object.has_code;

    *out = (struct source_place){id->name, id->code_id, id->name};
    if (id->object.kind == OBJECT_PE)
        return;
    if (!code)
        out->name = out->as = macho ? "_.dwarf" : "_.debug";
    if (id->object.id[0] != '\0')
        out->key = arena_printf(keep, "%s%s%s", macho ? "mach-uuid-" : "elf-buildid-",
                                code ? "" : "sym-", id->object.id);
}

static enum status open_file(struct source *source, struct fault *fault)
{
    const struct file_map *map = &source->map;
    struct opened_object *own = ARENA_NEW(source->keep, struct opened_object);
    struct pe_codeview codeview;

    if ((source->opened = own) == NULL)
        return fault_no_memory(fault, "symbol store");
    if (object_file_open(map->data, map->bytes, source->slice, &own->file, fault) != ERR_NONE)
        return fault->code;
    own->file.map = map;
    read_id(&own->file, source->slice, &source->id);
    if (own->file.kind == OBJECT_PE && pe_codeview(&own->file.as.pe, &codeview))
        source->id.pdb_name = arena_string(source->keep, path_base(codeview.pdb_path));
    return ERR_NONE;
}

const struct object_file *source_object_of(const struct source *source)
{
    const struct opened_object *own =
        source != NULL && source->kind == &source_object ? source->opened : NULL;
    return own != NULL ? &own->file : NULL;
}

static void close_file(struct source *source)
{
    struct opened_object *own = source->opened;
    symbol_object_close(own->names);
}

/* The candidates for files that belong to an image. Owned by the caller; NULL: out of memory. */
static struct object_candidate *candidates_of(const struct symbol_store *store)
{
    struct object_candidate *candidates = calloc((size_t)store->file_count + 1, sizeof *candidates);
    for (uint32_t i = 0; candidates != NULL && i < store->file_count; i++)
        candidates[i] = store->files[i].id.object;
    return candidates;
}

static uint64_t companions(const struct source *source)
{
    const struct opened_object *own = source->opened;
    struct object_candidate *candidates = candidates_of(source->store);
    const uint64_t hash = candidates != NULL
                              ? symbol_object_companions(&own->file, source->path, candidates,
                                                         source->store->file_count)
                              : 0;
    free(candidates);
    return hash;
}

/* Opens the names that the image has instead of a PDB, with the files that belong to it. NULL: out
 * of memory. The caller holds the mutex. */
static struct symbol_object *names_of(struct source *source)
{
    struct opened_object *own = source->opened;
    struct fault fault = FAULT_INIT;

    if (own->names != NULL)
        return own->names;
    struct object_candidate *candidates = candidates_of(source->store);
    if (candidates != NULL)
        (void)symbol_object_open(&own->file, source->path, candidates, source->store->file_count,
                                 source->names, &own->names, &fault);
    free(candidates);
    return own->names;
}

static uint32_t frames(struct source *source, uint64_t offset, struct symbol_frame *out)
{
    mutex_lock(source->mutex);
    struct symbol_object *names = names_of(source);
    const uint32_t count = names != NULL ? symbol_object_lookup(names, (uint32_t)offset, out) : 0;
    mutex_unlock(source->mutex);
    return count;
}

static uint32_t lines(struct source *source, uint32_t offset, uint32_t *out, uint32_t max)
{
    mutex_lock(source->mutex);
    struct symbol_object *names = names_of(source);
    const uint32_t count = names != NULL ? symbol_object_lines(names, offset, out, max) : 0;
    mutex_unlock(source->mutex);
    return count;
}

static enum status pieces(struct source *source, struct code_pieces *out, struct fault *fault)
{
    struct symbol_object *names = names_of(source);

    if (names == NULL)
        return fault_no_memory(fault, "symbols of an image");
    symbol_object_pieces(names, out);
    return ERR_NONE;
}

static enum status describe(struct source *source, struct json *to, struct fault *fault)
{
    if (source->id.object.kind != OBJECT_PE)
        json_key_string(to, "arch", object_arch_name(source->id.arch));
    return fault->code;
}

static enum status summarize(struct source *source, FILE *to, struct fault *fault)
{
    const struct source_id *id = &source->id;
    const char *arch = object_arch_name(id->arch);

    if (id->object.kind == OBJECT_PE)
        (void)fprintf(to, "image, PDB %s%s%s\n", id->debug_id[0] != '\0' ? id->debug_id : "none",
                      id->mvid[0] != '\0' ? ", MVID " : "", id->mvid);
    else
        (void)fprintf(to, "%s, %s, %s\n", id->word, arch != NULL ? arch : "no processor",
                      id->object.has_code ? "image" : "symbols");
    return fault->code;
}

const struct source_kind source_object = {
    .what = "PE, ELF or Mach-O file",
    .layer = LAYER_IMAGE,
    .has_slices = true,
    .notes = {.several = NOTE_SEVERAL_BUILDS},
    .recognize = recognize,
    .identify = identify,
    .fit = fit,
    .is_under = is_under,
    .places = places,
    .store_as = store_as,
    .open = open_file,
    .close = close_file,
    .frames = frames,
    .lines = lines,
    .indexing = {.from = INDEXING_IMAGES,
                 .pays = store_index_pays_soon,
                 .pieces = pieces,
                 .companions = companions},
    .describe = describe,
    .summarize = summarize,
};
