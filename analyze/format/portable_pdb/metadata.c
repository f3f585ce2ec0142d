/* See metadata.h.
 *
 *   METADATA ROOT            TABLES STREAM "#~"
 *   signature "BSJB"    0    reserved            0
 *   versions            4    version             4
 *   reserved            8    sizes of heaps      6
 *   length of version  12    tables that exist   8  (a bit each)
 *   version, flags     16    sorted tables      16
 *   streams, their headers   rows of each       24  (4 each) */
#include "format/portable_pdb/metadata.h"

#include <string.h>

#include "base/array.h"
#include "base/bytes.h"

enum {
    SIGNATURE = 0x424A5342,
    STREAMS_MAX = 64,
    ROWS_MAX = 0xFFFFFF, /* what a token can name */
    /* Kinds of columns. The others are COLUMN_TABLE + a table and COLUMN_CODED + enum coded. */
    U16 = 1,
    U32 = 2,
    STR = 3,
    GUID = 4,
    BLOB = 5,
    COLUMN_TABLE = 0x40,
    COLUMN_CODED = 0x80,
    HEAP_STRINGS_WIDE = 1,
    HEAP_GUIDS_WIDE = 2,
    HEAP_BLOBS_WIDE = 4,
    HEAP_EXTRA = 0x40,
};

enum coded {
    TYPE_DEF_OR_REF,
    HAS_CONSTANT,
    HAS_CUSTOM_ATTRIBUTE,
    HAS_FIELD_MARSHAL,
    HAS_DECL_SECURITY,
    MEMBER_REF_PARENT,
    HAS_SEMANTICS,
    METHOD_DEF_OR_REF,
    MEMBER_FORWARDED,
    IMPLEMENTATION,
    CUSTOM_ATTRIBUTE_TYPE,
    RESOLUTION_SCOPE,
    TYPE_OR_METHOD_DEF,
    HAS_CUSTOM_DEBUG_INFORMATION,
};

#define T(table) (COLUMN_TABLE + (table))
#define C(coded) (COLUMN_CODED + (coded))

/* The tables that each coded index leads to, and the bits of its tag (II.24.2.6). */
static const struct {
    uint8_t bits, count, tables[27];
} codes[] = {
    [TYPE_DEF_OR_REF] = {2, 3, {0x02, 0x01, 0x1B}},
    [HAS_CONSTANT] = {2, 3, {0x04, 0x08, 0x17}},
    [HAS_CUSTOM_ATTRIBUTE] = {5, 22, {0x06, 0x04, 0x01, 0x02, 0x08, 0x09, 0x0A, 0x00,
                                      0x0E, 0x17, 0x14, 0x11, 0x1A, 0x1B, 0x20, 0x23,
                                      0x26, 0x27, 0x28, 0x2A, 0x2C, 0x2B}},
    [HAS_FIELD_MARSHAL] = {1, 2, {0x04, 0x08}},
    [HAS_DECL_SECURITY] = {2, 3, {0x02, 0x06, 0x20}},
    [MEMBER_REF_PARENT] = {3, 5, {0x02, 0x01, 0x1A, 0x06, 0x1B}},
    [HAS_SEMANTICS] = {1, 2, {0x14, 0x17}},
    [METHOD_DEF_OR_REF] = {1, 2, {0x06, 0x0A}},
    [MEMBER_FORWARDED] = {1, 2, {0x04, 0x06}},
    [IMPLEMENTATION] = {2, 3, {0x26, 0x23, 0x27}},
    [CUSTOM_ATTRIBUTE_TYPE] = {3, 2, {0x06, 0x0A}},
    [RESOLUTION_SCOPE] = {2, 4, {0x00, 0x1A, 0x23, 0x01}},
    [TYPE_OR_METHOD_DEF] = {1, 2, {0x02, 0x06}},
    [HAS_CUSTOM_DEBUG_INFORMATION] = {5, 27, {0x06, 0x04, 0x01, 0x02, 0x08, 0x09, 0x0A,
                                              0x00, 0x0E, 0x17, 0x14, 0x11, 0x1A, 0x1B,
                                              0x20, 0x23, 0x26, 0x27, 0x28, 0x2A, 0x2C,
                                              0x2B, 0x30, 0x32, 0x33, 0x34, 0x35}},
};

/* The columns of each table; 0 ends them (II.22). */
static const uint8_t schema[METADATA_TABLES][METADATA_COLUMNS_MAX] = {
    [0x00] = {U16, STR, GUID, GUID, GUID},
    [0x01] = {C(RESOLUTION_SCOPE), STR, STR},
    [0x02] = {U32, STR, STR, C(TYPE_DEF_OR_REF), T(0x04), T(0x06)},
    [0x03] = {T(0x04)},
    [0x04] = {U16, STR, BLOB},
    [0x05] = {T(0x06)},
    [0x06] = {U32, U16, U16, STR, BLOB, T(0x08)},
    [0x07] = {T(0x08)},
    [0x08] = {U16, U16, STR},
    [0x09] = {T(0x02), C(TYPE_DEF_OR_REF)},
    [0x0A] = {C(MEMBER_REF_PARENT), STR, BLOB},
    [0x0B] = {U16, C(HAS_CONSTANT), BLOB},
    [0x0C] = {C(HAS_CUSTOM_ATTRIBUTE), C(CUSTOM_ATTRIBUTE_TYPE), BLOB},
    [0x0D] = {C(HAS_FIELD_MARSHAL), BLOB},
    [0x0E] = {U16, C(HAS_DECL_SECURITY), BLOB},
    [0x0F] = {U16, U32, T(0x02)},
    [0x10] = {U32, T(0x04)},
    [0x11] = {BLOB},
    [0x12] = {T(0x02), T(0x14)},
    [0x13] = {T(0x14)},
    [0x14] = {U16, STR, C(TYPE_DEF_OR_REF)},
    [0x15] = {T(0x02), T(0x17)},
    [0x16] = {T(0x17)},
    [0x17] = {U16, STR, BLOB},
    [0x18] = {U16, T(0x06), C(HAS_SEMANTICS)},
    [0x19] = {T(0x02), C(METHOD_DEF_OR_REF), C(METHOD_DEF_OR_REF)},
    [0x1A] = {STR},
    [0x1B] = {BLOB},
    [0x1C] = {U16, C(MEMBER_FORWARDED), STR, T(0x1A)},
    [0x1D] = {U32, T(0x04)},
    [0x1E] = {U32, U32},
    [0x1F] = {U32},
    [0x20] = {U32, U16, U16, U16, U16, U32, BLOB, STR, STR},
    [0x21] = {U32},
    [0x22] = {U32, U32, U32},
    [0x23] = {U16, U16, U16, U16, U32, BLOB, STR, STR, BLOB},
    [0x24] = {U32, T(0x23)},
    [0x25] = {U32, U32, U32, T(0x23)},
    [0x26] = {U32, STR, BLOB},
    [0x27] = {U32, U32, STR, STR, C(IMPLEMENTATION)},
    [0x28] = {U32, U32, STR, C(IMPLEMENTATION)},
    [0x29] = {T(0x02), T(0x02)},
    [0x2A] = {U16, U16, C(TYPE_OR_METHOD_DEF), STR},
    [0x2B] = {C(METHOD_DEF_OR_REF), BLOB},
    [0x2C] = {T(0x2A), C(TYPE_DEF_OR_REF)},
    [0x30] = {BLOB, GUID, BLOB, GUID},
    [0x31] = {T(0x30), BLOB},
    [0x32] = {T(0x06), T(0x35), T(0x33), T(0x34), U32, U32},
    [0x33] = {U16, U16, STR},
    [0x34] = {STR, BLOB},
    [0x35] = {T(0x35), BLOB},
    [0x36] = {T(0x06), T(0x06)},
    [0x37] = {C(HAS_CUSTOM_DEBUG_INFORMATION), GUID, BLOB},
};

bool metadata_recognize(const void *data, size_t bytes)
{
    return bytes >= 4 && load_u32(data) == SIGNATURE;
}

static uint8_t column_bytes(const struct metadata *md, uint8_t kind, uint8_t heaps)
{
    uint32_t most = 0, bits = 0;

    if (kind == U16 || kind == U32)
        return kind == U16 ? 2 : 4;
    if (kind == STR)
        return heaps & HEAP_STRINGS_WIDE ? 4 : 2;
    if (kind == GUID)
        return heaps & HEAP_GUIDS_WIDE ? 4 : 2;
    if (kind == BLOB)
        return heaps & HEAP_BLOBS_WIDE ? 4 : 2;
    if (kind < COLUMN_CODED) {
        most = md->tables[kind - COLUMN_TABLE].count;
    } else {
        const uint8_t code = (uint8_t)(kind - COLUMN_CODED);
        bits = codes[code].bits;
        for (uint8_t i = 0; i < codes[code].count; i++)
            if (md->tables[codes[code].tables[i]].count > most)
                most = md->tables[codes[code].tables[i]].count;
    }
    return most >= UINT32_C(1) << (16 - bits) ? 4 : 2;
}

static void lay_out(const struct metadata *md, uint8_t heaps, const uint8_t *columns,
                    struct metadata_rows *rows)
{
    uint8_t at = 0;
    for (rows->columns = 0; rows->columns < METADATA_COLUMNS_MAX && columns[rows->columns] != 0;
         rows->columns++) {
        rows->column_at[rows->columns] = at;
        rows->column_bytes[rows->columns] = column_bytes(md, columns[rows->columns], heaps);
        at = (uint8_t)(at + rows->column_bytes[rows->columns]);
    }
    rows->row_bytes = at;
}

static enum status read_tables(struct metadata *md, struct bytes r)
{
    bytes_skip(&r, 6);
    const uint8_t heaps = bytes_u8(&r);
    bytes_skip(&r, 1);
    const uint64_t valid = bytes_u64(&r);
    bytes_skip(&r, 8);
    for (uint32_t i = 0; i < METADATA_TABLES; i++) {
        if ((valid >> i & 1) == 0)
            continue;
        if (schema[i][0] == 0)
            return fault_set(r.fault, ERR_UNSUPPORTED, r.offset, "table of metadata");
        md->tables[i].count = bytes_u32(&r);
        if (md->tables[i].count > ROWS_MAX)
            return fault_set(r.fault, ERR_MALFORMED, r.offset, "rows of a metadata table");
    }
    if (heaps & HEAP_EXTRA)
        bytes_skip(&r, 4);
    for (uint32_t i = 0; i < METADATA_TABLES; i++) {
        struct metadata_rows *rows = &md->tables[i];
        lay_out(md, heaps, schema[i], rows);
        if ((valid >> i & 1) == 0)
            continue;
        rows->at = bytes_take(&r, (size_t)rows->count * rows->row_bytes);
        if (rows->at == NULL)
            return r.fault->code;
    }
    return r.fault->code;
}

/* "#Pdb" of a portable PDB has the counts of the image's tables, which widths depend on. */
static enum status read_foreign_counts(struct metadata *md, struct bytes r)
{
    bytes_skip(&r, 24);
    const uint64_t referenced = bytes_u64(&r);
    if (referenced >> TABLE_DOCUMENT != 0)
        return fault_set(r.fault, ERR_MALFORMED, r.offset, "an image's table that is a PDB's");
    for (uint32_t i = 0; i < TABLE_DOCUMENT; i++) {
        if (referenced >> i & 1)
            md->tables[i].count = bytes_u32(&r);
        if (md->tables[i].count > ROWS_MAX)
            return fault_set(r.fault, ERR_MALFORMED, r.offset, "rows of a metadata table");
    }
    return r.fault->code;
}

static struct metadata_bytes *slot_of(struct metadata *md, const char *name,
                                      struct metadata_bytes *tables)
{
    const struct {
        const char *name;
        struct metadata_bytes *slot;
    } slots[] = {{"#Strings", &md->strings}, {"#Blob", &md->blobs}, {"#GUID", &md->guids},
                 {"#Pdb", &md->pdb},         {"#~", tables},        {"#-", tables}};
    for (size_t i = 0; i < COUNT_OF(slots); i++)
        if (strcmp(name, slots[i].name) == 0)
            return slots[i].slot;
    return NULL;
}

static struct bytes reader_of(struct metadata_bytes from, struct fault *fault)
{
    return (struct bytes){from.data, from.bytes, 0, fault};
}

enum status metadata_open(const void *data, size_t bytes, struct metadata *out, struct fault *fault)
{
    const struct bytes whole = {data, bytes, 0, fault};
    struct bytes r = whole;
    struct metadata_bytes tables = {NULL, 0};

    memset(out, 0, sizeof *out);
    if (!metadata_recognize(data, bytes))
        return fault_set(fault, ERR_UNSUPPORTED, 0, "metadata of .NET");
    bytes_skip(&r, 12);
    bytes_skip(&r, bytes_u32(&r));
    bytes_skip(&r, 2);
    const uint16_t count = bytes_u16(&r);
    for (uint16_t i = 0; i < count && fault->code == ERR_NONE; i++) {
        char name[32] = "";
        if (i == STREAMS_MAX)
            return fault_set(fault, ERR_LIMIT, r.offset, "streams of metadata");
        const uint32_t foff = bytes_u32(&r), size = bytes_u32(&r);
        for (size_t n = 0; n < sizeof name; n += 4) {
            const uint8_t *part = bytes_take(&r, 4);
            if (part == NULL)
                break;
            memcpy(name + n, part, 4);
            if (memchr(part, 0, 4) != NULL)
                break;
        }
        name[sizeof name - 1] = '\0';
        const struct bytes window = bytes_window(&whole, foff, size);
        struct metadata_bytes *slot = slot_of(out, name, &tables);
        if (slot != NULL && fault->code == ERR_NONE)
            *slot = (struct metadata_bytes){window.at, size};
    }
    if (fault->code == ERR_NONE && tables.data == NULL)
        return fault_set(fault, ERR_MALFORMED, r.offset, "metadata without tables");
    if (fault->code == ERR_NONE && out->pdb.data != NULL)
        (void)read_foreign_counts(out, reader_of(out->pdb, fault));
    return fault->code != ERR_NONE ? fault->code : read_tables(out, reader_of(tables, fault));
}

uint32_t metadata_cell(const struct metadata *md, enum metadata_table table, uint32_t row,
                       uint32_t column)
{
    const struct metadata_rows *rows = &md->tables[table];
    if (rows->at == NULL || row == 0 || row > rows->count || column >= rows->columns)
        return 0;
    const uint8_t *at = rows->at + (size_t)(row - 1) * rows->row_bytes + rows->column_at[column];
    return rows->column_bytes[column] == 2 ? load_u16(at) : load_u32(at);
}

uint32_t metadata_find(const struct metadata *md, enum metadata_table table, uint32_t column,
                       uint32_t value)
{
    uint32_t low = 1, high = md->tables[table].count + 1;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (metadata_cell(md, table, middle, column) < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low <= md->tables[table].count && metadata_cell(md, table, low, column) == value ? low
                                                                                            : 0;
}

const char *metadata_string(const struct metadata *md, uint32_t offset)
{
    if (offset >= md->strings.bytes ||
        memchr(md->strings.data + offset, 0, md->strings.bytes - offset) == NULL)
        return "";
    return (const char *)md->strings.data + offset;
}

struct metadata_bytes metadata_blob(const struct metadata *md, uint32_t offset)
{
    static const struct metadata_bytes none = {(const uint8_t *)"", 0};
    uint32_t bytes;
    if (offset >= md->blobs.bytes)
        return none;
    struct metadata_bytes blob = {md->blobs.data + offset, md->blobs.bytes - offset};
    if (!metadata_take_uint(&blob, &bytes) || bytes > blob.bytes)
        return none;
    blob.bytes = bytes;
    return blob;
}

const uint8_t *metadata_guid(const struct metadata *md, uint32_t number)
{
    return number == 0 || number > md->guids.bytes / 16
               ? NULL
               : md->guids.data + (size_t)(number - 1) * 16;
}

/* The number of bytes of an integer that starts with FIRST; 0: there is no such form. */
static uint32_t raw_size(uint8_t first)
{
    if ((first & 0x80) == 0)
        return 1;
    if ((first & 0xC0) == 0x80)
        return 2;
    return (first & 0xE0) == 0xC0 ? 4 : 0;
}

/* The number of bytes of the integer at the start of BLOB; 0: its end, or no such form. */
static uint32_t take_raw(struct metadata_bytes *blob, uint32_t *out)
{
    const uint8_t *at = blob->data;
    const uint32_t size = blob->bytes != 0 ? raw_size(at[0]) : 0;
    if (size == 0 || size > blob->bytes)
        return 0;
    if (size == 1)
        *out = at[0];
    else if (size == 2)
        *out = (uint32_t)(at[0] & 0x3F) << 8 | at[1];
    else
        *out =
            (uint32_t)(at[0] & 0x1F) << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
    blob->data += size;
    blob->bytes -= size;
    return size;
}

bool metadata_take_uint(struct metadata_bytes *blob, uint32_t *out)
{
    return take_raw(blob, out) != 0;
}

/* The sign is the lowest bit: the value was rotated left by one within 7, 14 or 29 bits. */
bool metadata_take_int(struct metadata_bytes *blob, int32_t *out)
{
    uint32_t raw = 0;
    const uint32_t size = take_raw(blob, &raw);
    int32_t half = 1 << 28;
    if (size == 0)
        return false;
    if (size == 1)
        half = 1 << 6;
    else if (size == 2)
        half = 1 << 13;
    *out = (int32_t)(raw >> 1) - ((raw & 1) != 0 ? half : 0);
    return true;
}
