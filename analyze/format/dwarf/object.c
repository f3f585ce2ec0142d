/* The list of units of one file; see dwarf.h.
 *
 * A unit's header is its length, u16 version; from version 5 on u8 kind, u8 bytes of an address,
 * the offset of its abbreviations; before that this offset, then the bytes of an address. Units
 * of split DWARF 5 state their id next. Source: DWARF 5, 7.5.1. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "format/dwarf/reader.h"

enum unit_kind {
    UNIT_TYPE = 2,
    UNIT_SKELETON = 4,
    UNIT_SPLIT_COMPILE = 5,
    UNIT_SPLIT_TYPE = 6,
};

/* Reads the header at the cursor, which then is at the end of the unit. False: it is damaged. */
static bool read_header(struct dwarf_object *object, struct dwarf_cursor *c,
                        struct dwarf_context *out)
{
    const uint8_t *info = object->sections[DEBUG_INFO].data;
    struct dwarf_format *format = &out->format;
    uint64_t kind = 0;

    memset(out, 0, sizeof *out);
    out->object = object;
    out->big_endian = object->big_endian;
    out->start = (uint64_t)(c->at - info);
    const uint64_t length = cursor_length(c, &format->offset_bytes);
    if (c->failed)
        return false;
    struct dwarf_cursor unit = {c->at, c->at + length, c->big_endian, false};
    cursor_skip(c, length);
    out->end = (uint64_t)(c->at - info);
    format->version = (uint16_t)cursor_fixed(&unit, 2);
    if (format->version >= 5) {
        kind = cursor_fixed(&unit, 1);
        format->address_bytes = (uint8_t)cursor_fixed(&unit, 1);
    }
    out->abbreviations_offset = cursor_fixed(&unit, format->offset_bytes);
    if (format->version < 5)
        format->address_bytes = (uint8_t)cursor_fixed(&unit, 1);
    if (kind == UNIT_SKELETON || kind == UNIT_SPLIT_COMPILE)
        out->dwo_id = cursor_fixed(&unit, 8);
    if (kind == UNIT_TYPE || kind == UNIT_SPLIT_TYPE)
        cursor_skip(&unit, 8 + (uint64_t)format->offset_bytes); /* its signature and its type */
    out->offset = (uint64_t)(unit.at - info);
    out->addresses = object->sections[DEBUG_ADDR];
    out->strings = object->sections[DEBUG_STR];
    out->string_offsets = object->sections[DEBUG_STR_OFFSETS];
    out->old_lists = object->sections[DEBUG_RANGES];
    out->lists = object->sections[DEBUG_RNGLISTS];
    return !unit.failed && format->version >= 2 && format->version <= 5 &&
           (format->address_bytes == 4 || format->address_bytes == 8);
}

/* Lists every unit. Take pointers into the list only when it is complete. */
static enum status list_contexts(struct dwarf_object *object, struct fault *fault)
{
    struct dwarf_cursor c = cursor_over(object->sections[DEBUG_INFO], 0, object->big_endian);

    while (!c.failed && cursor_left(&c) > 0) {
        struct dwarf_context read;
        if (!read_header(object, &c, &read)) {
            object->lacks_units = true;
            break;
        }
        if (read.offset == read.end)
            continue; /* padding */
        if (object->context_count == DWARF_UNITS_MAX)
            return fault_set(fault, ERR_LIMIT, FAULT_NO_OFFSET, "DWARF units");
        if (!ARRAY_ROOM(object->contexts, object->context_room, object->context_count + 1))
            return fault_no_memory(fault, "DWARF units");
        object->contexts[object->context_count++] = read;
    }
    return ERR_NONE;
}

struct dwarf_object *dwarf_object_new(const struct object_bytes sections[DEBUG_SECTIONS],
                                      const struct object_debug *like, bool split,
                                      struct fault *fault)
{
    struct dwarf_object *object = calloc(1, sizeof *object);

    if (object == NULL) {
        fault_no_memory(fault, "DWARF");
        return NULL;
    }
    memcpy(object->sections, sections, sizeof object->sections);
    object->big_endian = like->big_endian;
    object->is_split = split;
    if (list_contexts(object, fault) == ERR_NONE)
        return object;
    dwarf_object_free(object);
    return NULL;
}

void dwarf_object_free(struct dwarf_object *object)
{
    if (object == NULL)
        return;
    dwarf_abbreviations_free(&object->tables);
    free(object->contexts);
    free(object);
}

struct dwarf_context *dwarf_object_context(struct dwarf_object *object, uint64_t offset)
{
    const uint32_t low = ARRAY_UPPER(object->contexts, object->context_count, offset, offset);
    return low > 0 && offset < object->contexts[low - 1].end ? &object->contexts[low - 1] : NULL;
}
