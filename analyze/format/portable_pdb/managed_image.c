/* The parts of a managed image; see managed_image.h.
 *
 *   CLR HEADER
 *   metadata: rva        8
 *   metadata: bytes     12 */
#include "format/portable_pdb/managed_image.h"

#include <string.h>

#include "base/bytes.h"

enum {
    CLR_HEADER_BYTES = 16,
    PORTABLE_VERSION = 0x504d, /* "MP": minor version of the entry of a portable PDB */
    RSDS = 0x53445352,
    MPDB = 0x4244504D,
};

bool managed_recognize(const struct pe *pe)
{
    const struct pe_directory header = pe->directories[PE_DIR_CLR];
    return header.rva != 0 && pe_at(pe, header.rva, CLR_HEADER_BYTES) != NULL;
}

enum status managed_metadata(const struct pe *pe, struct metadata *out, struct fault *fault)
{
    const uint8_t *header = pe_at(pe, pe->directories[PE_DIR_CLR].rva, CLR_HEADER_BYTES);
    if (!managed_recognize(pe) || header == NULL)
        return fault_set(fault, ERR_ABSENT, FAULT_NO_OFFSET, "CLR header");
    const uint32_t bytes = load_u32(header + 12);
    const uint8_t *data = pe_at(pe, load_u32(header + 8), bytes);
    if (data == NULL)
        return fault_set(fault, ERR_TRUNCATED, FAULT_NO_OFFSET, "metadata of the image");
    return metadata_open(data, bytes, out, fault);
}

bool managed_mvid(const struct pe *pe, char out[MVID_BYTES])
{
    enum { COLUMN_MVID = 2 };
    struct fault fault = FAULT_INIT;
    struct metadata md;
    if (!managed_recognize(pe) || managed_metadata(pe, &md, &fault) != ERR_NONE)
        return false;
    const uint8_t *guid = metadata_guid(&md, metadata_cell(&md, TABLE_MODULE, 1, COLUMN_MVID));
    if (guid != NULL)
        module_mvid(guid, out);
    return guid != NULL;
}

/* Native images also name a PDB of their own, first; see pe_codeview(). */
bool managed_pdb_id(const struct pe *pe, uint8_t out[PPDB_ID_BYTES])
{
    struct pe_debug_entry entry;
    bool found = false, portable = false;
    for (uint32_t i = 0; !portable && pe_debug_entry(pe, i, &entry); i++) {
        if (entry.type != PE_DEBUG_CODEVIEW || entry.data.data == NULL || entry.data.bytes < 20 ||
            load_u32(entry.data.data) != RSDS)
            continue;
        found = true;
        portable = entry.minor_version == PORTABLE_VERSION;
        memcpy(out, entry.data.data + 4, 16);
        for (unsigned b = 0; b < 4; b++)
            out[16 + b] = (uint8_t)(entry.timestamp >> (8 * b));
    }
    return found;
}

static bool find_embedded(const struct pe *pe, struct byte_view *data)
{
    struct pe_debug_entry entry;
    for (uint32_t i = 0; pe_debug_entry(pe, i, &entry); i++) {
        *data = entry.data;
        if (entry.type == PE_DEBUG_EMBEDDED_PDB && data->data != NULL)
            return true;
    }
    return false;
}

enum status managed_embedded_pdb(const struct pe *pe, struct arena *keep, struct byte_view *out,
                                 struct fault *fault)
{
    struct byte_view data;
    if (!find_embedded(pe, &data))
        return fault_set(fault, ERR_ABSENT, FAULT_NO_OFFSET, "embedded portable PDB");
    if (data.bytes < 8 || load_u32(data.data) != MPDB)
        return fault_set(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "embedded portable PDB");
    const struct byte_view packed = {data.data + 8, data.bytes - 8};
    return object_unpack(PACKED_DEFLATE, packed, load_u32(data.data + 4), keep, out, fault);
}
