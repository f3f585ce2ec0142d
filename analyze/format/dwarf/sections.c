/* Supplies the sections of a container to libdwarf.
 *
 * libdwarf asks through callbacks; sections count from 1, because it takes number 0 for the empty
 * one of ELF. It gets only the sections that it has to parse. Data that is looked up by an offset
 * or index (texts by index, addresses, range lists) is read in values.c, where every offset is
 * checked and sections of other files can be used. It also gets .debug_addr: it reads the address
 * of each unit itself, and refuses the unit if it cannot (clang states it by index if the unit has
 * one range).
 *
 * The types of the callbacks changed between the libdwarf of 2021 (Debian 12) and 0.2.0, which is
 * the first to define DW_LIBDWARF_VERSION; nothing else that is used here did. */
#include <string.h>

#include "base/array.h"
#include "format/dwarf/parts.h"

#ifdef DW_LIBDWARF_VERSION
typedef Dwarf_Obj_Access_Section_a access_section;
typedef Dwarf_Unsigned section_number;
typedef Dwarf_Small access_order;
#define ORDER_BIG DW_END_big
#define ORDER_LITTLE DW_END_little
#define FIELD(name) as_##name
#else
typedef Dwarf_Obj_Access_Section access_section;
typedef Dwarf_Half section_number;
typedef Dwarf_Endianness access_order;
#define ORDER_BIG DW_OBJECT_MSB
#define ORDER_LITTLE DW_OBJECT_LSB
#define FIELD(name) name
#endif

static const struct {
    const char *name;
    enum debug_section section;
} shown[] = {
    {".debug_info", DEBUG_INFO},         {".debug_abbrev", DEBUG_ABBREV}, {".debug_str", DEBUG_STR},
    {".debug_line_str", DEBUG_LINE_STR}, {".debug_addr", DEBUG_ADDR},
};

enum { SHOWN = COUNT_OF(shown) };

static int get_section(void *object, section_number index, access_section *out, int *error)
{
    const struct dwarf_object *self = object;

    (void)error;
    memset(out, 0, sizeof *out);
    out->FIELD(name) = "";
    if (index == 0)
        return DW_DLV_OK;
    if (index > SHOWN)
        return DW_DLV_NO_ENTRY;
    const struct object_bytes section = self->sections[shown[index - 1].section];
    if (section.data == NULL || section.bytes == 0)
        return DW_DLV_OK;
    out->FIELD(name) = shown[index - 1].name;
    out->FIELD(size) = section.bytes;
    return DW_DLV_OK;
}

static int load_section(void *object, section_number index, Dwarf_Small **out, int *error)
{
    const struct dwarf_object *self = object;

    (void)error;
    if (index == 0 || index > SHOWN)
        return DW_DLV_NO_ENTRY;
    /* libdwarf's type lacks const, but without relocations it only reads */
    union {
        const uint8_t *from;
        Dwarf_Small *to;
    } data = {self->sections[shown[index - 1].section].data};
    *out = data.to;
    return data.to != NULL ? DW_DLV_OK : DW_DLV_NO_ENTRY;
}

static access_order get_byte_order(void *object)
{
    const struct dwarf_object *self = object;
    return self->big_endian ? ORDER_BIG : ORDER_LITTLE;
}

static Dwarf_Small get_length_size(void *object)
{
    (void)object;
    return 4;
}

static Dwarf_Small get_pointer_size(void *object)
{
    const struct dwarf_object *self = object;
    return self->address_bytes;
}

static Dwarf_Unsigned get_section_count(void *object)
{
    (void)object;
    return SHOWN + 1;
}

#ifdef DW_LIBDWARF_VERSION
/* The sum of the sections: libdwarf compares sizes with it. */
static Dwarf_Unsigned get_file_size(void *object)
{
    const struct dwarf_object *self = object;
    Dwarf_Unsigned sum = 0;

    for (size_t i = 0; i < SHOWN; i++)
        sum += self->sections[shown[i].section].bytes;
    return sum;
}

static const Dwarf_Obj_Access_Methods_a methods = {
    get_section,   get_byte_order,    get_length_size, get_pointer_size,
    get_file_size, get_section_count, load_section,    NULL,
};
#else
static const Dwarf_Obj_Access_Methods methods = {
    get_section,  get_byte_order, get_length_size, get_pointer_size, get_section_count,
    load_section, NULL,
};
#endif

bool dwarf_sections_open(struct dwarf_object *object)
{
    Dwarf_Error error = NULL;

    object->access = (dwarf_access){object, &methods};
    if (dwarf_object_init_b(&object->access, NULL, NULL, DW_GROUPNUMBER_ANY, &object->debug,
                            &error) == DW_DLV_OK)
        return true;
    object->debug = NULL;
    return false;
}

void dwarf_sections_close(struct dwarf_object *object)
{
    if (object->debug == NULL)
        return;
#ifdef DW_LIBDWARF_VERSION
    (void)dwarf_object_finish(object->debug);
#else
    Dwarf_Error error = NULL;
    (void)dwarf_object_finish(object->debug, &error);
#endif
    object->debug = NULL;
}
