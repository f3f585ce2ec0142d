/* DWARF in PE images from mingw and Wine: its sections and the ranges of code; see pe.h. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bytes.h"
#include "format/pe/pe.h"

/* The bytes of a section without its padding in the file; of some linkers the padded size is the
 * only one. */
static bool section_bytes(const struct pe *pe, const struct pe_section *section,
                          struct byte_view *out)
{
    if (section->foff > pe->bytes || section->raw_bytes > pe->bytes - section->foff)
        return false;
    const uint32_t bytes =
        section->virtual_bytes < section->raw_bytes ? section->virtual_bytes : section->raw_bytes;
    *out = (struct byte_view){pe->data + section->foff, bytes};
    if (bytes == 0)
        out->bytes = section->raw_bytes;
    return out->bytes > 0;
}

/* ".zdebug_...": "ZLIB", u64 size, big-endian. */
static void unpack(const struct byte_view data, struct arena *keep, struct byte_view *slot,
                   struct fault *fault)
{
    uint64_t bytes = 0;
    if (data.bytes < 12 || memcmp(data.data, "ZLIB", 4) != 0) {
        fault_set(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "header of a packed section");
        return;
    }
    for (int i = 4; i < 12; i++)
        bytes = bytes << 8 | data.data[i];
    const struct byte_view packed = {data.data + 12, data.bytes - 12};
    (void)object_unpack(PACKED_ZLIB, packed, bytes, keep, slot, fault);
}

ARRAY_ORDER(compare_ranges, struct object_range, start_va)

bool pe_debug(const struct pe *pe, struct arena *keep, struct object_debug *out,
              struct fault *fault)
{
    struct object_range *code =
        ARENA_ARRAY(keep, (size_t)pe->section_count + 1, struct object_range);
    struct pe_section section;

    memset(out, 0, sizeof *out);
    out->base_va = pe->preferred_base_va;
    out->address_bytes = pe->is_64 ? 8 : 4;
    for (uint32_t i = 0; code != NULL && pe_section(pe, i, &section); i++) {
        const uint32_t bytes =
            section.virtual_bytes != 0 ? section.virtual_bytes : section.raw_bytes;
        if ((section.flags & (PE_SECTION_CODE | PE_SECTION_EXECUTE)) != 0 && bytes > 0)
            code[out->code_count++] = (struct object_range){
                pe->preferred_base_va + section.rva, pe->preferred_base_va + section.rva + bytes};
        const char *name = pe_section_name(pe, &section);
        struct byte_view *slot = object_debug_slot(out, name), data;
        if (slot == NULL && name[0] == '/' && name == section.name)
            fault_set(fault, ERR_TRUNCATED, section.foff, "name of a section");
        if (slot == NULL || slot->data != NULL)
            continue;
        if (!section_bytes(pe, &section, &data)) {
            if (section.raw_bytes > 0)
                fault_set(fault, ERR_TRUNCATED, section.foff, "debug section of a PE image");
            continue;
        }
        if (strncmp(name, ".zdebug_", 8) == 0)
            unpack(data, keep, slot, fault);
        else
            *slot = data;
    }
    if (out->code_count > 0)
        array_sort(code, out->code_count, sizeof *code, compare_ranges);
    out->code = code;
    return out->own[DEBUG_INFO].data != NULL;
}
