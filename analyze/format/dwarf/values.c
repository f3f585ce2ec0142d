/* Values of attributes, including those that are an index into another section; see dwarf.h. Forms:
 * DWARF 5, 7.5.6; range lists: 2.17.3 and 7.25; split DWARF of version 4:
 * https://gcc.gnu.org/wiki/DebugFission. */
#include <string.h>

#include "format/dwarf/parts.h"

bool dwarf_number_at(struct object_bytes section, uint64_t offset, uint32_t bytes, bool big_endian,
                     uint64_t *out)
{
    uint64_t value = 0;

    *out = 0;
    if (offset > section.bytes || section.bytes - offset < bytes)
        return false;
    const uint8_t *at = section.data + offset;
    for (uint32_t i = 0; i < bytes; i++)
        value = value << 8 | at[big_endian ? i : bytes - 1 - i];
    *out = value;
    return true;
}

bool dwarf_number(Dwarf_Die die, Dwarf_Half name, uint64_t *out)
{
    Dwarf_Error error = NULL;
    Dwarf_Attribute attribute;
    Dwarf_Unsigned value = 0;
    Dwarf_Signed signed_value = 0;
    Dwarf_Off offset = 0;

    *out = 0;
    if (dwarf_attr(die, name, &attribute, &error) != DW_DLV_OK)
        return false;
    bool good = dwarf_formudata(attribute, &value, &error) == DW_DLV_OK;
    if (!good && dwarf_formsdata(attribute, &signed_value, &error) == DW_DLV_OK &&
        signed_value >= 0) {
        value = (Dwarf_Unsigned)signed_value;
        good = true;
    }
    if (!good && dwarf_global_formref(attribute, &offset, &error) == DW_DLV_OK) {
        value = offset; /* DW_FORM_sec_offset */
        good = true;
    }
    dwarf_dealloc_attribute(attribute);
    *out = value;
    return good;
}

/* Address NUMBER of .debug_addr. */
static bool address_at(struct dwarf_context *context, uint64_t number, uint64_t *out)
{
    return number <= context->addresses.bytes &&
           dwarf_number_at(context->addresses,
                           context->address_base + number * context->address_bytes,
                           context->address_bytes, context->big_endian, out);
}

static bool is_address_index(Dwarf_Half form)
{
    return form == DW_FORM_addrx || form == DW_FORM_GNU_addr_index ||
           (form >= DW_FORM_addrx1 && form <= DW_FORM_addrx4);
}

static bool attribute_address(struct dwarf_context *context, Dwarf_Attribute attribute,
                              uint64_t *out)
{
    Dwarf_Error error = NULL;
    Dwarf_Half form = 0;
    Dwarf_Addr address = 0;
    Dwarf_Unsigned number = 0;

    if (dwarf_whatform(attribute, &form, &error) != DW_DLV_OK)
        return false;
    if (is_address_index(form)) {
        const bool good = dwarf_get_debug_addr_index(attribute, &number, &error) == DW_DLV_OK &&
                          address_at(context, number, out);
        context->damaged = context->damaged || !good;
        return good;
    }
    if (form != DW_FORM_addr || dwarf_formaddr(attribute, &address, &error) != DW_DLV_OK)
        return false;
    *out = address;
    return true;
}

static bool dwarf_address(struct dwarf_context *context, Dwarf_Die die, Dwarf_Half name,
                          uint64_t *out)
{
    Dwarf_Error error = NULL;
    Dwarf_Attribute attribute;

    *out = 0;
    if (dwarf_attr(die, name, &attribute, &error) != DW_DLV_OK)
        return false;
    const bool good = attribute_address(context, attribute, out);
    dwarf_dealloc_attribute(attribute);
    return good;
}

/* A text of a section; NULL: OFFSET is outside, or no NUL follows. */
static const char *text_at(struct object_bytes section, uint64_t offset)
{
    if (offset >= section.bytes ||
        memchr(section.data + offset, 0, (size_t)(section.bytes - offset)) == NULL)
        return NULL;
    return (const char *)section.data + offset;
}

const char *dwarf_text_number(struct dwarf_context *context, uint64_t number)
{
    uint64_t place;
    if (number > context->string_offsets.bytes ||
        !dwarf_number_at(context->string_offsets,
                         context->string_base + number * context->offset_bytes,
                         context->offset_bytes, context->big_endian, &place))
        return NULL;
    return text_at(context->strings, place);
}

/* NULL: unreadable, or in a file that was not given (then *absent is set). */
static const char *attribute_text(struct dwarf_context *context, Dwarf_Attribute attribute,
                                  bool *absent)
{
    Dwarf_Error error = NULL;
    Dwarf_Half form = 0;
    Dwarf_Unsigned number = 0;
    Dwarf_Off offset = 0;
    char *text = NULL;

    if (dwarf_whatform(attribute, &form, &error) != DW_DLV_OK)
        return NULL;
    if (form == DW_FORM_strx || form == DW_FORM_GNU_str_index ||
        (form >= DW_FORM_strx1 && form <= DW_FORM_strx4)) {
        if (dwarf_get_debug_str_index(attribute, &number, &error) != DW_DLV_OK)
            return NULL;
        return dwarf_text_number(context, number);
    }
    if (form == DW_FORM_GNU_strp_alt || form == DW_FORM_strp_sup) {
        *absent = context->object->alternate == NULL;
        if (*absent || dwarf_global_formref(attribute, &offset, &error) != DW_DLV_OK)
            return NULL;
        return text_at(context->object->alternate->sections[DEBUG_STR], offset);
    }
    return dwarf_formstring(attribute, &text, &error) == DW_DLV_OK ? text : NULL;
}

const char *dwarf_text(struct dwarf_context *context, Dwarf_Die die, Dwarf_Half name)
{
    Dwarf_Error error = NULL;
    Dwarf_Attribute attribute;

    if (dwarf_attr(die, name, &attribute, &error) != DW_DLV_OK)
        return NULL;
    bool absent = false;
    const char *text = attribute_text(context, attribute, &absent);
    context->damaged = context->damaged || (text == NULL && !absent);
    dwarf_dealloc_attribute(attribute);
    return text;
}

void dwarf_context_read(struct dwarf_context *context, Dwarf_Die die)
{
    const bool modern = context->version >= 5;
    const uint64_t head = context->offset_bytes == 8 ? 16 : 8; /* length, version, 2 bytes more */
    uint64_t number;

    if (context->bases_read)
        return;
    context->bases_read = true;
    context->string_base = modern ? head : 0;
    context->address_base = modern ? head : 0;
    context->list_base = modern ? head + 4 : 0;
    if (dwarf_number(die, DW_AT_str_offsets_base, &number))
        context->string_base = number;
    if (dwarf_number(die, DW_AT_addr_base, &number) ||
        dwarf_number(die, DW_AT_GNU_addr_base, &number))
        context->address_base = number;
    if (dwarf_number(die, DW_AT_rnglists_base, &number))
        context->list_base = number;
    if (dwarf_number(die, DW_AT_GNU_ranges_base, &number))
        context->old_list_base = number;
    if (context->dwo_id == 0 &&
        (dwarf_number(die, DW_AT_GNU_dwo_id, &number) || dwarf_number(die, DW_AT_dwo_id, &number)))
        context->dwo_id = number;
    (void)dwarf_address(context, die, DW_AT_low_pc, &context->base_va);
    if (dwarf_number(die, DW_AT_language, &number))
        context->ada = number == DW_LANG_Ada83 || number == DW_LANG_Ada95;
}

/* DWARF 2 to 4: pairs of numbers, from the unit's base or from one that a pair with -1 sets. */
static void old_ranges(struct dwarf_context *unit, uint64_t offset, dwarf_range_fn *found,
                       void *context)
{
    const uint32_t bytes = unit->address_bytes;
    const uint64_t last = bytes == 4 ? UINT32_MAX : UINT64_MAX;
    uint64_t base = unit->base_va;

    for (uint32_t i = 0; i < DWARF_LIST_MAX; i++, offset += 2 * (uint64_t)bytes) {
        uint64_t low, high;
        const bool good =
            dwarf_number_at(unit->old_lists, offset, bytes, unit->big_endian, &low) &&
            dwarf_number_at(unit->old_lists, offset + bytes, bytes, unit->big_endian, &high);
        unit->damaged = unit->damaged || !good;
        if (!good || (low == 0 && high == 0))
            return;
        if (low == last)
            base = high;
        else
            found(context, base + low, base + high);
    }
}

/* Reading state of a list in .debug_rnglists. */
struct list {
    struct dwarf_context *unit;
    uint64_t offset;
    bool good;
};

static uint64_t list_number(struct list *list)
{
    uint64_t value = 0, byte = 0x80;
    for (unsigned shift = 0; list->good && (byte & 0x80) != 0; shift += 7) {
        list->good = dwarf_number_at(list->unit->lists, list->offset++, 1, false, &byte);
        if (shift < 64)
            value |= (byte & 0x7f) << shift;
    }
    return value;
}

static uint64_t list_address(struct list *list)
{
    struct dwarf_context *unit = list->unit;
    uint64_t value = 0;
    list->good = list->good && dwarf_number_at(unit->lists, list->offset, unit->address_bytes,
                                               unit->big_endian, &value);
    list->offset += unit->address_bytes;
    return value;
}

static uint64_t list_indexed(struct list *list)
{
    uint64_t value = 0;
    const uint64_t number = list_number(list);
    list->good = list->good && address_at(list->unit, number, &value);
    return value;
}

/* One entry; false: the list ends. */
static bool list_entry(struct list *list, uint64_t *base, uint64_t *low, uint64_t *high)
{
    uint64_t kind;

    *low = *high = 0;
    list->good = dwarf_number_at(list->unit->lists, list->offset++, 1, false, &kind);
    if (!list->good)
        return false;
    switch (kind) {
    case DW_RLE_base_addressx:
        *base = list_indexed(list);
        break;
    case DW_RLE_base_address:
        *base = list_address(list);
        break;
    case DW_RLE_startx_endx:
        *low = list_indexed(list);
        *high = list_indexed(list);
        break;
    case DW_RLE_startx_length:
        *low = list_indexed(list);
        *high = *low + list_number(list);
        break;
    case DW_RLE_offset_pair:
        *low = *base + list_number(list);
        *high = *base + list_number(list);
        break;
    case DW_RLE_start_end:
        *low = list_address(list);
        *high = list_address(list);
        break;
    case DW_RLE_start_length:
        *low = list_address(list);
        *high = *low + list_number(list);
        break;
    case DW_RLE_end_of_list:
        return false;
    default: /* an unknown entry, whose length is unknown too */
        list->good = false;
        return false;
    }
    return list->good;
}

static void new_ranges(struct dwarf_context *unit, uint64_t offset, dwarf_range_fn *found,
                       void *context)
{
    struct list list = {unit, offset, true};
    uint64_t base = unit->base_va, low, high;

    for (uint32_t i = 0; i < DWARF_LIST_MAX && list_entry(&list, &base, &low, &high); i++)
        if (low < high)
            found(context, low, high);
    unit->damaged = unit->damaged || !list.good;
}

static void attribute_ranges(struct dwarf_context *unit, Dwarf_Attribute attribute,
                             dwarf_range_fn *found, void *context)
{
    Dwarf_Error error = NULL;
    Dwarf_Half form = 0;
    Dwarf_Unsigned number = 0;
    Dwarf_Off offset = 0;
    uint64_t place;

    if (dwarf_whatform(attribute, &form, &error) != DW_DLV_OK)
        return;
    if (form == DW_FORM_rnglistx) {
        if (dwarf_formudata(attribute, &number, &error) == DW_DLV_OK &&
            number <= unit->lists.bytes &&
            dwarf_number_at(unit->lists, unit->list_base + number * unit->offset_bytes,
                            unit->offset_bytes, unit->big_endian, &place))
            new_ranges(unit, unit->list_base + place, found, context);
        else
            unit->damaged = true;
        return;
    }
    if (dwarf_global_formref(attribute, &offset, &error) != DW_DLV_OK) {
        if (dwarf_formudata(attribute, &number, &error) != DW_DLV_OK)
            return;
        offset = number; /* DWARF 2 and 3: data4 or data8 */
    }
    if (unit->version >= 5)
        new_ranges(unit, offset, found, context);
    else
        old_ranges(unit, offset + (unit->object->is_split ? unit->old_list_base : 0), found,
                   context);
}

bool dwarf_ranges(struct dwarf_context *unit, Dwarf_Die die, dwarf_range_fn *found, void *context)
{
    Dwarf_Error error = NULL;
    Dwarf_Attribute attribute;
    uint64_t low, high;

    if (dwarf_attr(die, DW_AT_ranges, &attribute, &error) == DW_DLV_OK) {
        attribute_ranges(unit, attribute, found, context);
        dwarf_dealloc_attribute(attribute);
        return true;
    }
    if (!dwarf_address(unit, die, DW_AT_low_pc, &low))
        return false;
    if (dwarf_address(unit, die, DW_AT_high_pc, &high)) {
        found(context, low, high);
        return true;
    }
    if (!dwarf_number(die, DW_AT_high_pc, &high))
        return false;
    found(context, low, low + high);
    return true;
}
