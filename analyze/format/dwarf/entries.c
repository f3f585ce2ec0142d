/* Entries and abbreviations; see entries.h. */
#include <stdlib.h>

#include "base/array.h"
#include "format/dwarf/reader.h"

/* READ_FACTOR: a table is read for the first entry, and for the others; both twice if units of two
 * formats share it. */
enum { READ_FACTOR = 4, ATTRIBUTES_MAX = 1024 };

/* DWARF 5, table 7.6. */
static const struct dwarf_form forms[] = {
    [0x00] = {VALUE_OTHER, SIZE_UNKNOWN},
    [0x01] = {VALUE_ADDRESS, SIZE_ADDRESS}, /* addr */
    [0x02] = {VALUE_OTHER, SIZE_UNKNOWN},
    [0x03] = {VALUE_OTHER, SIZE_BLOCK2},                        /* block2 */
    [0x04] = {VALUE_OTHER, SIZE_BLOCK4},                        /* block4 */
    [0x05] = {VALUE_NUMBER, 2},                                 /* data2 */
    [0x06] = {VALUE_NUMBER, 4},                                 /* data4 */
    [0x07] = {VALUE_NUMBER, 8},                                 /* data8 */
    [0x08] = {VALUE_STRING, SIZE_STRING},                       /* string */
    [0x09] = {VALUE_OTHER, SIZE_BLOCK},                         /* block */
    [0x0a] = {VALUE_OTHER, SIZE_BLOCK1},                        /* block1 */
    [0x0b] = {VALUE_NUMBER, 1},                                 /* data1 */
    [0x0c] = {VALUE_OTHER, 1},                                  /* flag */
    [0x0d] = {VALUE_SIGNED, SIZE_LEB128},                       /* sdata */
    [0x0e] = {VALUE_STR, SIZE_OFFSET},                          /* strp */
    [0x0f] = {VALUE_NUMBER, SIZE_LEB128},                       /* udata */
    [0x10] = {VALUE_REFERENCE_SECTION, SIZE_SECTION_REFERENCE}, /* ref_addr */
    [0x11] = {VALUE_REFERENCE, 1},                              /* ref1 */
    [0x12] = {VALUE_REFERENCE, 2},                              /* ref2 */
    [0x13] = {VALUE_REFERENCE, 4},                              /* ref4 */
    [0x14] = {VALUE_REFERENCE, 8},                              /* ref8 */
    [0x15] = {VALUE_REFERENCE, SIZE_LEB128},                    /* ref_udata */
    [0x16] = {VALUE_OTHER, SIZE_INDIRECT},                      /* indirect */
    [0x17] = {VALUE_OFFSET, SIZE_OFFSET},                       /* sec_offset */
    [0x18] = {VALUE_OTHER, SIZE_BLOCK},                         /* exprloc */
    [0x19] = {VALUE_OTHER, 0},                                  /* flag_present */
    [0x1a] = {VALUE_STR_INDEX, SIZE_LEB128},                    /* strx */
    [0x1b] = {VALUE_ADDRESS_INDEX, SIZE_LEB128},                /* addrx */
    [0x1c] = {VALUE_REFERENCE_ALTERNATE, 4},                    /* ref_sup4 */
    [0x1d] = {VALUE_STR_ALTERNATE, SIZE_OFFSET},                /* strp_sup */
    [0x1e] = {VALUE_OTHER, 16},                                 /* data16 */
    [0x1f] = {VALUE_LINE_STR, SIZE_OFFSET},                     /* line_strp */
    [0x20] = {VALUE_REFERENCE_TYPE, 8},                         /* ref_sig8 */
    [0x21] = {VALUE_SIGNED, SIZE_CONSTANT},                     /* implicit_const */
    [0x22] = {VALUE_OTHER, SIZE_LEB128},                        /* loclistx */
    [0x23] = {VALUE_LIST_INDEX, SIZE_LEB128},                   /* rnglistx */
    [0x24] = {VALUE_REFERENCE_ALTERNATE, 8},                    /* ref_sup8 */
    [0x25] = {VALUE_STR_INDEX, 1},                              /* strx1 */
    [0x26] = {VALUE_STR_INDEX, 2},                              /* strx2 */
    [0x27] = {VALUE_STR_INDEX, 3},                              /* strx3 */
    [0x28] = {VALUE_STR_INDEX, 4},                              /* strx4 */
    [0x29] = {VALUE_ADDRESS_INDEX, 1},                          /* addrx1 */
    [0x2a] = {VALUE_ADDRESS_INDEX, 2},                          /* addrx2 */
    [0x2b] = {VALUE_ADDRESS_INDEX, 3},                          /* addrx3 */
    [0x2c] = {VALUE_ADDRESS_INDEX, 4},                          /* addrx4 */
};

/* The numbers that GNU gave to forms before there were some of the standard. */
static const struct {
    uint16_t number;
    struct dwarf_form form;
} gnu_forms[] = {
    {0x1f01, {VALUE_ADDRESS_INDEX, SIZE_LEB128}},       /* addr_index */
    {0x1f02, {VALUE_STR_INDEX, SIZE_LEB128}},           /* str_index */
    {0x1f20, {VALUE_REFERENCE_ALTERNATE, SIZE_OFFSET}}, /* ref_alt */
    {0x1f21, {VALUE_STR_ALTERNATE, SIZE_OFFSET}},       /* strp_alt */
};

static struct dwarf_form form_of_number(uint64_t number)
{
    for (size_t i = 0; number >= COUNT_OF(forms) && i < COUNT_OF(gnu_forms); i++)
        if (gnu_forms[i].number == number)
            return gnu_forms[i].form;
    return forms[number < COUNT_OF(forms) ? number : 0];
}

struct dwarf_form dwarf_form_of(uint64_t number, const struct dwarf_format *format)
{
    struct dwarf_form form = form_of_number(number);

    if (form.size == SIZE_ADDRESS || (form.size == SIZE_SECTION_REFERENCE && format->version == 2))
        form.size = format->address_bytes;
    else if (form.size == SIZE_OFFSET || form.size == SIZE_SECTION_REFERENCE)
        form.size = format->offset_bytes;
    return form;
}

uint64_t cursor_unsigned_long(struct dwarf_cursor *c)
{
    uint64_t value = 0;

    for (unsigned shift = 0; !c->failed && c->at < c->end; shift += 7) {
        const uint64_t byte = *c->at++;
        if (shift < 64)
            value |= (byte & 0x7f) << shift;
        if (byte < 0x80)
            return value;
    }
    c->failed = true;
    return 0;
}

/* Skips a value whose size depends on it. */
static void skip_variable(struct dwarf_cursor *c, enum dwarf_size size)
{
    switch (size) {
    case SIZE_LEB128:
        (void)cursor_unsigned(c);
        break;
    case SIZE_STRING:
        (void)cursor_string(c);
        break;
    case SIZE_BLOCK:
        cursor_skip(c, cursor_unsigned(c));
        break;
    case SIZE_BLOCK1:
    case SIZE_BLOCK2:
    case SIZE_BLOCK4:
        cursor_skip(c, cursor_fixed(c, 1U << (size - SIZE_BLOCK1)));
        break;
    default: /* its length is unknown, or the form may not be indirect */
        c->failed = true;
        break;
    }
}

struct dwarf_value dwarf_value_take(struct dwarf_cursor *c, struct dwarf_form form,
                                    const struct dwarf_format *format)
{
    if (form.size == SIZE_INDIRECT)
        form = dwarf_form_of(cursor_unsigned(c), format);
    struct dwarf_value value = {.at = c->at, .form = form};
    if (form.size <= SIZE_LARGEST)
        cursor_skip(c, form.size);
    else
        skip_variable(c, (enum dwarf_size)form.size);
    value.bytes = (uint32_t)(c->at - value.at);
    return value;
}

bool dwarf_value_number(struct dwarf_value value, bool big_endian, uint64_t *out)
{
    struct dwarf_cursor c = {value.at, value.at + value.bytes, big_endian, false};

    if (value.form.kind == VALUE_SIGNED) {
        const int64_t number = cursor_signed(&c);
        *out = (uint64_t)number;
        return number >= 0 && !c.failed;
    }
    *out = value.form.size <= 8 ? cursor_fixed(&c, value.form.size) : cursor_unsigned(&c);
    return !c.failed && value.form.kind != VALUE_OTHER;
}

/* DWARF 5, table 7.5, and the older numbers of MIPS (0x2007) and GNU
 * (0x2131 to 0x2133). */
static uint8_t attribute_name(uint64_t number)
{
    static const uint8_t names[] = {
        [0x01] = AT_SIBLING,       [0x03] = AT_NAME,          [0x3f] = AT_EXTERNAL,
        [0x10] = AT_STMT_LIST,     [0x11] = AT_LOW_PC,        [0x12] = AT_HIGH_PC,
        [0x13] = AT_LANGUAGE,      [0x1b] = AT_COMP_DIR,      [0x31] = AT_ABSTRACT_ORIGIN,
        [0x47] = AT_SPECIFICATION, [0x55] = AT_RANGES,        [0x58] = AT_CALL_FILE,
        [0x59] = AT_CALL_LINE,     [0x6e] = AT_LINKAGE_NAME,  [0x72] = AT_STR_OFFSETS_BASE,
        [0x73] = AT_ADDR_BASE,     [0x74] = AT_RNGLISTS_BASE, [0x75] = AT_DWO_ID,
        [0x76] = AT_DWO_NAME,
    };
    static const struct {
        uint16_t number;
        uint8_t name;
    } rows[] = {
        {0x2130, AT_DWO_NAME},    {0x2007, AT_LINKAGE_NAME}, {0x2131, AT_DWO_ID},
        {0x2132, AT_RANGES_BASE}, {0x2133, AT_ADDR_BASE},
    };

    if (number < COUNT_OF(names))
        return names[number];
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (rows[i].number == number)
            return rows[i].name;
    return AT_NONE;
}

/* The attributes of one abbreviation, up to the pair of zeros. */
static bool read_attributes(struct dwarf_abbreviations *table, struct dwarf_cursor *c,
                            struct dwarf_abbreviation *out)
{
    uint32_t bytes = 0;
    bool is_fixed = true;

    for (;;) {
        const uint64_t number = cursor_unsigned(c), form = cursor_unsigned(c);
        if (c->failed || table->attribute_count - out->first == ATTRIBUTES_MAX)
            return false; /* many without bytes of their own make each entry slow */
        if (number == 0 && form == 0)
            break;
        if (!ARRAY_ROOM(table->attributes, table->attribute_room,
                        (uint64_t)table->attribute_count + 1))
            return false;
        struct dwarf_attribute *attribute = &table->attributes[table->attribute_count++];
        *attribute = (struct dwarf_attribute){.name = attribute_name(number),
                                              .form = dwarf_form_of(form, &table->format),
                                              .constant = (uint32_t)(c->at - table->start)};
        if (attribute->form.size == SIZE_CONSTANT)
            (void)cursor_unsigned(c);
        else if (attribute->form.size <= SIZE_LARGEST)
            bytes += attribute->form.size;
        else
            is_fixed = false;
        if ((out->names >> attribute->name & 1) != 0)
            attribute->name = AT_NONE; /* the first counts */
        if (attribute->name != AT_NONE)
            out->names |= 1U << attribute->name;
    }
    out->count = table->attribute_count - out->first;
    out->bytes = is_fixed ? bytes : ENTRY_VARIABLE;
    return true;
}

ARRAY_ORDER(compare_codes, struct dwarf_abbreviation, code)

/* Reads the next abbreviation. False: the table ends, or is damaged. */
static bool read_abbreviation(struct dwarf_abbreviations *table, struct dwarf_cursor *c,
                              struct dwarf_abbreviation *out)
{
    const uint64_t code = cursor_unsigned(c), tag = cursor_unsigned(c);

    if (code == 0 || code > UINT32_MAX || c->at - table->start >= INT32_MAX)
        return false;
    *out = (struct dwarf_abbreviation){.code = (uint32_t)code,
                                       .tag = tag <= UINT16_MAX ? (uint16_t)tag : UINT16_MAX,
                                       .has_children = cursor_fixed(c, 1) != 0,
                                       .first = table->attribute_count};
    return read_attributes(table, c, out);
}

/* Reads as much of a table as is good, or, if WANTED is not 0, up to the abbreviation of that
 * number, which alone is kept. */
static void read_table(struct abbreviation_tables *tables, struct byte_view section,
                       uint64_t wanted, struct dwarf_abbreviations *table)
{
    struct dwarf_cursor c = cursor_over(section, table->offset, false);
    struct dwarf_abbreviation item;
    bool sorted = true, found = false;

    if (tables->read_bytes > READ_FACTOR * (uint64_t)section.bytes)
        return; /* tables that overlap */
    table->attribute_count = 0;
    while (!found && read_abbreviation(table, &c, &item)) {
        found = item.code == wanted;
        if (found)
            table->root = item;
        if (wanted != 0)
            continue;
        if (!ARRAY_ROOM(table->items, table->room, (uint64_t)table->count + 1))
            break;
        sorted = sorted && (table->count == 0 || table->items[table->count - 1].code < item.code);
        table->items[table->count++] = item;
    }
    if (!sorted)
        array_sort(table->items, table->count, sizeof *table->items, compare_codes);
    tables->read_bytes += (uint64_t)(c.at - table->start);
}

static bool is_table(const struct dwarf_abbreviations *table, uint64_t offset,
                     const struct dwarf_format *format)
{
    return table->offset == offset && table->format.address_bytes == format->address_bytes &&
           table->format.offset_bytes == format->offset_bytes &&
           (table->format.version == 2) == (format->version == 2);
}

/* The table at OFFSET, as a unit of FORMAT reads it: it ends where it is damaged. NULL: nothing of
 * it can be read. */
static struct dwarf_abbreviations *abbreviations_at(struct abbreviation_tables *tables,
                                                    struct byte_view section, uint64_t offset,
                                                    const struct dwarf_format *format)
{
    const struct dwarf_cursor c = cursor_over(section, offset, false);
    struct dwarf_abbreviations **slot =
        &tables->slots[(uint32_t)(offset * 0x9e3779b1u >> 8) % COUNT_OF(tables->slots)];

    for (struct dwarf_abbreviations *table = *slot; table != NULL; table = table->next)
        if (is_table(table, offset, format))
            return table;
    if (c.failed)
        return NULL;
    struct dwarf_abbreviations *table = calloc(1, sizeof *table);
    if (table == NULL)
        return NULL;
    *table = (struct dwarf_abbreviations){
        .next = *slot, .offset = offset, .format = *format, .start = c.at};
    *slot = table;
    return table;
}

void dwarf_abbreviations_free(struct abbreviation_tables *tables)
{
    for (size_t i = 0; i < COUNT_OF(tables->slots); i++) {
        while (tables->slots[i] != NULL) {
            struct dwarf_abbreviations *table = tables->slots[i];
            tables->slots[i] = table->next;
            free(table->items);
            free(table->attributes);
            free(table);
        }
    }
}

/* Most units are asked only about their own entry, so the other abbreviations are read when one of
 * them is needed. */
static const struct dwarf_abbreviation *find(struct dwarf_object *object,
                                             struct dwarf_abbreviations *table, uint64_t code)
{
    const struct byte_view section = object->sections[DEBUG_ABBREV];

    if (!table->is_read && table->root.code == 0)
        read_table(&object->tables, section, code, table);
    if (!table->is_read && code == table->root.code)
        return &table->root;
    if (!table->is_read)
        read_table(&object->tables, section, 0, table);
    table->is_read = true;
    if (code <= table->count && table->items[code - 1].code == code)
        return &table->items[code - 1];
    const uint32_t low = ARRAY_UPPER(table->items, table->count, code, code);
    return low > 0 && table->items[low - 1].code == code ? &table->items[low - 1] : NULL;
}

static struct dwarf_cursor entry_cursor(const struct dwarf_context *context,
                                        const struct dwarf_entry *entry)
{
    return (struct dwarf_cursor){entry->next, entry->end, context->object->big_endian, false};
}

bool dwarf_entry_start(struct dwarf_context *context, const uint8_t *at, const uint8_t *end,
                       struct dwarf_entry *out)
{
    struct dwarf_object *object = context->object;
    struct dwarf_cursor c = {at, end, object->big_endian, false};
    const uint64_t code = cursor_unsigned(&c);

    if (context->abbreviations == NULL)
        context->abbreviations = abbreviations_at(&object->tables, object->sections[DEBUG_ABBREV],
                                                  context->abbreviations_offset, &context->format);
    out->is = code != 0 && context->abbreviations != NULL
                  ? find(object, context->abbreviations, code)
                  : NULL;
    out->next = c.at;
    out->end = end;
    if (c.failed || (code != 0 && out->is == NULL))
        context->damaged = true;
    return !c.failed && (code == 0 || out->is != NULL);
}

bool dwarf_entry_values(struct dwarf_context *context, struct dwarf_entry *entry)
{
    const struct dwarf_abbreviations *table = context->abbreviations;
    const struct byte_view section = context->object->sections[DEBUG_ABBREV];
    struct dwarf_cursor c = entry_cursor(context, entry);

    for (uint32_t i = 0; i < entry->is->count; i++) {
        const struct dwarf_attribute *a = &table->attributes[entry->is->first + i];
        if (a->form.size <= SIZE_LARGEST) {
            entry->values[a->name] = (struct dwarf_value){c.at, a->form.size, a->form};
            cursor_skip(&c, a->form.size);
        } else if (a->form.size == SIZE_CONSTANT) {
            const uint8_t *at = table->start + a->constant;
            entry->values[a->name] =
                (struct dwarf_value){at, (uint32_t)(section.data + section.bytes - at), a->form};
        } else {
            entry->values[a->name] = dwarf_value_take(&c, a->form, &context->format);
        }
    }
    entry->next = c.at;
    context->damaged = context->damaged || c.failed;
    return !c.failed;
}

bool dwarf_entry_skip(struct dwarf_context *context, struct dwarf_entry *entry, bool *whole)
{
    const struct dwarf_abbreviation *is = entry->is;
    const uint8_t *unit = context->object->sections[DEBUG_INFO].data + context->start;
    struct dwarf_cursor c = entry_cursor(context, entry);
    uint64_t offset;

    if (whole != NULL)
        *whole = !is->has_children;
    if (whole == NULL || !is->has_children || !entry_has(entry, AT_SIBLING)) {
        if (is->bytes == ENTRY_VARIABLE)
            return dwarf_entry_values(context, entry);
        cursor_skip(&c, is->bytes);
        entry->next = c.at;
        context->damaged = context->damaged || c.failed;
        return !c.failed;
    }
    if (!dwarf_entry_values(context, entry))
        return false;
    const struct dwarf_value sibling = entry->values[AT_SIBLING];
    *whole = sibling.form.kind == VALUE_REFERENCE && sibling.bytes <= 8 &&
             dwarf_value_number(sibling, c.big_endian, &offset) &&
             offset <= context->end - context->start && unit + offset > entry->next;
    if (*whole)
        entry->next = unit + offset;
    return true;
}

bool dwarf_entry_read(struct dwarf_context *context, const uint8_t *at, const uint8_t *end,
                      struct dwarf_entry *out)
{
    const bool started = dwarf_entry_start(context, at, end, out) && out->is != NULL;
    context->damaged = context->damaged || !started;
    return started && dwarf_entry_values(context, out);
}

bool dwarf_entry_at(struct dwarf_context *context, uint64_t offset, struct dwarf_entry *out)
{
    const uint8_t *info = context->object->sections[DEBUG_INFO].data;
    const bool inside = offset >= context->offset && offset < context->end;
    context->damaged = context->damaged || !inside;
    return inside && dwarf_entry_read(context, info + offset, info + context->end, out);
}
