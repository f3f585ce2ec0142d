/* The entries of .debug_info, and the abbreviations that say which attributes they have.
 *
 * An entry is the number of an abbreviation (LEB128; 0: the end of a list of children) and the
 * values of its attributes. An abbreviation is its number, a tag, a byte (1: children follow) and
 * pairs of attribute and form, up to a pair of zeros. A table of them ends with number 0.
 *
 * Sources: DWARF 5, 7.5.2 to 7.5.6; https://gcc.gnu.org/wiki/DebugFission; for GNU_ref_alt and
 * GNU_strp_alt https://www.dwarfstd.org/issues/120604.1.html. */
#ifndef FORMAT_DWARF_ENTRIES_H
#define FORMAT_DWARF_ENTRIES_H

#include "format/dwarf/cursor.h"

enum dwarf_tag {
    TAG_CLASS_TYPE = 0x02,
    TAG_ENUMERATION_TYPE = 0x04,
    TAG_LEXICAL_BLOCK = 0x0b,
    TAG_COMPILE_UNIT = 0x11,
    TAG_STRUCTURE_TYPE = 0x13,
    TAG_UNION_TYPE = 0x17,
    TAG_INLINED_SUBROUTINE = 0x1d,
    TAG_MODULE = 0x1e,
    TAG_WITH_STMT = 0x22,
    TAG_CATCH_BLOCK = 0x25,
    TAG_SUBPROGRAM = 0x2e,
    TAG_TRY_BLOCK = 0x32,
    TAG_INTERFACE_TYPE = 0x38,
    TAG_NAMESPACE = 0x39,
    TAG_SKELETON_UNIT = 0x4a,
};

/* The attributes that are read. An older number of an attribute has the same name. */
enum dwarf_attribute_name {
    AT_NONE,
    AT_SIBLING,
    AT_NAME,
    AT_STMT_LIST,
    AT_LOW_PC,
    AT_HIGH_PC,
    AT_LANGUAGE,
    AT_COMP_DIR,
    AT_ABSTRACT_ORIGIN,
    AT_SPECIFICATION,
    AT_RANGES,
    AT_CALL_FILE,
    AT_CALL_LINE,
    AT_LINKAGE_NAME,
    AT_STR_OFFSETS_BASE,
    AT_ADDR_BASE,
    AT_RNGLISTS_BASE,
    AT_DWO_ID,
    AT_DWO_NAME,
    AT_RANGES_BASE, /* of split DWARF 4 */
    AT_EXTERNAL,
    AT_COUNT,
};

#define ENTRY_VARIABLE UINT32_MAX

/* What a value is, whatever its size. */
enum dwarf_class {
    VALUE_OTHER,
    VALUE_ADDRESS,
    VALUE_ADDRESS_INDEX,
    VALUE_NUMBER,
    VALUE_SIGNED,
    VALUE_OFFSET, /* in another section */
    VALUE_STRING,
    VALUE_STR, /* offset in .debug_str */
    VALUE_LINE_STR,
    VALUE_STR_INDEX,
    VALUE_STR_ALTERNATE,
    VALUE_REFERENCE, /* from the start of the unit */
    VALUE_REFERENCE_SECTION,
    VALUE_REFERENCE_ALTERNATE,
    VALUE_REFERENCE_TYPE, /* by signature */
    VALUE_LIST_INDEX,
};

/* Sizes that depend on the unit or on the value; smaller numbers are bytes. */
enum dwarf_size {
    SIZE_LARGEST = 16,
    SIZE_ADDRESS,
    SIZE_OFFSET,
    SIZE_SECTION_REFERENCE,
    SIZE_LEB128,
    SIZE_STRING,
    SIZE_BLOCK, /* its length is LEB128 */
    SIZE_BLOCK1,
    SIZE_BLOCK2,
    SIZE_BLOCK4,
    SIZE_CONSTANT, /* in the abbreviation, LEB128 */
    SIZE_INDIRECT, /* the form comes first */
    SIZE_UNKNOWN,
};

/* The format of a unit or table. */
struct dwarf_format {
    uint16_t version;
    uint8_t offset_bytes, address_bytes;
};

/* A form with the sizes of a format put in. */
struct dwarf_form {
    uint8_t kind; /* enum dwarf_class */
    uint8_t size; /* bytes, or enum dwarf_size */
};

struct dwarf_value {
    const uint8_t *at;
    uint32_t bytes; /* from there on, that can be read */
    struct dwarf_form form;
};

/* An attribute of an abbreviation. */
struct dwarf_attribute {
    uint8_t name; /* enum dwarf_attribute_name */
    struct dwarf_form form;
    uint32_t constant; /* SIZE_CONSTANT: where it is in its table */
};

struct dwarf_abbreviation {
    uint32_t code;
    uint16_t tag;
    bool has_children;
    uint32_t names; /* a bit for each attribute that is read */
    uint32_t bytes; /* of all values; ENTRY_VARIABLE: it depends on them */
    uint32_t first, count;
};

struct dwarf_abbreviations {
    struct dwarf_abbreviations *next;
    uint64_t offset;
    const uint8_t *start;
    struct dwarf_format format;
    struct dwarf_abbreviation *items; /* owned, sorted by code */
    struct dwarf_attribute *attributes;
    uint32_t count, room, attribute_count, attribute_room;
    struct dwarf_abbreviation root; /* of the unit's own entry; code 0: none yet */
    bool is_read;                   /* all of the table, not only that */
};

/* The tables of one file, each read when it is first asked for. */
struct abbreviation_tables {
    struct dwarf_abbreviations *slots[256]; /* owned, by hash of the offset */
    uint64_t read_bytes;                    /* of all tables */
};

struct dwarf_entry {
    const struct dwarf_abbreviation *is; /* NULL: the end of a list of children */
    const uint8_t *next;                 /* its values, then what follows them */
    const uint8_t *end; /* of what is read: of the unit, or of a copy of its front */
    struct dwarf_value values[AT_COUNT]; /* valid for the bits of is->names */
};

struct dwarf_context;

struct dwarf_form dwarf_form_of(uint64_t form, const struct dwarf_format *format);

/* Takes the value at the cursor, which fails if it cannot be skipped. */
struct dwarf_value dwarf_value_take(struct dwarf_cursor *c, struct dwarf_form form,
                                    const struct dwarf_format *format);

/* A number that is not negative, or an offset in another section; false: neither. */
bool dwarf_value_number(struct dwarf_value value, bool big_endian, uint64_t *out);

void dwarf_abbreviations_free(struct abbreviation_tables *tables);

/* Starts to read the entry at AT of the unit, which ends at END. False: it is damaged, and so
 * context->damaged. */
bool dwarf_entry_start(struct dwarf_context *context, const uint8_t *at, const uint8_t *end,
                       struct dwarf_entry *out);

/* Reads the values of an entry that was started. False: as above. */
bool dwarf_entry_values(struct dwarf_context *context, struct dwarf_entry *entry);

/* Skips them instead. If WHOLE is not NULL and the entry says where its children end, or has none,
 * it skips these, too, and sets *whole. */
bool dwarf_entry_skip(struct dwarf_context *context, struct dwarf_entry *entry, bool *whole);

/* Starts an entry and reads its values. False: it is damaged or not an entry. */
bool dwarf_entry_read(struct dwarf_context *context, const uint8_t *at, const uint8_t *end,
                      struct dwarf_entry *out);

/* The same for the entry at an offset of .debug_info. */
bool dwarf_entry_at(struct dwarf_context *context, uint64_t offset, struct dwarf_entry *out);

static inline bool entry_has(const struct dwarf_entry *entry, enum dwarf_attribute_name name)
{
    return (entry->is->names >> name & 1) != 0;
}

#endif
