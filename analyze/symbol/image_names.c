/* Which files belong to an image, and opening them; see image_names.h. */
#include "symbol/image_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "symbol/source.h"
#include "symbol/symbol_object.h"

enum {
    ELF_LOADED_CODE = 6,
    ELF_NO_BYTES = 8,
    ELF_RELOCATABLE = 1,
    MACHO_RELOCATABLE = 1,
    MACHO_DSYM = 10
};

static void read_elf_traits(const struct elf *elf, struct object_candidate *out)
{
    struct elf_section section;

    out->is_code = elf->section_count == 0;
    for (uint32_t i = 0; elf_section(elf, i, &section); i++) {
        const size_t bytes = strlen(section.name);
        if ((section.flags & ELF_LOADED_CODE) == ELF_LOADED_CODE && section.bytes > 0) {
            out->is_code = true;
            out->has_code = out->has_code || section.type != ELF_NO_BYTES;
        }
        out->has_split =
            out->has_split || (bytes > 4 && strcmp(section.name + bytes - 4, ".dwo") == 0);
    }
    out->is_code = out->is_code && elf->type != ELF_RELOCATABLE;
}

static void read_macho_traits(const struct macho *macho, struct object_candidate *out)
{
    struct macho_section section;

    for (uint32_t i = 0; macho_section(macho, i, &section); i++) {
        /* old versions of dsymutil state no sizes */
        if (strcmp(section.segment, "__TEXT") == 0 &&
            (section.bytes > 0 || macho->type == MACHO_DSYM)) {
            out->is_code = true;
            out->has_code = out->has_code || section.foff != 0;
        }
    }
    out->is_code = out->is_code && macho->type != MACHO_RELOCATABLE;
    out->has_code = out->has_code && macho->type != MACHO_DSYM;
}

/* A debug file has the sections of its image, without their bytes. */
static void read_pe_traits(const struct pe *pe, struct object_candidate *out)
{
    struct pe_section section;
    bool states_code = false;

    out->is_code = true;
    for (uint32_t i = 0; pe_section(pe, i, &section); i++) {
        const bool is_code = (section.flags & (PE_SECTION_CODE | PE_SECTION_EXECUTE)) != 0;
        states_code = states_code || is_code;
        out->has_code = out->has_code || (is_code && section.raw_bytes > 0);
    }
    out->has_code = out->has_code || !states_code;
}

void object_candidate_of(const struct object_file *file, uint32_t slice,
                         struct object_candidate *out)
{
    memset(out, 0, sizeof *out);
    out->kind = file->kind;
    out->slice = slice;
    memcpy(out->id, file->id, sizeof out->id);
    memcpy(out->debug_id, file->debug_id, sizeof out->debug_id);
    if (file->kind == OBJECT_ELF)
        read_elf_traits(&file->as.elf, out);
    else if (file->kind == OBJECT_MACHO)
        read_macho_traits(&file->as.macho, out);
    else if (file->kind == OBJECT_PE)
        read_pe_traits(&file->as.pe, out);
    out->arch = object_file_arch(file);
}

bool object_candidate_read(const void *data, size_t bytes, uint32_t slice,
                           struct object_candidate *out, struct fault *fault)
{
    struct object_file file;

    if (object_file_open(data, bytes, slice, &file, fault) != ERR_NONE)
        return false;
    object_candidate_of(&file, slice, out);
    return true;
}

/* True when the file of that name and checksum is the candidate. */
static bool is_linked(const struct object_candidate *candidate, const char *name, uint32_t crc)
{
    struct fault fault = FAULT_INIT;
    struct file_map map;
    bool unpacked;

    if (strcmp(candidate->name, path_base(name)) != 0 ||
        source_map(candidate->path, &map, &unpacked, &fault) != ERR_NONE)
        return false;
    const bool same = elf_debug_link_crc(map.data, map.bytes) == crc;
    source_unmap(&map, unpacked);
    return same;
}

/* True when the candidate is named like the debug file of a PE image: "app.exe.debug". */
static bool is_named_after(const struct object_candidate *candidate, const char *image_path)
{
    const char *name = path_base(image_path);
    const size_t bytes = strlen(name);

    return candidate->kind == OBJECT_PE && !candidate->has_code &&
           strncmp(candidate->name, name, bytes) == 0 &&
           (strcmp(candidate->name + bytes, ".debug") == 0 ||
            strcmp(candidate->name + bytes, ".dbg") == 0);
}

/* True when every section of IMAGE lies at the same place in DEBUG. The tools that strip an image
 * change its size and its time, so its identity is no help. */
static bool has_same_sections(const struct pe *image, const struct pe *debug)
{
    struct pe_section own, other;

    for (uint32_t i = 0; pe_section(image, i, &own); i++)
        if (!pe_section_of_rva(debug, own.rva, &other) || other.rva != own.rva ||
            other.virtual_bytes != own.virtual_bytes)
            return false;
    return image->machine == debug->machine;
}

enum debug_file_rule { BY_ID, BY_LINK, BY_NAME, DEBUG_FILE_RULES };

/* True when the candidate is the image's debug file by that rule. */
static bool fits_image(const struct object_file *image, const char *image_path,
                       const struct object_candidate *c, enum debug_file_rule rule)
{
    const char *name;
    uint32_t crc;

    switch (rule) {
    case BY_ID:
        return image->id[0] != '\0' && strcmp(c->id, image->id) == 0;
    case BY_LINK:
        return object_file_link(image, &name, &crc) && is_linked(c, name, crc);
    default:
        return is_named_after(c, image_path);
    }
}

/* Opens the debug file of the image: by its id, else by its link, else by its name. *path: of the
 * image, then of that file. *damaged: some of what it holds is unreadable. */
static bool find_debug_file(struct symbol_object *object, const char **path,
                            const struct object_candidate *candidates, uint32_t count,
                            struct object_file *out, struct object_debug *debug, bool *damaged)
{
    const struct object_file *image = &object->image;
    const char *image_path = *path;

    for (int rule = BY_ID; rule < DEBUG_FILE_RULES; rule++) {
        for (uint32_t i = 0; i < count; i++) {
            const struct object_candidate *c = &candidates[i];
            if (c->kind != image->kind || strcmp(c->path, image_path) == 0)
                continue;
            struct fault fault = FAULT_INIT;
            const bool open = fits_image(image, image_path, c, (enum debug_file_rule)rule) &&
                              object_map(object, c, out) &&
                              (rule != BY_NAME || has_same_sections(&image->as.pe, &out->as.pe));
            if (open && object_file_debug(out, &object->arena, debug, &fault)) {
                *damaged = fault.code != ERR_NONE; /* this file alone answers */
                *path = c->path;
                return true;
            }
            *damaged = *damaged || (open && fault.code != ERR_NONE);
        }
    }
    return false;
}

uint64_t symbol_object_companions(const struct object_file *image, const char *image_path,
                                  const struct object_candidate *candidates, uint32_t count)
{
    const char *name = NULL;
    uint64_t hash = HASH_START;
    uint32_t crc;
    const bool linked = object_file_link(image, &name, &crc);

    for (uint32_t i = 0; i < count; i++) {
        const struct object_candidate *c = &candidates[i];
        if (c->path == NULL || strcmp(c->path, image_path) == 0 ||
            (c->kind != image->kind && c->kind != OBJECT_ARCHIVE))
            continue;
        if (image->kind == OBJECT_PE && (image->id[0] == '\0' || strcmp(c->id, image->id) != 0) &&
            (!linked || strcmp(c->name, path_base(name)) != 0) && !is_named_after(c, image_path))
            continue; /* split DWARF and debug maps are not read of PE files */
        hash = hash_text(hash_text(hash_text(hash, c->path), c->id), c->debug_id);
    }
    return hash != HASH_START ? hash : 0;
}

/* The file into which dwz moved the data that several files share. */
static const struct object_debug *find_alternate(struct symbol_object *object,
                                                 const struct object_file *file,
                                                 const struct object_candidate *candidates,
                                                 uint32_t count)
{
    char id[ELF_BUILD_ID_BYTES];
    struct fault fault = FAULT_INIT;
    struct object_file found;
    const char *name;

    if (file->kind != OBJECT_ELF || !elf_alternate_link(&file->as.elf, &name, id))
        return NULL;
    for (uint32_t i = 0; i < count; i++) {
        const struct object_candidate *c = &candidates[i];
        const bool fits = id[0] != '\0' && c->id[0] != '\0' ? strcmp(c->id, id) == 0
                                                            : strcmp(c->name, path_base(name)) == 0;
        struct object_debug *debug = NULL;
        if (c->kind == OBJECT_ELF && fits && object_map(object, c, &found) &&
            (debug = ARENA_NEW(&object->arena, struct object_debug)) != NULL &&
            object_file_debug(&found, &object->arena, debug, &fault))
            return debug;
    }
    return NULL;
}

/* Opens every file with units of split DWARF; the ids of the units decide which belong to this
 * image. */
static void find_splits(struct symbol_object *object, const struct object_debug *own,
                        const struct object_candidate *candidates, uint32_t count,
                        struct dwarf_input *input)
{
    const struct object_debug **splits =
        ARENA_ARRAY(&object->arena, (size_t)count + 1, const struct object_debug *);
    struct fault fault = FAULT_INIT;
    struct object_file file;

    if (splits == NULL)
        return;
    input->splits = splits;
    if (own->split[DEBUG_INFO].data != NULL)
        splits[input->split_count++] = own;
    for (uint32_t i = 0; i < count && input->split_count < DWARF_SPLITS_MAX; i++) {
        struct object_debug *debug = NULL;
        if (candidates[i].has_split && candidates[i].kind == object->image.kind &&
            !candidates[i].is_code && object_map(object, &candidates[i], &file) &&
            (debug = ARENA_NEW(&object->arena, struct object_debug)) != NULL &&
            object_file_debug(&file, &object->arena, debug, &fault))
            splits[input->split_count++] = debug;
    }
}

static void read_object(struct symbol_object *object, const char *image_path,
                        const struct object_candidate *candidates, uint32_t count)
{
    struct object_debug *debug = ARENA_NEW(&object->arena, struct object_debug);
    struct object_file *other = ARENA_NEW(&object->arena, struct object_file);
    struct fault fault = FAULT_INIT;
    const struct object_file *from = &object->image;
    const char *path = image_path;

    if (debug == NULL || other == NULL)
        return;
    bool found = object_file_debug(&object->image, &object->arena, debug, &fault) &&
                 debug->own[DEBUG_INFO].data != NULL;
    object->code = *debug;
    object->damaged = fault.code != ERR_NONE;
    if (!found &&
        find_debug_file(object, &path, candidates, count, other, debug, &object->damaged)) {
        found = true;
        from = other;
    }
    if (found) {
        struct dwarf_input input = {.debug = debug};
        if (from->kind == OBJECT_ELF && from->as.elf.segment_count == 0)
            debug->base_va = object->code.base_va;
        struct file_peek peek = {.handle = -1};
        if (from->map != NULL)
            file_peek_open(path, from->map, &peek);
        debug->peek = &peek;
        input.alternate = find_alternate(object, from, candidates, count);
        find_splits(object, debug, candidates, count, &input);
        (void)object_add_part(object, &input);
        file_peek_close(&peek);
        debug->peek = NULL;
    } else if (object->image.kind == OBJECT_MACHO) {
        object_read_debug_map(object, candidates, count);
    }
    object_read_symbols(object, from, found);
}

enum status symbol_object_open(const struct object_file *image, const char *image_path,
                               const struct object_candidate *candidates, uint32_t count,
                               enum symbol_names names, struct symbol_object **out,
                               struct fault *fault)
{
    struct symbol_object *object = calloc(1, sizeof *object);

    *out = object;
    if (object == NULL)
        return fault_no_memory(fault, "symbols of an image");
    arena_init(&object->arena, 0);
    object->image = *image;
    object->names = names;
    read_object(object, image_path, candidates, count);
    object_count_functions(object);
    return ERR_NONE;
}

void symbol_object_close(struct symbol_object *object)
{
    if (object == NULL)
        return;
    for (uint32_t i = 0; i < object->part_count; i++)
        dwarf_close(object->parts[i].dwarf);
    for (uint32_t i = 0; i < object->map_count; i++)
        source_unmap(&object->maps[i].map, object->maps[i].unpacked);
    free(object->maps);
    free(object->readable);
    free(object->by_linker.at);
    arena_free(&object->arena);
    free(object);
}
