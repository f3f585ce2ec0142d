/* Supplies the sections of a container to libdwarf; see dwarf.h.
 *
 * libdwarf asks through callbacks; sections count from 1, because it takes number 0 for the empty
 * one of ELF. It gets only the sections that it has to parse. Data that is looked up by an offset
 * or index (texts by index, addresses, range lists) is read in values.c, where every offset is
 * checked and sections of other files can be used. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "format/dwarf/parts.h"

static const struct {
    const char *name;
    enum debug_section section;
} shown[] = {
    {".debug_info", DEBUG_INFO},
    {".debug_abbrev", DEBUG_ABBREV},
    {".debug_str", DEBUG_STR},
    {".debug_line_str", DEBUG_LINE_STR},
};

enum { SHOWN = sizeof shown / sizeof shown[0] };

static int get_section(void *object, Dwarf_Half index, Dwarf_Obj_Access_Section *out, int *error)
{
    const struct dwarf_object *self = object;

    (void)error;
    memset(out, 0, sizeof *out);
    out->name = "";
    if (index == 0)
        return DW_DLV_OK;
    if (index > SHOWN)
        return DW_DLV_NO_ENTRY;
    const struct object_bytes section = self->sections[shown[index - 1].section];
    if (section.data == NULL || section.bytes == 0)
        return DW_DLV_OK;
    out->name = shown[index - 1].name;
    out->size = section.bytes;
    return DW_DLV_OK;
}

static int load_section(void *object, Dwarf_Half index, Dwarf_Small **out, int *error)
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

static Dwarf_Endianness get_byte_order(void *object)
{
    const struct dwarf_object *self = object;
    return self->big_endian ? DW_OBJECT_MSB : DW_OBJECT_LSB;
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

static const Dwarf_Obj_Access_Methods methods = {
    get_section,  get_byte_order, get_length_size, get_pointer_size, get_section_count,
    load_section, NULL,
};

static struct dwarf_context *add_context(struct dwarf_object *object)
{
    if (object->context_count == object->context_room) {
        struct dwarf_context *wider =
            array_reserve(object->contexts, &object->context_room,
                          (uint64_t)object->context_room + 1, sizeof *wider);
        if (wider == NULL)
            return NULL;
        object->contexts = wider;
    }
    struct dwarf_context *context = &object->contexts[object->context_count++];
    memset(context, 0, sizeof *context);
    return context;
}

static uint64_t signature_number(const Dwarf_Sig8 *signature, bool big_endian)
{
    const struct object_bytes bytes = {(const uint8_t *)signature->signature,
                                       sizeof signature->signature};
    uint64_t value;
    (void)dwarf_number_at(bytes, 0, sizeof signature->signature, big_endian, &value);
    return value;
}

/* Lists every unit. Take pointers into the list only when it is complete. */
static enum status list_contexts(struct dwarf_object *object, struct fault *fault)
{
    Dwarf_Error error = NULL;
    Dwarf_Unsigned next = 0, length, type_offset;
    Dwarf_Half version, address_bytes, offset_bytes, extension, kind;
    Dwarf_Off abbreviations;
    Dwarf_Sig8 signature;

    memset(&signature, 0, sizeof signature);
    while (dwarf_next_cu_header_d(object->debug, 1, &length, &version, &abbreviations,
                                  &address_bytes, &offset_bytes, &extension, &signature,
                                  &type_offset, &next, &kind, &error) == DW_DLV_OK) {
        Dwarf_Die die;
        Dwarf_Off offset;
        if (object->context_count == DWARF_UNITS_MAX)
            return fault_set(fault, ERR_LIMIT, FAULT_NO_OFFSET, "DWARF units");
        if (dwarf_siblingof_b(object->debug, NULL, 1, &die, &error) != DW_DLV_OK)
            continue;
        const bool placed = dwarf_dieoffset(die, &offset, &error) == DW_DLV_OK;
        dwarf_dealloc_die(die);
        if (!placed)
            continue;
        struct dwarf_context *context = add_context(object);
        if (context == NULL)
            return fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "DWARF units");
        context->object = object;
        context->offset = offset;
        context->end = next;
        context->version = version;
        context->kind = kind;
        context->offset_bytes = offset_bytes == 8 ? 8 : 4;
        context->address_bytes = address_bytes == 4 ? 4 : 8;
        context->big_endian = object->big_endian;
        if (version >= 5 && (kind == DW_UT_skeleton || kind == DW_UT_split_compile))
            context->dwo_id = signature_number(&signature, object->big_endian);
        context->addresses = object->sections[DEBUG_ADDR];
        context->strings = object->sections[DEBUG_STR];
        context->string_offsets = object->sections[DEBUG_STR_OFFSETS];
        context->old_lists = object->sections[DEBUG_RANGES];
        context->lists = object->sections[DEBUG_RNGLISTS];
    }
    return ERR_NONE;
}

struct dwarf_object *dwarf_object_new(const struct object_bytes sections[DEBUG_SECTIONS],
                                      const struct object_debug *like, bool split,
                                      struct fault *fault)
{
    struct dwarf_object *object = calloc(1, sizeof *object);
    Dwarf_Error error = NULL;

    if (object == NULL) {
        fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "DWARF");
        return NULL;
    }
    memcpy(object->sections, sections, sizeof object->sections);
    object->address_bytes = like->address_bytes;
    object->big_endian = like->big_endian;
    object->is_split = split;
    object->access = (Dwarf_Obj_Access_Interface){object, &methods};
    if (dwarf_object_init_b(&object->access, NULL, NULL, DW_GROUPNUMBER_ANY, &object->debug,
                            &error) != DW_DLV_OK) {
        object->debug = NULL;
        fault_set(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "DWARF");
    } else if (list_contexts(object, fault) == ERR_NONE) {
        return object;
    }
    dwarf_object_free(object);
    return NULL;
}

void dwarf_object_free(struct dwarf_object *object)
{
    Dwarf_Error error = NULL;
    if (object == NULL)
        return;
    if (object->debug != NULL)
        (void)dwarf_object_finish(object->debug, &error);
    free(object->contexts);
    free(object);
}

struct dwarf_context *dwarf_object_context(struct dwarf_object *object, Dwarf_Off offset)
{
    uint32_t low = 0, high = object->context_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (object->contexts[middle].offset <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && offset < object->contexts[low - 1].end ? &object->contexts[low - 1] : NULL;
}
