/* The parts of a managed image; see managed_image.h.
 *
 *   CLR HEADER                 DEBUG DIRECTORY, 28 bytes an entry
 *   metadata: rva        8     timestamp            4
 *   metadata: bytes     12     type                12
 *                              bytes of data       16
 *                              foff of data        24 */
#include "format/portable_pdb/managed_image.h"

#include <string.h>

#include "base/bytes.h"

enum {
    CLR_HEADER_BYTES = 16,
    ENTRY_BYTES = 28,
    ENTRIES_MAX = 64,
    DEBUG_CODEVIEW = 2,
    DEBUG_EMBEDDED = 17,
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

/* The data of the first entry of TYPE; false: there is none. */
static bool find_entry(const struct pe *pe, uint32_t type, uint32_t *stamp,
                       struct object_bytes *data)
{
    const struct pe_directory directory = pe->directories[PE_DIR_DEBUG];
    uint32_t count = directory.bytes / ENTRY_BYTES;
    if (count > ENTRIES_MAX)
        count = ENTRIES_MAX;
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *entry = pe_at(pe, directory.rva + i * ENTRY_BYTES, ENTRY_BYTES);
        if (entry == NULL || load_u32(entry + 12) != type)
            continue;
        const uint32_t bytes = load_u32(entry + 16), foff = load_u32(entry + 24);
        if (foff > pe->bytes || bytes > pe->bytes - foff)
            return false;
        *stamp = load_u32(entry + 4);
        *data = (struct object_bytes){pe->data + foff, bytes};
        return true;
    }
    return false;
}

bool managed_pdb_id(const struct pe *pe, uint8_t out[PPDB_ID_BYTES])
{
    struct object_bytes data;
    uint32_t stamp;
    if (!find_entry(pe, DEBUG_CODEVIEW, &stamp, &data) || data.bytes < 20 ||
        load_u32(data.data) != RSDS)
        return false;
    memcpy(out, data.data + 4, 16);
    for (unsigned i = 0; i < 4; i++)
        out[16 + i] = (uint8_t)(stamp >> (8 * i));
    return true;
}

enum status managed_embedded_pdb(const struct pe *pe, struct arena *keep, struct object_bytes *out,
                                 struct fault *fault)
{
    struct object_bytes data;
    uint32_t stamp;
    if (!find_entry(pe, DEBUG_EMBEDDED, &stamp, &data))
        return fault_set(fault, ERR_ABSENT, FAULT_NO_OFFSET, "embedded portable PDB");
    if (data.bytes < 8 || load_u32(data.data) != MPDB)
        return fault_set(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "embedded portable PDB");
    const struct object_bytes packed = {data.data + 8, data.bytes - 8};
    return object_unpack(PACKED_DEFLATE, packed, load_u32(data.data + 4), keep, out, fault);
}
