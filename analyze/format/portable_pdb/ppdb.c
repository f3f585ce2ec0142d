/* See ppdb.h. */
#include "format/portable_pdb/ppdb.h"

#include <string.h>

#include "base/bytes.h"

enum {
    TOKEN_METHOD = 0x06000000,
    TOKEN_ROW = 0x00FFFFFF,
    NAME_BYTES_MAX = 1 << 16,
    SOURCE_BYTES_MAX = 16 << 20,
    PARENT_METHOD = 0, /* tags of HasCustomDebugInformation */
    PARENT_MODULE = 7,
    PARENT_DOCUMENT = 22,
    PARENT_BITS = 5,
};

static const uint8_t guid_stepping[16] = {0xC5, 0x2A, 0xFD, 0x54, 0x25, 0xE9, 0x1A, 0x40,
                                          0x9C, 0x2A, 0xF9, 0x4F, 0x17, 0x10, 0x72, 0xF8};
static const uint8_t guid_source_link[16] = {0x56, 0x05, 0x11, 0xCC, 0x91, 0xA0, 0x38, 0x4D,
                                             0x9F, 0xEC, 0x25, 0xAB, 0x9A, 0x35, 0x1A, 0x6A};
static const uint8_t guid_embedded_source[16] = {0x1B, 0x57, 0x8A, 0x0E, 0x26, 0x69, 0x6E, 0x46,
                                                 0xB4, 0xAD, 0x8A, 0xB0, 0x46, 0x11, 0xF5, 0xFE};

bool ppdb_recognize(const void *data, size_t bytes)
{
    return metadata_recognize(data, bytes);
}

enum status ppdb_open(const void *data, size_t bytes, struct ppdb *out, struct fault *fault)
{
    struct fault inner = FAULT_INIT;
    if (metadata_open(data, bytes, &out->md, &inner) != ERR_NONE)
        return fault_set_lasting(fault, inner.code, inner.offset, "portable PDB", inner.what);
    if (out->md.pdb.bytes < PPDB_ID_BYTES)
        return fault_set(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "portable PDB without an id");
    memcpy(out->id, out->md.pdb.data, PPDB_ID_BYTES);
    return ERR_NONE;
}

void ppdb_debug_id(const struct ppdb *pdb, char out[DEBUG_ID_BYTES])
{
    module_debug_id(pdb->id, 1, out);
}

/* A document's name: a separator, then the blobs of its parts. */
const char *ppdb_document(const struct ppdb *pdb, uint32_t number, struct arena *keep)
{
    struct metadata_bytes name =
        metadata_blob(&pdb->md, metadata_cell(&pdb->md, TABLE_DOCUMENT, number, 0));
    uint32_t part_offset, room = 1;
    bool first = true;

    if (name.bytes == 0)
        return NULL;
    const char separator = (char)name.data[0];
    name.data++;
    name.bytes--;
    for (struct metadata_bytes at = name; metadata_take_uint(&at, &part_offset);)
        if (room < NAME_BYTES_MAX)
            room += metadata_blob(&pdb->md, part_offset).bytes + 1;
    char *text = room < NAME_BYTES_MAX ? arena_alloc(keep, room) : NULL;
    if (text == NULL)
        return NULL;
    size_t n = 0;
    for (; metadata_take_uint(&name, &part_offset); first = false) {
        const struct metadata_bytes part = metadata_blob(&pdb->md, part_offset);
        if (!first && separator != '\0')
            text[n++] = separator;
        memcpy(text + n, part.data, part.bytes);
        n += part.bytes;
    }
    text[n] = '\0';
    return text;
}

/* The sequence points of one method, read one after the other. */
struct points {
    struct metadata_bytes blob;
    uint32_t document, il;
    int64_t line, column; /* of the last visible point; line 0: none yet */
    bool first, hidden;
};

/* Reads the next point; false at the end, or where the blob is damaged. */
static bool next_point(struct points *p)
{
    uint32_t delta, lines, ucolumns;
    int32_t columns, moved;

    while (metadata_take_uint(&p->blob, &delta)) {
        if (delta == 0 && !p->first) { /* another document */
            if (!metadata_take_uint(&p->blob, &p->document))
                return false;
            continue;
        }
        p->il = p->first ? delta : p->il + delta;
        p->first = false;
        if (!metadata_take_uint(&p->blob, &lines))
            return false;
        if (lines == 0) {
            if (!metadata_take_uint(&p->blob, &ucolumns))
                return false;
            p->hidden = ucolumns == 0;
        } else {
            if (!metadata_take_int(&p->blob, &columns))
                return false;
            p->hidden = false;
        }
        if (p->hidden)
            return true;
        if (p->line == 0) {
            uint32_t line, column;
            if (!metadata_take_uint(&p->blob, &line) || !metadata_take_uint(&p->blob, &column))
                return false;
            p->line = line;
            p->column = column;
            return true;
        }
        if (!metadata_take_int(&p->blob, &moved))
            return false;
        p->line += moved;
        if (!metadata_take_int(&p->blob, &moved))
            return false;
        p->column += moved;
        return true;
    }
    return false;
}

bool ppdb_place(const struct ppdb *pdb, uint32_t token, uint32_t il, struct ppdb_place *out)
{
    const uint32_t row = token & TOKEN_ROW;
    uint32_t unused;

    *out = (struct ppdb_place){0, 0, 0, false};
    if ((token & ~(uint32_t)TOKEN_ROW) != TOKEN_METHOD || row == 0 ||
        row > pdb->md.tables[TABLE_METHOD_DEBUG_INFORMATION].count)
        return false;
    struct points points = {
        .blob = metadata_blob(&pdb->md,
                              metadata_cell(&pdb->md, TABLE_METHOD_DEBUG_INFORMATION, row, 1)),
        .document = metadata_cell(&pdb->md, TABLE_METHOD_DEBUG_INFORMATION, row, 0),
        .first = true,
    };
    if (!metadata_take_uint(&points.blob, &unused)) /* the signature of the locals */
        return true;
    if (points.document == 0 && !metadata_take_uint(&points.blob, &points.document))
        return true;
    while (next_point(&points) && points.il <= il) {
        out->hidden = points.hidden;
        if (points.hidden || points.line <= 0 || points.line > 0xFFFFFF)
            continue;
        out->line = (uint32_t)points.line;
        out->column = points.column > 0 && points.column < 0xFFFF ? (uint32_t)points.column : 0;
        out->document = points.document;
    }
    return true;
}

uint32_t ppdb_kickoff(const struct ppdb *pdb, uint32_t token)
{
    if ((token & TOKEN_ROW) == 0)
        return 0;
    const uint32_t row = metadata_find(&pdb->md, TABLE_STATE_MACHINE_METHOD, 0, token & TOKEN_ROW);
    const uint32_t method = metadata_cell(&pdb->md, TABLE_STATE_MACHINE_METHOD, row, 1);
    return method != 0 ? TOKEN_METHOD | method : 0;
}

/* The custom debug information KIND of a parent; an empty blob: there is none. */
static struct metadata_bytes find_custom(const struct ppdb *pdb, uint32_t tag, uint32_t row,
                                         const uint8_t kind[16], bool *found)
{
    const uint32_t parent = row << PARENT_BITS | tag;
    uint32_t i = metadata_find(&pdb->md, TABLE_CUSTOM_DEBUG_INFORMATION, 0, parent);

    *found = true;
    for (; row != 0 && i <= pdb->md.tables[TABLE_CUSTOM_DEBUG_INFORMATION].count &&
           metadata_cell(&pdb->md, TABLE_CUSTOM_DEBUG_INFORMATION, i, 0) == parent;
         i++) {
        const uint8_t *guid =
            metadata_guid(&pdb->md, metadata_cell(&pdb->md, TABLE_CUSTOM_DEBUG_INFORMATION, i, 1));
        if (guid != NULL && memcmp(guid, kind, 16) == 0)
            return metadata_blob(&pdb->md,
                                 metadata_cell(&pdb->md, TABLE_CUSTOM_DEBUG_INFORMATION, i, 2));
    }
    *found = false;
    return (struct metadata_bytes){(const uint8_t *)"", 0};
}

bool ppdb_is_async(const struct ppdb *pdb, uint32_t token)
{
    bool found;
    (void)find_custom(pdb, PARENT_METHOD, token & TOKEN_ROW, guid_stepping, &found);
    return found;
}

struct metadata_bytes ppdb_source_link(const struct ppdb *pdb)
{
    bool found;
    return find_custom(pdb, PARENT_MODULE, 1, guid_source_link, &found);
}

bool ppdb_source(const struct ppdb *pdb, uint32_t number, struct arena *keep, struct byte_view *out,
                 struct fault *fault)
{
    bool found;
    const struct metadata_bytes blob =
        find_custom(pdb, PARENT_DOCUMENT, number, guid_embedded_source, &found);

    *out = (struct byte_view){NULL, 0};
    if (!found || blob.bytes < 4)
        return false;
    const uint32_t unpacked = load_u32(blob.data); /* 0: not packed */
    const struct byte_view text = {blob.data + 4, blob.bytes - 4};
    if (unpacked == 0)
        *out = text;
    else if (unpacked > SOURCE_BYTES_MAX)
        fault_set(fault, ERR_LIMIT, FAULT_NO_OFFSET, "source in a portable PDB");
    else
        (void)object_unpack(PACKED_DEFLATE, text, unpacked, keep, out, fault);
    return out->data != NULL;
}
