/* A section of DWARF, read front to back. The first read past the end poisons the cursor: from then
 * on every number is 0 and every text is "". Either byte order, unlike base/bytes.h. */
#ifndef FORMAT_DWARF_CURSOR_H
#define FORMAT_DWARF_CURSOR_H

#include <stdbool.h>
#include <string.h>

#include "base/bytes.h"
#include "format/object/object.h"

struct dwarf_cursor {
    const uint8_t *at, *end;
    bool big_endian, failed;
};

/* Starts at OFFSET of a section; it has failed if that is outside. */
static inline struct dwarf_cursor cursor_over(struct byte_view section, uint64_t offset,
                                              bool big_endian)
{
    struct dwarf_cursor c = {section.data, section.data, big_endian, true};
    if (section.data != NULL && offset <= section.bytes) {
        c.at = section.data + offset;
        c.end = section.data + section.bytes;
        c.failed = false;
    }
    return c;
}

static inline uint64_t cursor_left(const struct dwarf_cursor *c)
{
    return (uint64_t)(c->end - c->at);
}

static inline uint64_t cursor_fixed(struct dwarf_cursor *c, uint32_t bytes)
{
    if (c->failed || cursor_left(c) < bytes) {
        c->failed = true;
        return 0;
    }
    c->at += bytes;
    return load_number(c->at - bytes, bytes, c->big_endian);
}

/* LEB128 of more than one byte, or cut.  Source: DWARF 5, 7.6. */
uint64_t cursor_unsigned_long(struct dwarf_cursor *c);

/* LEB128; nearly all numbers have one byte. */
static inline uint64_t cursor_unsigned(struct dwarf_cursor *c)
{
    return !c->failed && c->at < c->end && *c->at < 0x80 ? *c->at++ : cursor_unsigned_long(c);
}

static inline int64_t cursor_signed(struct dwarf_cursor *c)
{
    uint64_t value = 0, byte = 0x80;
    unsigned shift = 0;

    for (; !c->failed && (byte & 0x80) != 0; shift += 7) {
        byte = cursor_fixed(c, 1);
        if (shift < 64)
            value |= (byte & 0x7f) << shift;
    }
    if ((byte & 0x40) != 0 && shift < 64)
        value |= ~(uint64_t)0 << shift;
    return c->failed ? 0 : (int64_t)value;
}

static inline void cursor_skip(struct dwarf_cursor *c, uint64_t bytes)
{
    if (c->failed || cursor_left(c) < bytes)
        c->failed = true;
    else
        c->at += bytes;
}

static inline const char *cursor_string(struct dwarf_cursor *c)
{
    const uint8_t *start = c->at;
    const uint8_t *nul = c->failed ? NULL : memchr(start, 0, (size_t)cursor_left(c));
    if (nul == NULL) {
        c->failed = true;
        return "";
    }
    c->at = nul + 1;
    return (const char *)start;
}

/* The length that a unit or a table states at its start; it may be more than is left.
 * *offset_bytes: 4, or 8 in the format of 64 bits.  Source: DWARF 5, 7.4. */
static inline uint64_t cursor_length(struct dwarf_cursor *c, uint8_t *offset_bytes)
{
    uint64_t length = cursor_fixed(c, 4);

    *offset_bytes = length == UINT32_MAX ? 8 : 4;
    if (length == UINT32_MAX)
        length = cursor_fixed(c, 8);
    return length;
}

#endif
