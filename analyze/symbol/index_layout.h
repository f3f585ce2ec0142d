/* The layout of a symbol index file; only its writer and its reader include this.
 *
 *     OFFSET SIZE  header, all numbers little-endian
 *          0    8  "TWSTKIDX"
 *          8    4  version
 *         12    4  spelling of names (enum symbol_names)
 *         16    8  bytes of the PDB file
 *         24    8  its time of change, ns
 *         32   16  GUID
 *         48    4  DBI age
 *         52    4  bucket shift: a bucket holds 2^shift bytes of code
 *         56    4  first rva, a multiple of the bucket
 *         60    4  buckets
 *         64   48  six sections: offset and bytes, 8 + 8 for the blob of blocks
 *        ...       see struct index_header
 *
 * The address space is that of the symbols; images rearranged after linking carry their OMAP
 * table, and an rva goes through it first.
 *
 * buckets  u32 each, one more than there are: where the bucket's block starts in the blob.
 * blob     a block tells what holds from the bucket's first byte on, and each change in it:
 *              u32 scope, varint line, varint changes, then per change
 *              u8 offset in the bucket, zigzag varint scope delta, zigzag varint line delta
 *          A scope is a slot number; 0: nothing is known here.
 * scopes   12-byte slots.  An inlined function:
 *              u32 name, u16 slots back to the function it was inlined into, u24 file,
 *              u24 line of the call
 *          A procedure has two: u32 name, u16 0, u24 file, u24 enum symbols_from; and u32 start
 *          (in the symbols' address space; 0xffffffff: none), u32 compiland, u32 0.
 * files    u32 each: the file's string
 * strings  NUL-terminated; 0 is no string
 * omap     8 bytes each, as in the PDB */
#ifndef SYMBOL_INDEX_LAYOUT_H
#define SYMBOL_INDEX_LAYOUT_H

#include <stdint.h>

enum {
    INDEX_VERSION = 2,
    INDEX_SLOT_BYTES = 12,
    INDEX_HEADER_BYTES = 192,
    INDEX_SECTIONS = 6,
    INDEX_SLACK_BYTES = 64, /* behind the last section, so that decoding needs no end checks */
};

#define INDEX_MAGIC "TWSTKIDX"

/* Start of code without a name: distances are 0. */
#define INDEX_NO_START UINT32_MAX

enum index_section {
    INDEX_BUCKETS,
    INDEX_BLOB,
    INDEX_SCOPES,
    INDEX_FILES,
    INDEX_STRINGS,
    INDEX_OMAP,
};

/* Offsets of the header's fields. */
enum {
    HEADER_VERSION = 8,
    HEADER_NAMES = 12,
    HEADER_PDB_BYTES = 16,
    HEADER_PDB_TIME = 24,
    HEADER_GUID = 32,
    HEADER_AGE = 48,
    HEADER_SHIFT = 52,
    HEADER_FIRST_RVA = 56,
    HEADER_BUCKETS = 60,
    HEADER_SECTIONS = 64, /* offset and bytes, 8 each */
    HEADER_BODY_SUM = 176,
    HEADER_SUM = 184, /* of the 184 bytes before it */
};

/* A sum of 64 bits that notices what torn writes and flipped bits do. */
uint64_t index_sum(const void *data, uint64_t bytes);

#endif
