/* The files of an image: mapping them, and opening the DWARF of each; see object_parts.h. */
#include "base/array.h"
#include "symbol/object_parts.h"

bool object_map(struct symbol_object *object, const struct object_candidate *candidate,
                struct object_file *out)
{
    struct fault fault = FAULT_INIT;

    if (object->map_count == OBJECT_FILES_MAX)
        return false;
    struct file_map *wider = array_reserve(object->maps, &object->map_room,
                                           (uint64_t)object->map_count + 1, sizeof *wider);
    if (wider == NULL)
        return false;
    object->maps = wider;
    struct file_map *map = &object->maps[object->map_count];
    if (file_map(candidate->path, map, &fault) != ERR_NONE)
        return false;
    if (object_file_open(map->data, map->bytes, candidate->slice, out, &fault) != ERR_NONE) {
        file_unmap(map);
        return false;
    }
    object->map_count++;
    return true;
}

struct object_part *object_add_part(struct symbol_object *object, const struct dwarf_input *input)
{
    struct fault fault = FAULT_INIT;
    struct object_part *wider = arena_reserve(&object->arena, object->parts, &object->part_room,
                                              (uint64_t)object->part_count + 1, sizeof *wider);

    if (wider == NULL)
        return NULL;
    object->parts = wider;
    struct object_part *part = &object->parts[object->part_count++];
    const enum status status = dwarf_open(input, &part->dwarf, &fault);
    part->damaged = status != ERR_NONE && status != ERR_ABSENT;
    return part;
}
