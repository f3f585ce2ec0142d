/* Sections that libdwarf reads as one file, and their units; see dwarf.h. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "format/dwarf/line_table.h"
#include "format/dwarf/parts.h"

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

/* The table of abbreviations that was read last. */
struct abbreviations {
    Dwarf_Off offset;
    uint64_t read_bytes; /* of all tables */
    bool good;
};

#ifdef DW_LIBDWARF_VERSION
/* Reads a table of abbreviations as libdwarf does. False: it does not end inside its section, or
 * states a form that libdwarf does not know.  Source: DWARF 5, 7.5.3. */
static bool read_abbreviations(struct line_cursor *c)
{
    while (line_unsigned(c) != 0) {
        uint64_t name, form;
        (void)line_unsigned(c); /* tag */
        (void)line_fixed(c, 1); /* whether entries have children */
        do {
            const char *known;
            name = line_unsigned(c);
            form = line_unsigned(c);
            if (form == DW_FORM_implicit_const)
                (void)line_signed(c);
            if (form != 0 &&
                (form > UINT32_MAX || dwarf_get_FORM_name((unsigned)form, &known) != DW_DLV_OK))
                return false;
        } while (name != 0 || form != 0);
    }
    return !c->failed;
}

/* Whether all abbreviations of a unit are readable. libdwarf since 0.2.0 keeps one whose attributes
 * it cannot read: only the first call that needs it fails, later calls see an entry that has no
 * attributes. */
static bool has_abbreviations(struct dwarf_object *object, Dwarf_Off offset,
                              struct abbreviations *last)
{
    enum { READ_FACTOR = 16 }; /* many units may share one table */
    const struct object_bytes section = object->sections[DEBUG_ABBREV];
    struct line_cursor c = {.bytes = section, .at = offset, .end = section.bytes};

    if (last->read_bytes > 0 && offset == last->offset)
        return last->good;
    last->offset = offset;
    last->good = last->read_bytes <= READ_FACTOR * section.bytes && offset < section.bytes &&
                 read_abbreviations(&c);
    last->read_bytes += c.at - offset + 1;
    return last->good;
}
#else
static bool has_abbreviations(struct dwarf_object *object, Dwarf_Off offset,
                              struct abbreviations *last)
{
    (void)object;
    (void)offset;
    (void)last;
    return true;
}
#endif

/* Lists every unit. Take pointers into the list only when it is complete. */
static enum status list_contexts(struct dwarf_object *object, struct fault *fault)
{
    struct abbreviations last = {0};
    Dwarf_Error error = NULL;
    Dwarf_Unsigned next = 0, length, type_offset;
    Dwarf_Half version, address_bytes, offset_bytes, extension, kind;
    Dwarf_Off abbreviations;
    Dwarf_Sig8 signature;

    memset(&signature, 0, sizeof signature);
    for (;;) {
        const int found = dwarf_next_cu_header_d(
            object->debug, 1, &length, &version, &abbreviations, &address_bytes, &offset_bytes,
            &extension, &signature, &type_offset, &next, &kind, &error);
        object->lacks_units = object->lacks_units || found == DW_DLV_ERROR;
        if (found != DW_DLV_OK)
            return ERR_NONE;
        Dwarf_Die die;
        Dwarf_Off offset;
        if (object->context_count == DWARF_UNITS_MAX)
            return fault_set(fault, ERR_LIMIT, FAULT_NO_OFFSET, "DWARF units");
        if (dwarf_siblingof_b(object->debug, NULL, 1, &die, &error) != DW_DLV_OK) {
            object->lacks_units = true;
            continue;
        }
        const bool placed = dwarf_dieoffset(die, &offset, &error) == DW_DLV_OK;
        dwarf_dealloc_die(die);
        object->lacks_units = object->lacks_units || !placed;
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
        context->damaged = !has_abbreviations(object, abbreviations, &last);
        if (version >= 5 && (kind == DW_UT_skeleton || kind == DW_UT_split_compile))
            context->dwo_id = signature_number(&signature, object->big_endian);
        context->addresses = object->sections[DEBUG_ADDR];
        context->strings = object->sections[DEBUG_STR];
        context->string_offsets = object->sections[DEBUG_STR_OFFSETS];
        context->old_lists = object->sections[DEBUG_RANGES];
        context->lists = object->sections[DEBUG_RNGLISTS];
    }
}

struct dwarf_object *dwarf_object_new(const struct object_bytes sections[DEBUG_SECTIONS],
                                      const struct object_debug *like, bool split,
                                      struct fault *fault)
{
    struct dwarf_object *object = calloc(1, sizeof *object);

    if (object == NULL) {
        fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "DWARF");
        return NULL;
    }
    memcpy(object->sections, sections, sizeof object->sections);
    object->address_bytes = like->address_bytes;
    object->big_endian = like->big_endian;
    object->is_split = split;
    if (!dwarf_sections_open(object)) {
        fault_set(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "DWARF");
    } else if (list_contexts(object, fault) == ERR_NONE) {
        return object;
    }
    dwarf_object_free(object);
    return NULL;
}

void dwarf_object_free(struct dwarf_object *object)
{
    if (object == NULL)
        return;
    dwarf_sections_close(object);
    free(object->contexts);
    free(object);
}

struct dwarf_context *dwarf_object_context(struct dwarf_object *object, Dwarf_Off offset)
{
    const uint32_t low = ARRAY_UPPER(object->contexts, object->context_count, offset, offset);
    return low > 0 && offset < object->contexts[low - 1].end ? &object->contexts[low - 1] : NULL;
}
