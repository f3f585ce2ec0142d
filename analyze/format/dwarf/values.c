/* Values of attributes, including those that are an index into another section; see dwarf.h. Forms:
 * DWARF 5, 7.5.5; range lists: 2.17.3 and 7.25; split DWARF of version 4:
 * https://gcc.gnu.org/wiki/DebugFission. */
#include <string.h>

#include "format/dwarf/reader.h"

/* Entries of a range list.  Source: DWARF 5, 7.25. */
enum {
    RLE_END_OF_LIST,
    RLE_BASE_ADDRESSX,
    RLE_STARTX_ENDX,
    RLE_STARTX_LENGTH,
    RLE_OFFSET_PAIR,
    RLE_BASE_ADDRESS,
    RLE_START_END,
    RLE_START_LENGTH,
};

/* Number NUMBER of a table that starts at BASE. */
static bool table_number(const struct dwarf_context *context, struct byte_view section,
                         uint64_t base, uint64_t number, uint8_t bytes, uint64_t *out)
{
    if (base > section.bytes || number >= (section.bytes - base) / bytes)
        return false;
    *out = load_number(section.data + base + number * bytes, bytes, context->object->big_endian);
    return true;
}

/* Address NUMBER of .debug_addr. */
static bool address_at(const struct dwarf_context *context, uint64_t number, uint64_t *out)
{
    return table_number(context, context->linked->sections[DEBUG_ADDR], context->address_base,
                        number, context->format.address_bytes, out);
}

bool dwarf_number(const struct dwarf_context *context, const struct dwarf_entry *entry,
                  enum dwarf_attribute_name name, uint64_t *out)
{
    *out = 0;
    if (!entry_has(entry, name))
        return false;
    const struct dwarf_value value = entry->values[name];
    return (value.form.kind == VALUE_NUMBER || value.form.kind == VALUE_SIGNED ||
            value.form.kind == VALUE_OFFSET) &&
           dwarf_value_number(value, context->object->big_endian, out);
}

static bool dwarf_address(struct dwarf_context *context, const struct dwarf_entry *entry,
                          enum dwarf_attribute_name name, uint64_t *out)
{
    uint64_t number;

    *out = 0;
    if (!entry_has(entry, name))
        return false;
    const struct dwarf_value value = entry->values[name];
    if (value.form.kind == VALUE_ADDRESS)
        return dwarf_value_number(value, context->object->big_endian, out);
    if (value.form.kind != VALUE_ADDRESS_INDEX)
        return false;
    const bool good = dwarf_value_number(value, context->object->big_endian, &number) &&
                      address_at(context, number, out);
    context->damaged = context->damaged || !good;
    return good;
}

/* A text of a section; NULL: OFFSET is outside, or no NUL follows. */
static const char *text_at(struct byte_view section, uint64_t offset, bool is_name)
{
    const uint64_t left = offset < section.bytes ? section.bytes - offset : 0;

    if (left == 0)
        return NULL;
    const uint8_t *at = section.data + offset;
    const bool ends = (is_name && at[left - 1] == 0) ||
                      memchr(at, 0, (size_t)(left < DWARF_TEXT_MAX ? left : DWARF_TEXT_MAX));
    return ends ? (const char *)at : NULL;
}

const char *dwarf_value_text(struct dwarf_context *context, struct dwarf_value value, bool is_name,
                             bool *absent)
{
    const struct dwarf_object *object = context->object, *alternate = object->alternate;
    uint64_t number, offset;

    if (value.form.kind == VALUE_STRING)
        return (const char *)value.at;
    if (!dwarf_value_number(value, context->object->big_endian, &number))
        return NULL;
    switch (value.form.kind) {
    case VALUE_STR:
        return text_at(object->sections[DEBUG_STR], number, is_name);
    case VALUE_LINE_STR:
        return text_at(object->sections[DEBUG_LINE_STR], number, is_name);
    case VALUE_STR_INDEX:
        return table_number(context, object->sections[DEBUG_STR_OFFSETS], context->string_base,
                            number, context->format.offset_bytes, &offset)
                   ? text_at(object->sections[DEBUG_STR], offset, is_name)
                   : NULL;
    case VALUE_STR_ALTERNATE:
        *absent = alternate == NULL;
        return *absent ? NULL : text_at(alternate->sections[DEBUG_STR], number, is_name);
    default:
        return NULL;
    }
}

const char *dwarf_text(struct dwarf_context *context, const struct dwarf_entry *entry,
                       enum dwarf_attribute_name name)
{
    bool absent = false;

    if (!entry_has(entry, name))
        return NULL;
    const char *text = dwarf_value_text(context, entry->values[name],
                                        name == AT_NAME || name == AT_LINKAGE_NAME, &absent);
    context->damaged = context->damaged || (text == NULL && !absent);
    return text;
}

bool dwarf_reference(struct dwarf_context *context, const struct dwarf_entry *entry,
                     enum dwarf_attribute_name name, struct dwarf_context **to, uint64_t *offset)
{
    struct dwarf_object *object = context->object;

    if (!entry_has(entry, name))
        return false;
    const struct dwarf_value value = entry->values[name];
    if (value.form.kind == VALUE_REFERENCE_ALTERNATE)
        object = object->alternate;
    if (object == NULL || value.form.kind == VALUE_REFERENCE_TYPE)
        return false;
    bool good = value.form.kind >= VALUE_REFERENCE &&
                value.form.kind <= VALUE_REFERENCE_ALTERNATE &&
                dwarf_value_number(value, context->object->big_endian, offset);
    if (value.form.kind == VALUE_REFERENCE)
        *offset += context->start;
    *to = object == context->object && *offset >= context->offset && *offset < context->end
              ? context
              : dwarf_object_context(object, *offset);
    good = good && *to != NULL;
    context->damaged = context->damaged || !good;
    return good;
}

/* Source: DWARF 5, 7.12. */
static void read_language(struct dwarf_context *context, uint64_t number)
{
    static const uint64_t ada = UINT64_C(1) << 0x03 | UINT64_C(1) << 0x0d,    /* Ada83, Ada95 */
        c = UINT64_C(1) << 0x01 | UINT64_C(1) << 0x02 | UINT64_C(1) << 0x0c | /* C89, C, C99 */
            UINT64_C(1) << 0x1d | UINT64_C(1) << 0x2c;                        /* C11, C17 */

    context->ada = number < 64 && (ada >> number & 1) != 0;
    context->c = number < 64 && (c >> number & 1) != 0;
}

/* Sets the bases that the first entry states. */
static void read_bases(struct dwarf_context *context, const struct dwarf_entry *root)
{
    const bool modern = context->format.version >= 5;
    const uint64_t head = context->format.offset_bytes == 8 ? 16 : 8; /* of the sections */
    uint64_t number;

    context->string_base = modern ? head : 0;
    context->address_base = modern ? head : 0;
    context->list_base = modern ? head + 4 : 0;
    if (dwarf_number(context, root, AT_STR_OFFSETS_BASE, &number))
        context->string_base = number;
    if (dwarf_number(context, root, AT_ADDR_BASE, &number))
        context->address_base = number;
    if (dwarf_number(context, root, AT_RNGLISTS_BASE, &number))
        context->list_base = number;
    if (dwarf_number(context, root, AT_RANGES_BASE, &number))
        context->old_list_base = number;
    if (context->dwo_id == 0 && dwarf_number(context, root, AT_DWO_ID, &number))
        context->dwo_id = number;
    (void)dwarf_address(context, root, AT_LOW_PC, &context->base_va);
    if (dwarf_number(context, root, AT_LANGUAGE, &number))
        read_language(context, number);
}

/* What ENTRY states of its code. */
static struct dwarf_extent extent_of(struct dwarf_context *context, const struct dwarf_entry *entry)
{
    struct dwarf_extent out = {EXTENT_UNSTATED, 0, 0};

    if (entry_has(entry, AT_RANGES)) {
        const struct dwarf_value value = entry->values[AT_RANGES];
        const bool good = dwarf_value_number(value, context->object->big_endian, &out.low);
        out.kind = EXTENT_EMPTY;
        if (value.form.kind == VALUE_LIST_INDEX) {
            out.kind = EXTENT_INDEX;
            out.low = good ? out.low : UINT64_MAX;
        } else if (good && (value.form.kind == VALUE_OFFSET || value.form.kind == VALUE_NUMBER)) {
            out.kind = EXTENT_LIST;
        }
    } else if (dwarf_address(context, entry, AT_LOW_PC, &out.low)) {
        if (dwarf_address(context, entry, AT_HIGH_PC, &out.high)) {
            out.kind = EXTENT_RANGE;
        } else if (dwarf_number(context, entry, AT_HIGH_PC, &out.high)) {
            out.kind = EXTENT_RANGE;
            out.high += out.low;
        }
    }
    return out;
}

void dwarf_take_root(struct dwarf_context *context, const struct dwarf_entry *root)
{
    if (context->bases_read)
        return;
    read_bases(context, root);
    context->bases_read = true;
    context->tag = root->is->tag;
    context->extent = extent_of(context, root);
}

bool dwarf_context_read(struct dwarf_context *context, struct dwarf_entry *root)
{
    if (!dwarf_entry_at(context, context->offset, root))
        return false;
    dwarf_take_root(context, root);
    return true;
}

/* Whether another entry may be read: no list is shared by many, so the sum of all has a bound. */
static bool may_read(struct dwarf_context *unit, uint32_t number)
{
    const uint64_t bytes = (uint64_t)unit->object->sections[DEBUG_RNGLISTS].bytes +
                           unit->linked->sections[DEBUG_RANGES].bytes;
    return number < DWARF_LIST_MAX &&
           unit->object->list_entries++ < DWARF_SHARED * (bytes + DWARF_SHARED_LEAST);
}

/* One entry of DWARF 2 to 4: two numbers from the base, or -1 and the next base. False: the list
 * ends. */
static bool old_entry(struct dwarf_context *unit, struct dwarf_cursor *c, uint64_t *base,
                      uint64_t *low, uint64_t *high)
{
    const uint32_t bytes = unit->format.address_bytes;
    const uint64_t first = cursor_fixed(c, bytes), second = cursor_fixed(c, bytes);
    const bool is_base = first == (bytes == 4 ? UINT32_MAX : UINT64_MAX);

    *low = is_base ? 0 : *base + first;
    *high = is_base ? 0 : *base + second;
    if (is_base)
        *base = second;
    return !c->failed && (first != 0 || second != 0);
}

/* A number that is the index of an address. */
static uint64_t indexed(struct dwarf_context *unit, struct dwarf_cursor *c)
{
    uint64_t value = 0;
    c->failed = !address_at(unit, cursor_unsigned(c), &value) || c->failed;
    return value;
}

/* The same of DWARF 5. */
static bool new_entry(struct dwarf_context *unit, struct dwarf_cursor *c, uint64_t *base,
                      uint64_t *low, uint64_t *high)
{
    const uint8_t bytes = unit->format.address_bytes;

    *low = *high = 0;
    const uint64_t kind = cursor_fixed(c, 1);
    switch (kind) {
    case RLE_BASE_ADDRESSX:
        *base = indexed(unit, c);
        break;
    case RLE_BASE_ADDRESS:
        *base = cursor_fixed(c, bytes);
        break;
    case RLE_STARTX_ENDX:
        *low = indexed(unit, c);
        *high = indexed(unit, c);
        break;
    case RLE_STARTX_LENGTH:
        *low = indexed(unit, c);
        *high = *low + cursor_unsigned(c);
        break;
    case RLE_OFFSET_PAIR:
        *low = *base + cursor_unsigned(c);
        *high = *base + cursor_unsigned(c);
        break;
    case RLE_START_END:
        *low = cursor_fixed(c, bytes);
        *high = cursor_fixed(c, bytes);
        break;
    case RLE_START_LENGTH:
        *low = cursor_fixed(c, bytes);
        *high = *low + cursor_unsigned(c);
        break;
    case RLE_END_OF_LIST:
        return false;
    default: /* an unknown entry, whose length is unknown too */
        c->failed = true;
        break;
    }
    return !c->failed;
}

static void list_ranges(struct dwarf_context *unit, struct byte_view section, uint64_t offset,
                        bool old, dwarf_range_fn *found, void *context)
{
    struct dwarf_cursor c = cursor_over(section, offset, unit->object->big_endian);
    uint64_t base = unit->base_va, low, high;

    for (uint32_t i = 0; may_read(unit, i); i++) {
        if (!(old ? old_entry(unit, &c, &base, &low, &high)
                  : new_entry(unit, &c, &base, &low, &high))) {
            unit->damaged = unit->damaged || c.failed;
            return;
        }
        if (low < high)
            found(context, low, high);
    }
    unit->damaged = true;
}

bool dwarf_extent_ranges(struct dwarf_context *unit, struct dwarf_extent extent,
                         dwarf_range_fn *found, void *context)
{
    const struct byte_view lists = unit->object->sections[DEBUG_RNGLISTS];
    uint64_t place = extent.low;

    switch (extent.kind) {
    case EXTENT_RANGE:
        found(context, extent.low, extent.high);
        break;
    case EXTENT_INDEX:
        if (table_number(unit, lists, unit->list_base, extent.low, unit->format.offset_bytes,
                         &place))
            list_ranges(unit, lists, unit->list_base + place, false, found, context);
        else
            unit->damaged = true;
        break;
    case EXTENT_LIST:
        if (unit->format.version >= 5) /* DWARF 2 and 3 have no form for offsets */
            list_ranges(unit, lists, place, false, found, context);
        else
            list_ranges(unit, unit->linked->sections[DEBUG_RANGES],
                        place + (unit->object->is_split ? unit->old_list_base : 0), true, found,
                        context);
        break;
    default:
        break;
    }
    return extent.kind != EXTENT_UNSTATED;
}

bool dwarf_ranges(struct dwarf_context *unit, const struct dwarf_entry *entry,
                  dwarf_range_fn *found, void *context)
{
    return dwarf_extent_ranges(unit, extent_of(unit, entry), found, context);
}
