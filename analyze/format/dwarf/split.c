/* Split DWARF: units of .dwo files and .dwp packages; see dwarf.h.
 *
 * The index of a package (.debug_cu_index), version 2 and 5:
 *   u32 version (5: u16 and u16 0), u32 columns, u32 units, u32 slots
 *   u64 signature of each slot, 0: free; u32 row of each slot, from 1
 *   u32 section of each column; u32 offset of each row and column; u32 bytes likewise
 * Source: DWARF 5, 7.3.5; https://gcc.gnu.org/wiki/DebugFissionDWP. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "format/dwarf/reader.h"

enum { INDEX_COLUMNS_MAX = 16, INDEX_HEAD_BYTES = 16 };

static struct dwarf_split *add_split(struct dwarf *dwarf, uint64_t id, struct fault *fault)
{
    if (dwarf->split_count == DWARF_UNITS_MAX) {
        fault_set(fault, ERR_LIMIT, FAULT_NO_OFFSET, "units of split DWARF");
        return NULL;
    }
    if (!ARRAY_ROOM(dwarf->splits, dwarf->split_room, dwarf->split_count + 1)) {
        fault_no_memory(fault, "units of split DWARF");
        return NULL;
    }
    struct dwarf_split *split = &dwarf->splits[dwarf->split_count++];
    *split = (struct dwarf_split){.id = id};
    return split;
}

static struct dwarf_object *open_object(struct dwarf *dwarf, const struct object_debug *debug,
                                        const struct byte_view parts[DEBUG_SECTIONS],
                                        struct fault *fault)
{
    struct dwarf_object *object = dwarf_object_new(parts, debug, PART_SPLIT, fault);
    if (object == NULL)
        return NULL;
    object->alternate = dwarf->alternate;
    if (!ARRAY_ROOM(dwarf->opened, dwarf->opened_room, (uint64_t)dwarf->opened_count + 1)) {
        dwarf_object_free(object);
        fault_no_memory(fault, "split DWARF");
        return NULL;
    }
    dwarf->opened[dwarf->opened_count++] = object;
    return object;
}

/* The section that a column of the index describes; DEBUG_SECTIONS: one that is not read. */
static enum debug_section column_section(uint64_t number, uint64_t version)
{
    if (number == 1)
        return DEBUG_INFO;
    if (number == 3)
        return DEBUG_ABBREV;
    if (number == 6)
        return DEBUG_STR_OFFSETS;
    return number == 8 && version >= 5 ? DEBUG_RNGLISTS : DEBUG_SECTIONS;
}

struct unit_index {
    struct byte_view bytes;
    bool big_endian;
    uint64_t version, columns, units, slots;
    uint64_t rows, sections, offsets, sizes; /* where these tables start */
};

static bool read_index(const struct object_debug *debug, struct unit_index *out)
{
    const struct byte_view bytes = debug->split[DEBUG_UNIT_INDEX];
    struct dwarf_cursor c = cursor_over(bytes, 0, debug->big_endian);

    out->bytes = bytes;
    out->big_endian = debug->big_endian;
    const uint64_t word = cursor_fixed(&c, 4);
    out->columns = cursor_fixed(&c, 4);
    out->units = cursor_fixed(&c, 4);
    out->slots = cursor_fixed(&c, 4);
    if (c.failed)
        return false;
    out->version = word == 2 ? 2 : load_number(bytes.data, 2, debug->big_endian);
    if ((out->version != 2 && out->version != 5) || out->columns > INDEX_COLUMNS_MAX ||
        out->units > DWARF_UNITS_MAX || out->slots > 4 * (uint64_t)DWARF_UNITS_MAX)
        return false;
    out->rows = INDEX_HEAD_BYTES + 8 * out->slots;
    out->sections = out->rows + 4 * out->slots;
    out->offsets = out->sections + 4 * out->columns;
    out->sizes = out->offsets + 4 * out->columns * out->units;
    return out->sizes + 4 * out->columns * out->units <= bytes.bytes;
}

/* In one of the tables, which the index has room for. */
static uint64_t index_word(const struct unit_index *index, uint64_t offset)
{
    return load_number(index->bytes.data + offset, 4, index->big_endian);
}

static bool take_row(const struct unit_index *index, const struct object_debug *debug, uint64_t row,
                     struct byte_view parts[DEBUG_SECTIONS])
{
    for (uint64_t c = 0; c < index->columns; c++) {
        const enum debug_section section =
            column_section(index_word(index, index->sections + 4 * c), index->version);
        if (section == DEBUG_SECTIONS)
            continue;
        const uint64_t cell = 4 * ((row - 1) * index->columns + c);
        const uint64_t offset = index_word(index, index->offsets + cell);
        const uint64_t bytes = index_word(index, index->sizes + cell);
        const struct byte_view whole = debug->split[section];
        if (offset > whole.bytes || bytes > whole.bytes - offset)
            return false;
        parts[section] = (struct byte_view){whole.data + offset, (size_t)bytes};
    }
    parts[DEBUG_STR] = debug->split[DEBUG_STR];
    return parts[DEBUG_INFO].bytes > 0;
}

static enum status add_package(struct dwarf *dwarf, const struct object_debug *debug,
                               struct fault *fault)
{
    struct unit_index index;

    if (!read_index(debug, &index))
        return fault_set(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "index of a .dwp file");
    for (uint64_t i = 0; i < index.slots; i++) {
        const uint64_t row = index_word(&index, index.rows + 4 * i);
        struct byte_view parts[DEBUG_SECTIONS] = {{NULL, 0}};
        if (row == 0 || row > index.units || !take_row(&index, debug, row, parts))
            continue;
        const uint8_t *id = index.bytes.data + INDEX_HEAD_BYTES + 8 * i;
        struct dwarf_split *split = add_split(dwarf, load_number(id, 8, index.big_endian), fault);
        if (split == NULL)
            return fault->code;
        split->package = debug;
        memcpy(split->parts, parts, sizeof parts);
    }
    return ERR_NONE;
}

enum status dwarf_add_splits(struct dwarf *dwarf, const struct object_debug *debug,
                             struct fault *fault)
{
    struct byte_view parts[DEBUG_SECTIONS];

    if (debug->split[DEBUG_INFO].data == NULL)
        return ERR_NONE;
    if (debug->split[DEBUG_UNIT_INDEX].data != NULL)
        return add_package(dwarf, debug, fault);
    memcpy(parts, debug->split, sizeof parts);
    struct dwarf_object *object = open_object(dwarf, debug, parts, fault);
    for (uint32_t i = 0; object != NULL && i < object->context_count; i++) {
        if (object->contexts[i].dwo_id == 0)
            continue;
        struct dwarf_split *split = add_split(dwarf, object->contexts[i].dwo_id, fault);
        if (split == NULL)
            return fault->code;
        split->object = object;
        split->offset = object->contexts[i].offset;
    }
    return fault->code;
}

static const char *dwo_name(struct dwarf_context *context)
{
    struct dwarf_entry root;
    if (context == NULL || !dwarf_context_read(context, &root))
        return NULL;
    return dwarf_text(context, &root, AT_DWO_NAME);
}

/* Of several units with the id, the one that states the name which the skeleton does: clang gives
 * the same id to builds of one source that differ in what is inlined. Otherwise the first. */
static struct dwarf_split *choose_split(struct dwarf *dwarf, uint32_t first,
                                        struct dwarf_context *skeleton)
{
    struct dwarf_split *splits = dwarf->splits;
    if (first + 1 == dwarf->split_count || splits[first + 1].id != splits[first].id)
        return &splits[first];
    const char *wanted = dwo_name(skeleton);
    for (uint32_t i = first; wanted != NULL && i < dwarf->split_count; i++) {
        if (splits[i].id != splits[first].id)
            break;
        const char *name = splits[i].object == NULL
                               ? NULL
                               : dwo_name(dwarf_object_context(splits[i].object, splits[i].offset));
        if (name != NULL && strcmp(name, wanted) == 0)
            return &splits[i];
    }
    return &splits[first];
}

struct dwarf_context *dwarf_find_split(struct dwarf *dwarf, struct dwarf_context *skeleton)
{
    struct fault fault = FAULT_INIT;
    const uint32_t low = /* the first one with the id, which is not 0 */
        ARRAY_UPPER(dwarf->splits, dwarf->split_count, id, skeleton->dwo_id - 1);

    if (low == dwarf->split_count || dwarf->splits[low].id != skeleton->dwo_id)
        return NULL;
    struct dwarf_split *split = choose_split(dwarf, low, skeleton);
    if (split->object == NULL && split->package != NULL) {
        split->object = open_object(dwarf, split->package, split->parts, &fault);
        split->package = NULL;
        if (split->object != NULL && split->object->context_count > 0)
            split->offset = split->object->contexts[0].offset;
    }
    struct dwarf_context *full =
        split->object != NULL ? dwarf_object_context(split->object, split->offset) : NULL;
    if (full != NULL) { /* what is in the image */
        full->linked = skeleton->object;
        full->address_base = skeleton->address_base;
        full->old_list_base = skeleton->old_list_base;
        full->base_va = skeleton->base_va;
    }
    return full;
}
