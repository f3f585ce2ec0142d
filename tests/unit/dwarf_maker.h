/* Makes units of DWARF by hand, in any format, and asks the reader about them. */
#ifndef TEST_DWARF_MAKER_H
#define TEST_DWARF_MAKER_H

#include "format/dwarf/dwarf.h"

enum { PART_MAX = 1 << 17, BASE = 0x1000, AT = 0x10, TYPE = 2 };

/* Tags, attributes and forms of DWARF 5, 7.5. */
enum {
    UNIT = 0x11,
    TYPE_UNIT = 0x41,
    FUNCTION = 0x2e,
    INLINED = 0x1d,
    BLOCK = 0x0b,
    STRUCTURE = 0x13
};
enum {
    SIBLING = 0x01,
    NAME = 0x03,
    LOW = 0x11,
    HIGH = 0x12,
    ORIGIN = 0x31,
    SPECIFICATION = 0x47,
    CALL_LINE = 0x59,
    LINKAGE = 0x6e,
    OTHER = 0x2fff,
};
enum { ADDR = 0x01, STRING = 0x08, REF4 = 0x13 };

struct part {
    uint8_t data[PART_MAX];
    size_t bytes;
};

struct made {
    struct part info, abbrev;
    bool big, wide; /* wide: the format of 64 bits */
    uint16_t version;
    uint8_t address_bytes, kind; /* kind: of a unit of version 5; 0: of one that is compiled */
    size_t start;                /* of the unit */
};

struct answer {
    char name[64]; /* "-": no name */
    uint32_t depth, call_line;
    bool opened, damaged;
};

enum { FORMATS = 6 };
extern const struct made formats[FORMATS];

void put_fixed(struct part *to, uint64_t value, size_t bytes, bool big);
void put_unsigned(struct part *to, uint64_t value); /* LEB128 */
void put_text(struct part *to, const char *text);

/* Appends to .debug_info, in the byte order of M. */
void number(struct made *m, uint64_t value, size_t bytes);

/* Where the next entry is, from the start of the unit. */
uint32_t here(const struct made *m);

/* Adds an abbreviation: pairs of attribute and form, up to a zero. */
void shape(struct made *m, uint64_t code, uint64_t tag, bool children, const uint64_t *pairs);

/* Starts a unit of 0x1000 bytes of code, whose abbreviation is 1, and ends it. */
void start_unit(struct made *m);
void end_unit(struct made *m);

/* A copy of LIKE in which a unit is started; owned by the caller. */
struct made *begin(const struct made *like);

/* The two addresses of the function at AT. */
void code_range(struct made *m);

/* Borrows from M. */
struct object_debug sections_of(const struct made *m);

/* What is known about an offset, or about the function at AT. */
struct answer ask_at(const struct object_debug *debug, const struct object_debug *alternate,
                     uint32_t offset);
struct answer ask(const struct object_debug *debug, const struct object_debug *alternate);

#endif
