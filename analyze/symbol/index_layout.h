/* The layout of a symbol index file; only its writer and its reader include this.
 *
 *     OFFSET SIZE  header, all numbers little-endian
 *          0    8  "TWSTKIDX"
 *          8    4  version
 *         12    4  spelling of names (enum symbol_names)
 *         16    8  bytes of the PDB file or image
 *         24    8  its time of change, ns
 *         32   16  GUID of a PDB
 *         48    4  its DBI age
 *         52    4  bytes of code in a bucket: 128
 *         56    4  first rva, a multiple of the bucket
 *         60    4  buckets
 *         64  112  seven sections: offset and bytes, 8 + 8
 *        176    8  of an image: hash of the other files that its names may come from; else 0
 *        184    4  1: of an image; 0: of a PDB
 *        188    4  bits of the fields of a slot: back, line, file, name; 1 byte each
 *        192   48  zeroes
 *        240   16  sums of the body and of the header
 *
 * The address space is that of the symbols; images rearranged after linking carry their OMAP
 * table, and an rva goes through it first.
 *
 * groups   u64 for every 4 buckets: u32 where the group starts in the blob, u32 a scope of the
 * group (the first that is not 0). This table is small enough for the cache of a processor. It says
 * where the blocks, slots and names of an address are likely to be, so that a reader waits for all
 * of them at the same time.
 * blob     groups. A group has 6 bytes for each of its 4 buckets, and then blocks:
 *              u16 where the bucket's block starts, counted from the group, u30 scope of the block,
 *              u2 the upper bits of the width of a line in an entry
 *          A block states the scope and line of every byte of its bucket, as entries of equal
 *          width, so that none has to be decoded before another:
 *              u32: u24 line, u5 bits of a scope and u3 lower bits of those of a line in an entry
 *              2 x u64: bit N is set where the entry for byte N differs from that of the byte
 *              before
 *              entries: scope and line less those of the block; the first is for byte 0
 *          One entry for the whole bucket has no bits, and then the block is the u32.
 *          A scope is a slot number; 0: nothing is known here.
 * scopes   slots, one after the other without gaps between their bits.  Their fields are as wide
 *          as the largest value needs.  An inlined function:
 *              slots back to the function it was inlined into, line of the call, file, name
 *          A procedure, two slots:
 *              0; what it is known from (enum symbols_from), 4 bits, and above it in the field of
 *              the line the low bits of the compiland; file; name
 *              u32 start (in the symbols' address space; 0xffffffff: none), the other bits of the
 *              compiland
 *          Where a slot would need more than 57 bits, it has 64: u8 back, u16 line, u14 file, u26
 *          name; and where one of these does not fit, two: u8 255, u24 back, u32 name; u32 line,
 *          u32 file.  A procedure then has u8 0, u4 known from, u20 file, u32 name; u32 start, u32
 *          compiland.
 * files    u32 each: the file's string
 * strings  NUL-terminated; 0 is no string; in the order in which the slots first name them
 * omap     8 bytes each, as in the PDB
 * hints    u32 for every 32 slots: the largest name that the slots before them have. The names of
 *          a slot are near it unless an earlier function has them, too. A reader can load them
 *          before it knows the slots; its answers do not depend on hints. */
#ifndef SYMBOL_INDEX_LAYOUT_H
#define SYMBOL_INDEX_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "model/stack.h"

enum {
    INDEX_SLOT_BYTES = 8,
    INDEX_BUCKET_BYTES = 6,
    INDEX_GROUP_BYTES = 8,
    BUCKET_SHIFT = 7, /* as many bytes as a block has bits for */
    BUCKET_BYTES = 1 << BUCKET_SHIFT,
    GROUP_BUCKETS = 4,
    GROUP_CODE_BYTES = GROUP_BUCKETS * BUCKET_BYTES,
    INDEX_HEADER_BYTES = 256,
    INDEX_SECTIONS = 7,
    INDEX_SLACK_BYTES =
        1024, /* after the last section, so that no block, even a damaged one, ends past the file */
};

/* Of a block. */
enum {
    BLOCK_SCOPE_BITS = 30,
    BLOCK_LINE_BITS = 24,
    BLOCK_WIDTH_BITS = 5,
    BLOCK_LINE_WIDTH_LOW_BITS = 3, /* the others are in the bucket */
    BLOCK_CHANGES_AT = 4,
    BLOCK_ENTRIES_AT = 20,
};

/* Of a slot of 64 bits. */
enum {
    SLOT_PROCEDURE = 0,
    SLOT_WIDE = 255,
    SLOT_LINE_BITS = 16,
    SLOT_FILE_BITS = 14,
    SLOT_NAME_BITS = 26,
    SLOT_WIDE_BACK_BITS = 24,
    SLOT_PROCEDURE_FROM_BITS = 4,
    SLOT_PROCEDURE_FILE_BITS = 20,
};

/* How many bits the fields of a slot have. */
struct slot_widths {
    uint32_t back, line, file, name;
    uint32_t bits; /* all of them */
};

enum {
    SLOT_BITS_MAX = 64,
    SLOT_BITS_PACKED = 57, /* more could not be read with one load from any bit */
    SLOT_UNIT = 32,        /* so many slots end at a byte, whatever their width, and have a hint */
};

/* Whether the second slot of a procedure has room for its start, 32 bits, and for the bits of the
 * compiland that are not by the line. */
static inline bool slots_hold_procedures(const struct slot_widths *w)
{
    const uint32_t low = w->line - SLOT_PROCEDURE_FROM_BITS;
    return w->back + w->line + w->file + w->name >= 32 + (w->name > low ? w->name - low : 0);
}

#define INDEX_MAGIC "TWSTKIDX"

/* What a procedure of a damaged object file is known from, in place of SYMBOLS_PDB and
 * SYMBOLS_PDB_PUBLIC: its frames have NOTE_PDB_PART_DAMAGED. */
enum { INDEX_FROM_DAMAGED = 14, INDEX_FROM_DAMAGED_PUBLIC = 15 };

/* The same for jumps, whose frames have NOTE_LINK_JUMP: numbers of what is never in an index. */
enum { INDEX_FROM_JUMP = SYMBOLS_CSV, INDEX_FROM_JUMP_PUBLIC = SYMBOLS_JIT };

/* Start of code without a name: distances are 0. */
#define INDEX_NO_START UINT32_MAX

enum index_section {
    INDEX_GROUPS,
    INDEX_BLOB,
    INDEX_SCOPES,
    INDEX_FILES,
    INDEX_STRINGS,
    INDEX_OMAP,
    INDEX_HINTS,
};

/* Offsets of the header's fields. */
enum {
    HEADER_VERSION = 8,
    HEADER_NAMES = 12,
    HEADER_FILE_BYTES = 16,
    HEADER_FILE_TIME = 24,
    HEADER_GUID = 32,
    HEADER_AGE = 48,
    HEADER_BUCKET_BYTES = 52,
    HEADER_FIRST_RVA = 56,
    HEADER_BUCKETS = 60,
    HEADER_SECTIONS = 64, /* offset and bytes, 8 each */
    HEADER_COMPANIONS = 176,
    HEADER_IS_IMAGE = 184,
    HEADER_SLOT_WIDTHS = 188,
    HEADER_BODY_SUM = 240,
    HEADER_SUM = 248, /* of the 248 bytes before it */
};

static inline void store_u16(uint8_t *to, uint16_t value)
{
    to[0] = (uint8_t)value;
    to[1] = (uint8_t)(value >> 8);
}

static inline void store_u32(uint8_t *to, uint32_t value)
{
    store_u16(to, (uint16_t)value);
    store_u16(to + 2, (uint16_t)(value >> 16));
}

static inline void store_u64(uint8_t *to, uint64_t value)
{
    store_u32(to, (uint32_t)value);
    store_u32(to + 4, (uint32_t)(value >> 32));
}

/* A 64-bit checksum that detects torn writes and flipped bits. */
uint64_t index_sum(const void *data, uint64_t bytes);

/* The same over bytes in several pieces: start with all zeroes. */
struct index_summer {
    uint64_t lanes[4], bytes;
    uint8_t pending[32];
};
void index_sum_add(struct index_summer *summer, const void *data, uint64_t bytes);
uint64_t index_sum_end(struct index_summer *summer);

#endif
