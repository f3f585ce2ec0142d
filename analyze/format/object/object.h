/* The common result of the container readers (PE, ELF, Mach-O) for an image or its debug file:
 * sections of debug information, ranges of code, and symbols.
 *
 * Memory is borrowed from the file, or is in the arena passed to the reader (unpacked or relocated
 * sections). */
#ifndef FORMAT_OBJECT_H
#define FORMAT_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/fault.h"
#include "base/files.h"
#include "base/view.h"

/* The sections of DWARF that are read. */
enum debug_section {
    DEBUG_INFO,
    DEBUG_ABBREV,
    DEBUG_LINE,
    DEBUG_STR,
    DEBUG_LINE_STR,
    DEBUG_STR_OFFSETS,
    DEBUG_ADDR,
    DEBUG_RANGES,
    DEBUG_RNGLISTS,
    DEBUG_ARANGES,
    DEBUG_UNIT_INDEX, /* .debug_cu_index of a package of split DWARF */
    DEBUG_SECTIONS,
};

struct object_range {
    uint64_t start_va, end_va;
};

struct object_debug {
    struct byte_view own[DEBUG_SECTIONS];
    struct byte_view split[DEBUG_SECTIONS]; /* those whose names end with ".dwo" */
    uint64_t base_va;                       /* the address that offset 0 belongs to */
    const struct object_range *code;        /* sorted; where code can be */
    uint32_t code_count;
    const struct file_peek *peek; /* borrowed while DWARF is opened; NULL: none */
    uint8_t address_bytes;
    bool big_endian;
};

/* A number of BYTES bytes (at most 8) in memory that is known to be long enough. */
static inline uint64_t load_number(const uint8_t *at, uint32_t bytes, bool big_endian)
{
    uint64_t value = 0;

    if (!big_endian && bytes == 4)
        return load_u32(at);
    if (!big_endian && bytes == 8)
        return load_u64(at);
    for (uint32_t i = 0; i < bytes; i++)
        value = value << 8 | at[big_endian ? i : bytes - 1 - i];
    return value;
}

/* Where the section of that name belongs in DEBUG: ".debug_info", ".zdebug_info", "__debug_info",
 * ".debug_info.dwo". NULL: not a section that is read. */
struct byte_view *object_debug_slot(struct object_debug *debug, const char *name);

/* True when VA lies in code. */
bool object_is_code(const struct object_debug *debug, uint64_t va);

struct object_symbol {
    uint64_t offset; /* from the image's base: 32 bits; the first member, for the sort */
    uint32_t bytes;  /* 0: the container does not state its size */
    bool global;
    const char *name;
};

struct object_symbols { /* sorted by offset, one for each */
    struct object_symbol *at;
    uint32_t count, room;
    bool damaged; /* the container has more, unreadable ones */
};

/* Appends one, in memory of KEEP.  Fails: ERR_MEMORY, ERR_LIMIT. */
enum status object_symbol_add(struct object_symbols *symbols, struct arena *keep,
                              struct object_symbol symbol, struct fault *fault);

/* Sorts; of several at one offset it keeps the largest, then a global one, then the first. */
void object_symbols_sort(struct object_symbols *symbols);

/* The last symbol that starts at or before OFFSET; NULL: none. */
const struct object_symbol *object_symbol_before(const struct object_symbols *symbols,
                                                 uint64_t offset);

enum object_packing { PACKED_ZLIB, PACKED_DEFLATE, PACKED_ZSTD, PACKED_XZ };

/* Unpacks DATA into KEEP. BYTES is the size that the container states; for PACKED_XZ pass 0,
 * because the stream's own index states it. Fails: ERR_MALFORMED, ERR_LIMIT, ERR_MEMORY. */
enum status object_unpack(enum object_packing packing, struct byte_view data, uint64_t bytes,
                          struct arena *keep, struct byte_view *out, struct fault *fault);

#endif
