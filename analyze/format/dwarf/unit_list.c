/* The list of units of one file; see dwarf.h.
 *
 * A unit's header is its length, u16 version; from version 5 on u8 kind, u8 bytes of an address,
 * the offset of its abbreviations; before that this offset, then the bytes of an address. Units
 * of split DWARF 5 state their id next. Source: DWARF 5, 7.5.1. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "format/dwarf/reader.h"

/* Of a unit: its header, and nearly always its first entry; all of it, about. */
enum { FRONT_BYTES = 64, BYTES_PER_UNIT = 1 << 15 };

enum unit_kind {
    UNIT_TYPE = 2,
    UNIT_SKELETON = 4,
    UNIT_SPLIT_COMPILE = 5,
    UNIT_SPLIT_TYPE = 6,
};

/* Reads the header of the unit at START, whose front UNIT has. False: it is damaged. */
static bool read_header(struct dwarf_object *object, uint64_t start, struct dwarf_cursor unit,
                        struct dwarf_context *out)
{
    const uint8_t *front = unit.at;
    struct dwarf_format *format = &out->format;
    uint64_t kind = 0;

    memset(out, 0, sizeof *out);
    out->object = object;
    out->linked = object;
    out->start = start;
    const uint64_t length = cursor_length(&unit, &format->offset_bytes);
    out->end = start + (uint64_t)(unit.at - front);
    if (unit.failed || length > object->sections[DEBUG_INFO].bytes - out->end)
        return false;
    out->end += length;
    if (length < cursor_left(&unit))
        unit.end = unit.at + length;
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
    out->offset = start + (uint64_t)(unit.at - front);
    return !unit.failed && format->version >= 2 && format->version <= 5 &&
           (format->address_bytes == 4 || format->address_bytes == 8);
}

/* Reads the header of the unit at START and, if WHOLE, its first entry: mostly of a copy of its
 * front, so that the pages around it are not mapped. False: the header is damaged. */
static bool read_front(struct dwarf_object *object, const struct file_peek *peek, uint64_t start,
                       bool whole, struct dwarf_context *out)
{
    const struct byte_view info = object->sections[DEBUG_INFO];
    uint8_t copy[FRONT_BYTES];
    struct dwarf_cursor front = cursor_over(info, start, object->big_endian);
    struct dwarf_entry root;

    const uint64_t bytes = cursor_left(&front) < sizeof copy ? cursor_left(&front) : sizeof copy;
    const bool copied = peek != NULL && file_peek(peek, front.at, (size_t)bytes, copy);
    if (copied)
        front = (struct dwarf_cursor){copy, copy + bytes, object->big_endian, false};
    if (!read_header(object, start, front, out))
        return false;
    if (!whole || out->offset == out->end)
        return true;
    if (out->end - start < cursor_left(&front))
        front.end = front.at + (out->end - start);
    if (dwarf_entry_read(out, front.at + (out->offset - start), front.end, &root)) {
        dwarf_take_root(out, &root);
    } else if (copied) { /* it is longer */
        out->damaged = false;
        (void)dwarf_context_read(out, &root);
    }
    return true;
}

/* Lists every unit. Take pointers into the list only when it is complete. */
static enum status list_contexts(struct dwarf_object *object, const struct file_peek *peek,
                                 bool whole, struct fault *fault)
{
    struct dwarf_context read = {.end = 0};

    object->is_listed = true;
    (void)ARRAY_ROOM(object->contexts, object->context_room,
                     object->sections[DEBUG_INFO].bytes / BYTES_PER_UNIT);
    for (uint64_t at = 0; at < object->sections[DEBUG_INFO].bytes; at = read.end) {
        if (!read_front(object, peek, at, whole, &read)) {
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

struct dwarf_object *dwarf_object_new(const struct byte_view sections[DEBUG_SECTIONS],
                                      const struct object_debug *like, enum dwarf_part part,
                                      struct fault *fault)
{
    struct dwarf_object *object = calloc(1, sizeof *object);

    if (object == NULL) {
        fault_no_memory(fault, "DWARF");
        return NULL;
    }
    memcpy(object->sections, sections, sizeof object->sections);
    object->big_endian = like->big_endian;
    object->is_split = part == PART_SPLIT;
    if (part == PART_LATER ||
        list_contexts(object, like->peek, part != PART_ALTERNATE, fault) == ERR_NONE)
        return object;
    dwarf_object_free(object);
    return NULL;
}

enum status dwarf_object_list(struct dwarf_object *object, struct fault *fault)
{
    return object->is_listed ? ERR_NONE : list_contexts(object, NULL, false, fault);
}

struct range_search {
    uint64_t va, *end;
    uint64_t low, unit; /* of the range that started last */
};

/* Searches the ranges of one unit: addresses and lengths up to two zeros. */
static void search_ranges(struct range_search *search, struct dwarf_cursor c, uint32_t bytes,
                          uint64_t unit)
{
    for (;;) {
        const uint64_t low = cursor_fixed(&c, bytes), high = low + cursor_fixed(&c, bytes);
        if (c.failed || high == 0)
            return;
        const uint64_t bound = search->va < low ? low : high;
        if (bound > search->va && bound < *search->end)
            *search->end = bound;
        if (search->va >= low && search->va < high && low >= search->low) {
            search->low = low;
            search->unit = unit;
        }
    }
}

/* What comes before them: a length, u16 version, the offset of the unit, u8 bytes of an address, u8
 * bytes of a segment, and zeros up to a multiple of two addresses. Source: DWARF 5, 6.1.2. */
struct dwarf_context *dwarf_aranges_context(struct dwarf_object *object, uint64_t va, uint64_t *end)
{
    struct dwarf_cursor next = cursor_over(object->sections[DEBUG_ARANGES], 0, object->big_endian);
    struct range_search search = {.va = va, .end = end, .unit = UINT64_MAX};

    while (!next.failed && cursor_left(&next) > 0) {
        const uint8_t *start = next.at;
        struct dwarf_cursor c = next;
        uint8_t offset_bytes;
        const uint64_t length = cursor_length(&c, &offset_bytes);
        next = c;
        cursor_skip(&next, length);
        c.end = next.at;
        const uint64_t version = cursor_fixed(&c, 2), unit = cursor_fixed(&c, offset_bytes);
        const uint32_t bytes = (uint32_t)cursor_fixed(&c, 1);
        const uint64_t segment_bytes = cursor_fixed(&c, 1);
        if (version != 2 || segment_bytes != 0 || (bytes != 4 && bytes != 8))
            continue;
        cursor_skip(&c, (uint64_t)(start - c.at) & (2 * bytes - 1));
        search_ranges(&search, c, bytes, unit);
    }
    return read_front(object, NULL, search.unit, false, &object->first) ? &object->first : NULL;
}

void dwarf_object_free(struct dwarf_object *object)
{
    if (object == NULL)
        return;
    dwarf_abbreviations_free(&object->tables);
    free(object->contexts);
    free(object);
}
