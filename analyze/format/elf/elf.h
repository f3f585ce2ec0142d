/* ELF images, objects and debug files, read from file bytes: sections (unpacked if necessary),
 * identity, links to debug files, symbols. 32 and 64 bits, both byte orders.
 *
 * All data is borrowed from the file's memory, which must outlive the struct, or is in the arena
 * KEEP passed to a function.
 *
 * Source: System V ABI, chapters 4 and 5, https://refspecs.linuxfoundation.org/elf/gabi4+/; notes
 * and links: https://sourceware.org/gdb/current/onlinedocs/gdb.html/Separate-Debug-Files.html. */
#ifndef FORMAT_ELF_H
#define FORMAT_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/object/object.h"

enum { ELF_BUILD_ID_BYTES = 65 }; /* lower-case hexadecimal and NUL: at most 32 bytes */

struct elf {
    const uint8_t *data; /* borrowed: the whole file */
    size_t bytes;
    bool is_64, big_endian;
    uint16_t type, machine;
    uint32_t section_count, names_section;
    uint64_t section_foff;
    uint32_t segment_count;
    uint64_t segment_foff;
    uint64_t base_va; /* lowest loaded address, rounded down to 4 KiB */
};

struct elf_section {
    const char *name; /* "" when there is none */
    uint32_t type, link;
    uint64_t flags, va, foff, bytes, align, entry_bytes;
    bool name_lost; /* the file's names of sections do not reach to this one's */
};

bool elf_recognize(const void *data, size_t bytes);

/* Fails: ERR_UNSUPPORTED not an ELF file; ERR_TRUNCATED; ERR_MALFORMED. */
enum status elf_open(const void *data, size_t bytes, struct elf *out, struct fault *fault);

/* The section of INDEX; false when there is none. */
bool elf_section(const struct elf *elf, uint32_t index, struct elf_section *out);

/* The section by its name; false when there is none. */
bool elf_section_named(const struct elf *elf, const char *name, struct elf_section *out);

/* The bytes of a section, unpacked.  A section without bytes in the file is ERR_ABSENT.
 * Fails: ERR_TRUNCATED, ERR_MALFORMED, ERR_UNSUPPORTED (packing), ERR_LIMIT, ERR_MEMORY. */
enum status elf_section_bytes(const struct elf *elf, const struct elf_section *section,
                              struct arena *keep, struct byte_view *out, struct fault *fault);

/* False when the file states no build id. */
bool elf_build_id(const struct elf *elf, char out[ELF_BUILD_ID_BYTES]);

/* .gnu_debuglink: the name of the debug file and the CRC of its bytes.  False: there is none. */
bool elf_debug_link(const struct elf *elf, const char **name, uint32_t *crc);

/* .debug_sup or .gnu_debugaltlink: the name and the build id of the file that dwz moved data to.
 * False: there is none. */
bool elf_alternate_link(const struct elf *elf, const char **name,
                        char build_id[ELF_BUILD_ID_BYTES]);

/* The image in .gnu_debugdata (xz), which has a symbol table; it lives in KEEP.
 * Fails: ERR_ABSENT, and as object_unpack(). */
enum status elf_mini_image(const struct elf *elf, struct arena *keep, struct byte_view *out,
                           struct fault *fault);

/* False when elf_add_symbols() will state damage. */
bool elf_symbols_are_whole(const struct elf *elf, struct arena *keep);

/* Adds the functions of .symtab and .dynsym. A damaged table ends at the damage. Fails: ERR_MEMORY,
 * ERR_LIMIT. */
enum status elf_add_symbols(const struct elf *elf, struct arena *keep, struct object_symbols *out,
                            struct fault *fault);

/* The .eh_frame that the loader finds, and where it is loaded: of a file without sections. False:
 * there is none. */
bool elf_loaded_frames(const struct elf *elf, uint64_t *va, struct byte_view *out);

/* Finds the sections of debug information and the ranges of code. True when there is a .debug_info
 * or a .debug_info.dwo. A section that cannot be unpacked is treated as absent, and *fault says
 * why. */
bool elf_debug(const struct elf *elf, struct arena *keep, struct object_debug *out,
               struct fault *fault);

/* The checksum of .gnu_debuglink. */
uint32_t elf_debug_link_crc(const void *data, size_t bytes);

#endif
