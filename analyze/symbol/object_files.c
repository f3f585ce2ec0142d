/* The files of an image: mapping them, and opening the DWARF of each; see symbol_object.h. */
#include "base/array.h"
#include "symbol/source.h"
#include "symbol/symbol_object.h"

bool object_map(struct symbol_object *object, const struct object_candidate *candidate,
                struct object_file *out)
{
    struct fault fault = FAULT_INIT;

    if (object->map_count == OBJECT_FILES_MAX)
        return false;
    if (!ARRAY_ROOM(object->maps, object->map_room, (uint64_t)object->map_count + 1))
        return false;
    struct object_map *own = &object->maps[object->map_count];
    const struct file_map *map = &own->map;
    if (source_map(candidate->path, &own->map, &own->unpacked, &fault) != ERR_NONE)
        return false;
    if (object_file_open(map->data, map->bytes, candidate->slice, out, &fault) != ERR_NONE) {
        source_unmap(&own->map, own->unpacked);
        return false;
    }
    out->map = own->unpacked ? NULL : map;
    object->map_count++;
    return true;
}

struct object_part *object_add_part(struct symbol_object *object, const struct dwarf_input *input)
{
    struct fault fault = FAULT_INIT;
    if (!ARENA_ROOM(&object->arena, object->parts, object->part_room,
                    (uint64_t)object->part_count + 1))
        return NULL;
    struct object_part *part = &object->parts[object->part_count++];
    const enum status status = dwarf_open(input, &part->dwarf, &fault);
    part->damaged = status != ERR_NONE && status != ERR_ABSENT;
    return part;
}

/* The symbols of .gnu_debugdata. */
static void add_mini_symbols(struct symbol_object *object)
{
    struct fault fault = FAULT_INIT;
    struct byte_view mini;
    struct elf elf;

    if (object->image.kind == OBJECT_ELF &&
        elf_mini_image(&object->image.as.elf, &object->arena, &mini, &fault) == ERR_NONE &&
        elf_open(mini.data, mini.bytes, &elf, &fault) == ERR_NONE) {
        elf.base_va = object->image.as.elf.base_va;
        (void)elf_add_symbols(&elf, &object->arena, &object->symbols, &fault);
    }
}

static void add_exports(struct symbol_object *object)
{
    struct fault fault = FAULT_INIT;
    struct pe_symbol *exports;
    uint32_t count;

    if (object->image.kind != OBJECT_PE)
        return;
    const enum status status =
        pe_exports(&object->image.as.pe, &object->arena, &exports, &count, &fault);
    object->damaged = object->damaged || fault.code != ERR_NONE;
    if (status != ERR_NONE)
        return;
    for (uint32_t i = 0; i < count; i++) {
        const struct object_symbol symbol = {.offset = exports[i].rva, .name = exports[i].name};
        (void)object_symbol_add(&object->exports, &object->arena, symbol, &fault);
    }
    object_symbols_sort(&object->exports);
}

/* FROM: the image, or the debug file of the image. */
static void read_symbols(struct symbol_object *object, const struct object_file *from)
{
    struct fault fault = FAULT_INIT;

    (void)object_file_symbols(&object->image, &object->arena, &object->symbols, &fault);
    if (from != &object->image)
        (void)object_file_symbols(from, &object->arena, &object->symbols, &fault);
    add_mini_symbols(object);
    object->damaged = object->damaged || object->symbols.damaged;
    object_symbols_sort(&object->symbols);
    add_exports(object);
    if (object->image.kind == OBJECT_MACHO)
        (void)macho_function_starts(&object->image.as.macho, &object->arena, &object->starts,
                                    &object->start_count, &fault);
}

const struct object_symbols *object_symbols_of(struct symbol_object *object)
{
    const struct object_file *from = object->symbols_wait;
    object->symbols_wait = NULL;
    if (from != NULL)
        read_symbols(object, from);
    return &object->symbols;
}

/* True when reading the symbols later changes no answer: what is damaged is known before. */
static bool symbols_can_wait(struct symbol_object *object, const struct object_file *from)
{
    struct elf_section mini;

    return object->image.kind == OBJECT_ELF && from->kind == OBJECT_ELF &&
           !elf_section_named(&object->image.as.elf, ".gnu_debugdata", &mini) &&
           elf_symbols_are_whole(&object->image.as.elf, &object->arena) &&
           elf_symbols_are_whole(&from->as.elf, &object->arena);
}

void object_read_symbols(struct symbol_object *object, const struct object_file *from,
                         bool has_dwarf)
{
    if (has_dwarf && symbols_can_wait(object, from))
        object->symbols_wait = from;
    else
        read_symbols(object, from);
}
