/* Metadata of .NET: the tables and heaps that managed images and portable PDBs have in common.
 * Everything is borrowed from the bytes, which must outlive the struct.
 *
 * Source: ECMA-335, partition II, sections 22 to 24, https://ecma-international.org/ecma-335; the
 * tables from 0x30 on:
 * https://github.com/dotnet/runtime/blob/main/docs/design/specs/PortablePdb-Metadata.md */
#ifndef FORMAT_METADATA_H
#define FORMAT_METADATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

enum metadata_table {
    TABLE_MODULE = 0x00,
    TABLE_TYPE_REF = 0x01,
    TABLE_TYPE_DEF = 0x02,
    TABLE_METHOD_DEF = 0x06,
    TABLE_TYPE_SPEC = 0x1B,
    TABLE_NESTED_CLASS = 0x29,
    TABLE_GENERIC_PARAM = 0x2A,
    TABLE_DOCUMENT = 0x30,
    TABLE_METHOD_DEBUG_INFORMATION = 0x31,
    TABLE_STATE_MACHINE_METHOD = 0x36,
    TABLE_CUSTOM_DEBUG_INFORMATION = 0x37,
    METADATA_TABLES = 64,
    METADATA_COLUMNS_MAX = 9,
};

/* What a type in a signature begins with (II.23.1.16); the last three only in compiled code,
 * https://github.com/dotnet/runtime/blob/main/docs/design/coreclr/botr/readytorun-format.md */
enum metadata_element {
    ELEMENT_STRING = 0x0E, /* the last of the simple types, from 1 on */
    ELEMENT_POINTER = 0x0F,
    ELEMENT_BY_REFERENCE = 0x10,
    ELEMENT_VALUE_TYPE = 0x11,
    ELEMENT_CLASS = 0x12,
    ELEMENT_VAR = 0x13,
    ELEMENT_ARRAY = 0x14,
    ELEMENT_GENERIC = 0x15,
    ELEMENT_TYPED_REFERENCE = 0x16,
    ELEMENT_INT = 0x18,
    ELEMENT_UINT = 0x19,
    ELEMENT_FUNCTION = 0x1B,
    ELEMENT_OBJECT = 0x1C,
    ELEMENT_VECTOR = 0x1D,
    ELEMENT_METHOD_VAR = 0x1E,
    ELEMENT_MODIFIER_REQUIRED = 0x1F,
    ELEMENT_MODIFIER_OPTIONAL = 0x20,
    ELEMENT_SENTINEL = 0x41,
    ELEMENT_PINNED = 0x45,
    ELEMENT_NATIVE_VALUE = 0x3D,
    ELEMENT_ANY_CLASS = 0x3E, /* of code that several types share */
    ELEMENT_OF_MODULE = 0x3F,
};

struct metadata_bytes {
    const uint8_t *data;
    uint32_t bytes;
};

struct metadata_rows {
    const uint8_t *at; /* NULL: the table is not in these bytes, only its size is known */
    uint32_t count;
    uint8_t row_bytes, column_at[METADATA_COLUMNS_MAX], column_bytes[METADATA_COLUMNS_MAX];
    uint8_t columns;
};

struct metadata {
    struct metadata_bytes strings, blobs, guids, pdb;
    struct metadata_rows tables[METADATA_TABLES];
};

/* True when DATA starts like metadata: a portable PDB, or what a CLR header points to. */
bool metadata_recognize(const void *data, size_t bytes);

/* Fails: ERR_UNSUPPORTED no metadata, or tables that are not known; ERR_TRUNCATED; ERR_MALFORMED.
 */
enum status metadata_open(const void *data, size_t bytes, struct metadata *out,
                          struct fault *fault);

/* A cell; rows count from 1. 0 where there is no such row. */
uint32_t metadata_cell(const struct metadata *md, enum metadata_table table, uint32_t row,
                       uint32_t column);

/* The first row whose COLUMN is VALUE, in a table that is sorted by it; 0: none. */
uint32_t metadata_find(const struct metadata *md, enum metadata_table table, uint32_t column,
                       uint32_t value);

/* Of the heaps; "" and an empty blob where there is none. */
const char *metadata_string(const struct metadata *md, uint32_t offset);
struct metadata_bytes metadata_blob(const struct metadata *md, uint32_t offset);
const uint8_t *metadata_guid(const struct metadata *md, uint32_t number); /* NULL: none */

/* Compressed integers (II.23.2); they move *BLOB on. False: its end, or no such form. */
bool metadata_take_uint(struct metadata_bytes *blob, uint32_t *out);
bool metadata_take_int(struct metadata_bytes *blob, int32_t *out);

#endif
